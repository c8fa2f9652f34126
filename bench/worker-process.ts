import { simpleParser } from 'mailparser';
import { openImapMailbox } from '../src/mail/imap-mailbox.ts';
import type { ImapSettings } from '../src/mail/mailbox.ts';
import { parseMail } from '../src/mail/parse.ts';
import { createEventBus } from '../src/platform/events.ts';
import { createLog } from '../src/platform/logger.ts';
import { createMeter } from '../src/platform/metrics.ts';
import { withInbox } from './inbox.ts';
import { createTick } from './poller.ts';

/**
 * What a worker can be asked for.
 *
 * `libraries` — imapflow and mailparser alone, one FETCH for each mail as the poller does it, or one for all.
 * `reading` — our mailbox and parser, nothing stored.
 * `tick` — the poller's tick.
 */
export type Job =
  | { kind: 'libraries'; fetch: 'each' | 'all'; uids: readonly number[] }
  | { kind: 'reading'; uids: readonly number[] }
  | { kind: 'tick' };

export interface WorkerPlan {
  settings: ImapSettings;
  neonUrl: string;
  stateTable: string;
}

export interface Measurement {
  /** Connection and login included. */
  wallMs: number;
  cpuMs: number;
  /** The most that the process ever held in memory. */
  peakMegabytes: number;
}

/** What a worker answers to a job. */
export type Answer = { done: Measurement } | { failed: string };

function createJobs({ settings, ...plan }: WorkerPlan): (job: Job) => Promise<void> {
  const queue = {
    send: () => Promise.reject(new Error('a mail could not be stored')),
    changeVisibility: async () => {},
  };
  const [log, meter, bus] = [createLog(), createMeter(), createEventBus('bench')];
  const tick = createTick({ settings, ...plan, queue, log, meter, bus });

  return (job) => {
    switch (job.kind) {
      case 'libraries':
        return (job.fetch === 'each' ? librariesOneByOne : librariesAtOnce)(settings, job.uids);
      case 'reading':
        return reading(settings, job.uids);
      case 'tick':
        return tick();
    }
  };
}

async function librariesOneByOne(settings: ImapSettings, uids: readonly number[]): Promise<void> {
  await withInbox(settings, async (client) => {
    for (const uid of uids) {
      const row = (await client.fetchOne(String(uid), { source: true }, { uid: true })) || missing(uid);
      await simpleParser(row.source ?? missing(uid));
    }
  });
}

async function librariesAtOnce(settings: ImapSettings, uids: readonly number[]): Promise<void> {
  await withInbox(settings, async (client) => {
    for await (const { uid, source } of client.fetch([...uids], { source: true }, { uid: true })) {
      await simpleParser(source ?? missing(uid));
    }
  });
}

async function reading(settings: ImapSettings, uids: readonly number[]): Promise<void> {
  const mailbox = await openImapMailbox(settings, 'INBOX');
  await mailbox.envelopes(uids);
  for (const uid of uids) await parseMail((await mailbox.fetch(uid))?.source ?? missing(uid));
  await mailbox.close();
}

function missing(uid: number): never {
  throw new Error(`the server has no mail with the UID ${uid}`);
}

async function measure(work: () => Promise<void>): Promise<Measurement> {
  const started = performance.now();
  const cpuBefore = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    wallMs: performance.now() - started,
    cpuMs: (user + system) / 1000,
    peakMegabytes: process.resourceUsage().maxRSS / 1024,
  };
}

const jobs = createJobs(JSON.parse(process.argv[2] ?? ''));
const answer = (one: Answer) => process.send?.(one);
process.on('message', (job: Job) => {
  measure(() => jobs(job)).then(
    (done) => answer({ done }),
    (error: unknown) => answer({ failed: String(error) }),
  );
});
