import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleHandlers } from '../lib/bundle.ts';
import { synthesizeStage } from '../lib/synthesize.ts';
import type { Store } from '../src/leads/store.ts';
import { readStacks } from './assembly/template.ts';
import { createDatabases, type Databases } from './databases.ts';
import { type FedMail, feedFiles } from './feed.ts';
import { type LocalMailbox, startMailbox } from './imap.ts';
import type { Journal } from './journal.ts';
import { outsideOf, storeTables } from './outside.ts';
import type { PostgresServer } from './postgres.ts';
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
 * Starts databases and mailbox, synthesizes the stage as for a deployment and deploys it here. Whatever was
 * started is stopped again when a later part fails.
 *
 * @param starting PostgreSQL, on its way: its own processes work while this one synthesizes
 */
export async function startRun(
  stageName: string,
  stores: readonly Store[],
  journal: Journal,
  starting: Promise<PostgresServer>,
): Promise<Run> {
  const cleanups: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  };
  try {
    cleanups.push(() =>
      starting.then(
        (server) => server.stop(),
        () => undefined,
      ),
    );
    const directory = await mkdtemp(join(tmpdir(), 'callytics-run-'));
    cleanups.push(() => rm(directory, { recursive: true, force: true }));

    const assembly = synthesize(stageName, directory);
    const mailbox = await startMailbox();
    cleanups.push(mailbox.close);
    const databases = await createDatabases(await starting);
    cleanups.push(databases.close);
    const stage = await startStage(readStacks(assembly), outsideOf(databases, mailbox), journal);
    cleanups.push(stage.close);

    await putStores(stage, stores);
    return assemble({ stage, mailbox, databases, directory, stores, journal, close });
  } catch (error) {
    await close();
    throw error;
  }
}

/** Templates and bundles as for a deployment, in a folder of this run. */
function synthesize(stageName: string, directory: string): string {
  const { directories } = bundleHandlers(join(directory, 'dist'));
  return synthesizeStage(stageName, join(directory, 'cdk.out'), directories);
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
