import type { Store } from '../src/leads/store.ts';
import { createDatabases, type Databases } from './databases.ts';
import { type FedMail, feedFiles } from './feed.ts';
import { type LocalMailbox, startMailbox } from './imap.ts';
import type { Journal } from './journal.ts';
import type { Launch } from './launch.ts';
import { outsideOf, storeTables } from './outside.ts';
import type { ReportNames } from './report.ts';
import { type Snapshot, takeSnapshot } from './snapshot.ts';
import { type LocalStage, startStage } from './stage.ts';

/** One stage, running on this machine with everything around it. */
export interface Run {
  stage: LocalStage;
  mailbox: LocalMailbox;
  names: ReportNames;
  /** A folder of this run, removed at its end. */
  directory: string;
  /** Mails put into the mailbox so far. */
  fed: FedMail[];
  feed(files: readonly string[]): void;
  snapshot(): Promise<Snapshot>;
  close(): Promise<void>;
}

/**
 * Deploys the launched stage with databases, mailbox and stores around it. Whatever was started is stopped
 * again when a later part fails.
 */
export async function startRun(launched: Launch, stores: readonly Store[], journal: Journal): Promise<Run> {
  const cleanups: (() => Promise<void>)[] = [launched.undo];
  const close = async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  };
  try {
    const mailbox = await startMailbox();
    cleanups.push(mailbox.close);
    const databases = await createDatabases(await launched.postgres);
    cleanups.push(databases.close);
    const stage = await startStage(await launched.stacks, outsideOf(databases, mailbox), journal);
    cleanups.push(stage.close);
    await putStores(stage, stores);
    const { directory } = launched;
    return assemble({ stage, mailbox, databases, directory, stores, journal, close });
  } catch (error) {
    await close();
    throw error;
  }
}

async function putStores({ plan, tables }: LocalStage, stores: readonly Store[]): Promise<void> {
  for (const table of storeTables(plan.functions)) {
    for (const store of stores) await tables.put(table, { ...store });
  }
}

interface Parts extends Pick<Run, 'stage' | 'mailbox' | 'directory' | 'close'> {
  databases: Databases;
  stores: readonly Store[];
  journal: Journal;
}

function assemble({ stage, mailbox, databases, directory, stores, journal, close }: Parts): Run {
  const fed: FedMail[] = [];
  return {
    stage,
    mailbox,
    directory,
    fed,
    close,
    names: reportNames(stage, stores),
    feed(files) {
      fed.push(...feedFiles(mailbox, files));
    },
    snapshot: () => takeSnapshot({ databases, stage, mailbox, journal, fed }),
  };
}

function reportNames({ plan }: LocalStage, stores: readonly Store[]): ReportNames {
  const zones = plan.functions.map(({ environment }) => environment.DEFAULT_TIME_ZONE);
  const fallback = zones.find(isTimeZone) ?? 'UTC';
  const find = (id: string | null) => stores.find(({ storeId }) => storeId.toLowerCase() === id);
  return {
    rules: plan.rules.flatMap(({ name, pattern }) => (pattern ? [name] : [])),
    nameOf: (id) => find(id)?.franchise ?? id ?? '',
    zoneOf(id) {
      const zone = find(id)?.timeZone;
      return isTimeZone(zone) ? zone : fallback;
    },
  };
}

function isTimeZone(name: unknown): name is string {
  try {
    return typeof name === 'string' && new Intl.DateTimeFormat('en-US', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
