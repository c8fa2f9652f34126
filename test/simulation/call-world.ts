import type { SQSRecord } from 'aws-lambda';
import type { Simulator, SimulatorOptions } from '../../local/ringcentral/simulator.ts';
import type { JournalEntry } from '../../local/ringcentral/surfaces.ts';
import type { SimulatedCall, TelephonyEvent } from '../../local/ringcentral/world.ts';
import { receiveWebhook } from '../../src/calls/receive-webhook.ts';
import { runSweep } from '../../src/calls/sweep/sweep.ts';
import { checkOpenTranscriptions } from '../../src/calls/transcription.ts';
import type { Database } from '../../src/db/client.ts';
import type { LogEvent } from '../../src/platform/log-events.ts';
import type { Log, LogFields } from '../../src/platform/logger.ts';
import type { ReportCapacity } from '../../src/ringcentral/capacity-metrics.ts';
import { processMessages } from '../../src/transcribe-processor.ts';
import { aRequest } from '../calls/webhooks.ts';
import { type FakeClock, recordingMeter } from '../support/fakes.ts';
import {
  activeSubscriptions,
  riverside,
  simulatedAccounts,
  webhookSecret,
  webhookUrl,
} from './call-accounts.ts';
import { callContainer } from './call-container.ts';
import { MemoryObjects, MemoryTranscriber } from './call-ports.ts';
import { CallProcess } from './call-process.ts';
import { CallQueue } from './call-queue.ts';
import { callStateTable } from './call-state-table.ts';
import { Timetable } from './call-timetable.ts';
import type { Turns } from './call-turns.ts';
import type { CrashPoint } from './crash.ts';

/** As the queue's event source has it, and what an invocation takes of simulated time. */
const maximumConcurrency = 5;
const invocationMs = 500;
/** The function's time-out without what its handler keeps back. */
const deadlineMs = 115_000;
const minuteMs = 60_000;

export interface WorldOptions
  extends Partial<Pick<SimulatorOptions, 'limits' | 'rateLimitHeaders' | 'tokenSeconds'>> {
  /** From 0 up to 1, for the spread of redrives; default always 0.5. */
  random?: () => number;
  /** Where an invocation dies, if it does; they are counted from 1. */
  crashAt?: (invocation: number) => CrashPoint | undefined;
  crashSweepAt?: (sweep: number) => CrashPoint | undefined;
  /** How far an invocation's clock is ahead. */
  skewMs?: (invocation: number) => number;
  /** Processes run at once, in turns that somebody else decides. */
  turns?: Turns;
  /** Gets every line as well. */
  log?: Log;
  reportCapacity?: ReportCapacity;
}

/** PostgreSQL behind Neon's protocol, and past it, to look. */
export interface WorldDatabase {
  db: Database;
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
}

export interface WorldLine {
  /** Epoch milliseconds of simulated time. */
  at: number;
  level: string;
  event: LogEvent;
  fields: LogFields;
}

/**
 * The call flow on simulated time: the real receiver and processor, RingCentral's simulator over HTTP and real
 * PostgreSQL; queue, bucket, Transcribe and state table in memory. One moment runs after the other, so that a run
 * is the same each time.
 */
export class CallWorld {
  readonly clock: FakeClock;
  readonly simulator: Simulator;
  readonly database: WorldDatabase;
  readonly timetable: Timetable;
  readonly queue: CallQueue;
  readonly state = callStateTable();
  readonly objects = new MemoryObjects();
  readonly transcriber: MemoryTranscriber;
  readonly lines: WorldLine[] = [];
  readonly meter = recordingMeter();
  /** Calls to the outside that each invocation made. */
  readonly invocations: CallProcess[] = [];
  readonly sweeps: CallProcess[] = [];
  readonly #options: WorldOptions;
  readonly #running: Promise<void>[] = [];
  #inFlight = 0;
  #isSweeping = false;

  constructor(clock: FakeClock, simulator: Simulator, database: WorldDatabase, options: WorldOptions) {
    this.clock = clock;
    this.simulator = simulator;
    this.database = database;
    this.#options = options;
    this.timetable = new Timetable(clock);
    const poll = () => this.#poll();
    // No work in itself: `settle` looks into the queue.
    const onVisible = (at: number) => this.timetable.add(at, poll, { endless: true });
    this.queue = new CallQueue({ clock, onVisible });
    this.transcriber = new MemoryTranscriber(clock, this.objects, {
      later: (at, run) => this.timetable.add(at, run),
      tell: (envelope) => this.queue.send(envelope),
    });
  }

  now(): number {
    return this.clock.now().getTime();
  }

  /** RingCentral has this call, and posts its events when they happen. */
  ring(call: SimulatedCall, events: readonly TelephonyEvent[] = call.events): void {
    this.simulator.calls.push(call);
    for (const event of events) {
      this.timetable.add(Date.parse(event.timestamp), async () => void (await this.post(event)));
    }
  }

  /** A webhook request; its answer's status. */
  async post(event: TelephonyEvent): Promise<number> {
    const { clock, queue, log, meter } = this;
    const request = aRequest({
      accountId: event.body.parties[0]?.accountId ?? '',
      headers: { 'verification-token': webhookSecret },
      body: event,
    });
    const receiver = { accounts: simulatedAccounts(this.simulator.url), queue, clock, log, meter };
    return Number((await receiveWebhook(receiver, request)).statusCode);
  }

  /** A container that dies with `process`. */
  container(process: CallProcess, skewMs = 0) {
    const { database, state, queue, objects, transcriber, log, meter } = this;
    const { turns, random = () => 0.5, reportCapacity = () => {} } = this.#options;
    const clock = skewMs === 0 ? this.clock : { now: () => new Date(this.now() + skewMs) };
    const accounts = simulatedAccounts(this.simulator.url);
    const outside = { database: database.db, accounts, state, queue, objects, transcriber };
    return callContainer({ ...outside, clock, log, meter, reportCapacity, random }, process, turns);
  }

  readonly log: Log = {
    debug: (...line) => this.#keep('debug', ...line),
    info: (...line) => this.#keep('info', ...line),
    warn: (...line) => this.#keep('warn', ...line),
    error: (...line) => this.#keep('error', ...line),
  };

  #keep(level: keyof Log, event: LogEvent, fields: LogFields = {}): void {
    this.lines.push({ at: this.now(), level, event, fields });
    this.#options.log?.[level](event, fields);
  }

  /** As the event source: as many messages as may be in work at once. */
  async #poll(): Promise<void> {
    while (this.#inFlight < maximumConcurrency) {
      const record = this.queue.receive();
      if (!record) return;
      this.#inFlight += 1;
      const end = () => {
        this.#inFlight -= 1;
        return this.#poll();
      };
      await this.#start(async () => {
        await this.#invoke(record);
        this.timetable.add(this.now() + invocationMs, end, { endless: true });
      });
    }
  }

  /** Done with at once, or in turns with others. */
  async #start(work: () => Promise<void>): Promise<void> {
    if (this.#options.turns) this.#running.push(work());
    else await work();
  }

  async #invoke(record: SQSRecord): Promise<void> {
    const { crashAt, skewMs } = this.#options;
    const number = this.invocations.length + 1;
    const process = new CallProcess(crashAt?.(number));
    this.invocations.push(process);
    const container = this.container(process, skewMs?.(number));
    const deadline = new Date(container.clock.now().getTime() + deadlineMs);
    const answer = await process.run(() => processMessages(container, { Records: [record] }, deadline));
    if (answer !== 'died' && answer.batchItemFailures.length === 0) this.queue.delete(record.messageId);
  }

  /** From the next full minute on, each minute, over these accounts. */
  startSweep(accountIds: readonly string[] = [riverside.accountId]): void {
    const next = Math.floor(this.now() / minuteMs + 1) * minuteMs;
    const sweep = async () => {
      this.timetable.add(this.now() + minuteMs, sweep, { endless: true });
      if (!this.#isSweeping) await this.#start(() => this.#sweep(accountIds));
    };
    this.timetable.add(next, sweep, { endless: true });
  }

  async #sweep(accountIds: readonly string[]): Promise<void> {
    // The handler's lease.
    this.#isSweeping = true;
    const process = new CallProcess(this.#options.crashSweepAt?.(this.sweeps.length + 1));
    this.sweeps.push(process);
    const container = this.container(process);
    const deps = {
      ...container,
      subscriptions: activeSubscriptions,
      webhookUrl,
      checkTranscriptions: (accountId: string, until: Date) =>
        checkOpenTranscriptions(container, { accountId, limit: 50 }, until),
    };
    const deadline = new Date(this.now() + deadlineMs);
    await process.run(() => runSweep(deps, accountIds, deadline));
    this.#isSweeping = false;
  }

  /** Fails with what processes that ran in turns failed with. */
  async ended(): Promise<void> {
    await Promise.all(this.#running.splice(0));
  }

  /** What RingCentral was asked for, oldest first. */
  requests(surface: RegExp = /./): JournalEntry[] {
    return this.simulator.journal.filter((entry) => surface.test(entry.surface));
  }

  /** What was logged under a name, oldest first. */
  logged(event: LogEvent): LogFields[] {
    return this.lines.filter((line) => line.event === event).map(({ fields }) => fields);
  }

  /** The sessions' rows, oldest first. */
  calls(): Promise<Record<string, unknown>[]> {
    return this.database.query('select * from calls order by started_at, telephony_session_id');
  }

  /** Runs on for so many minutes of simulated time. */
  async run(minutes: number): Promise<void> {
    await this.timetable.run(this.now() + minutes * 60_000);
  }

  /** Runs until nothing is left to do, at most for so many minutes. */
  async settle(minutes: number): Promise<void> {
    await this.timetable.run(this.now() + minutes * 60_000, () => this.isQuiet());
  }

  /** Whether nothing is left to do. */
  async isQuiet(): Promise<boolean> {
    if (this.timetable.hasWork || this.queue.size > 0) return false;
    const [open] = await this.database.query(
      `select 1 from calls where next_attempt_at is not null or voicemail_status = 'pending'
       or recording_status in ('pending', 'expected', 'available') limit 1`,
    );
    return open === undefined;
  }
}
