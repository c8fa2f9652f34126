import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../src/leads/store.ts';
import type { RulePlan } from './assembly/rules.ts';
import type { CallFile } from './calls/call-files.ts';
import { openCalls } from './calls/open-calls.ts';
import { sampleCalls } from './calls/sample-calls.ts';
import { accountsOf, notificationsOf, startTelephony, type Telephony } from './calls/telephony.ts';
import { createDatabases, type Databases } from './databases.ts';
import { type FedMail, feedFiles } from './feed.ts';
import { type LocalMailbox, startMailbox } from './imap.ts';
import type { Journal } from './journal.ts';
import type { Launch } from './launch.ts';
import { outsideOf, storeTables } from './outside.ts';
import type { ReportNames } from './report.ts';
import type { Work } from './settle.ts';
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
  /** Posts the webhooks of these files; RingCentral knows their calls. */
  play(files: readonly CallFile[]): Promise<void>;
  playSamples(): Promise<void>;
  /** For `settle`. */
  work: Work;
  snapshot(): Promise<Snapshot>;
  close(): Promise<void>;
}

/** A minute of a queue's delay is a second here: nobody wants to watch a run for five minutes (ADR 19). */
const sixtieth = 1 / 60;

const betweenSamplesMs = 3_000;

interface RunSettings {
  /** Their accounts have parameters, besides the stage's own. */
  callFiles?: readonly CallFile[];
  /** What SQS's delays are multiplied with. */
  delayScale?: number;
}

/**
 * Deploys the launched stage with databases, mailbox, RingCentral and stores around it. Whatever was started is
 * stopped again when a later part fails.
 */
export async function startRun(
  launched: Launch,
  stores: readonly Store[],
  journal: Journal,
  { callFiles = [], delayScale = sixtieth }: RunSettings = {},
): Promise<Run> {
  const cleanups: (() => Promise<void>)[] = [launched.undo];
  const close = async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  };
  try {
    const mailbox = await startMailbox();
    cleanups.push(mailbox.close);
    const databases = await createDatabases(await launched.postgres);
    cleanups.push(databases.close);
    const telephony = await startTelephony(accountsOf(callFiles), journal);
    cleanups.push(telephony.close);
    const outside = outsideOf(databases, mailbox, telephony);
    const stage = await startStage(await launched.stacks, outside, journal, { delayScale });
    cleanups.push(stage.close);
    await putStores(stage, stores);
    const { directory } = launched;
    return assemble({ stage, mailbox, databases, telephony, directory, stores, journal, close });
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
  telephony: Telephony;
  stores: readonly Store[];
  journal: Journal;
}

function assemble({ stage, mailbox, databases, telephony, directory, stores, journal, close }: Parts): Run {
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
    async play(files) {
      const calls = files.flatMap((file) => file.calls);
      const notifications = files.flatMap((file) => file.notifications);
      await telephony.play(webhookOrigin(stage), calls, notifications);
    },
    async playSamples() {
      const calls = sampleCalls(telephony.watched(), stores, new Date());
      // Not all at once: whoever finds somebody else logging in to RingCentral is parked for half a minute.
      for (const some of [calls.slice(0, 1), calls.slice(1)]) {
        await telephony.play(webhookOrigin(stage), some, notificationsOf(some));
        await sleep(betweenSamplesMs);
      }
    },
    work: {
      unseen: () => mailbox.unseen(),
      openCalls: () => openCalls(databases.own, telephony.simulator.calls, Date.now()),
      isSweep: sweepRules(stage),
    },
    snapshot: () => takeSnapshot({ databases, stage, mailbox, journal, fed }),
  };
}

/** A stage has one HTTP API. */
function webhookOrigin({ webOrigins }: LocalStage): string {
  const [origin = ''] = webOrigins.values();
  return origin;
}

/** The schedule of the call sweep. */
function sweepRules({ plan }: LocalStage): (rule: RulePlan) => boolean {
  const sweeps = plan.functions.filter(
    ({ environment }) => environment.POWERTOOLS_SERVICE_NAME === 'call-sweep',
  );
  return ({ targets }) => targets.some((target) => sweeps.some(({ arn }) => arn === target.arn));
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
