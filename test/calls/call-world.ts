import type { SQSRecord } from 'aws-lambda';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../local/ringcentral/simulator.ts';
import type { JournalEntry } from '../../local/ringcentral/surfaces.ts';
import type { SimulatedCall, TelephonyEvent } from '../../local/ringcentral/world.ts';
import { receiveWebhook } from '../../src/calls/receive-webhook.ts';
import { runSweep } from '../../src/calls/sweep/sweep.ts';
import { checkOpenTranscriptions } from '../../src/calls/transcription.ts';
import type { Database } from '../../src/db/client.ts';
import { retryTransient } from '../../src/db/retry.ts';
import type { StageDatabase } from '../../src/db/stage-database.ts';
import { createStoreDirectory } from '../../src/leads/store-directory.ts';
import type { LogEvent } from '../../src/platform/log-events.ts';
import type { Log, LogFields } from '../../src/platform/logger.ts';
import type { ReportCapacity } from '../../src/ringcentral/capacity-metrics.ts';
import { createRingCentral } from '../../src/ringcentral/ringcentral.ts';
import { processMessages, type TranscribeProcessor } from '../../src/transcribe-processor.ts';
import {
  activeSubscriptions,
  callStores,
  lakeside,
  riverside,
  simulatedAccounts,
  webhookSecret,
  webhookUrl,
} from '../simulation/call-accounts.ts';
import { MemoryObjects, MemoryTranscriber } from '../simulation/call-ports.ts';
import { CallProcess } from '../simulation/call-process.ts';
import { CallQueue } from '../simulation/call-queue.ts';
import { callStateTable } from '../simulation/call-state-table.ts';
import { Timetable } from '../simulation/call-timetable.ts';
import type { CrashPoint } from '../simulation/crash.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { FakeClock, recordingMeter } from '../support/fakes.ts';
import { aRequest } from './webhooks.ts';

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
  /** Gets every line as well. */
  log?: Log;
  reportCapacity?: ReportCapacity;
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
  readonly database: TestDatabase;
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
  #inFlight = 0;

  constructor(clock: FakeClock, simulator: Simulator, database: TestDatabase, options: WorldOptions) {
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

  /** What a container is made of; dies with `process`. */
  container(process: CallProcess) {
    const { clock, log, meter, database } = this;
    const accounts = simulatedAccounts(this.simulator.url);
    const state = process.wrap(this.state);
    const { reportCapacity = () => {} } = this.#options;
    const ringCentral = createRingCentral({ accounts, state, clock, log, meter, reportCapacity });
    const db = mortalDatabase(process, database.db);
    const patience = () => ({ deadline: new Date(Date.now() + 30_000) });
    const neon: StageDatabase = { run: (work) => retryTransient(() => work(db), patience()) };
    return {
      stage: 'test',
      neon: process.wrap(neon),
      accounts,
      stores: createStoreDirectory(async () => callStores, clock, log),
      state,
      queue: process.wrap({
        send: this.queue.send.bind(this.queue),
        changeVisibility: this.queue.changeVisibility.bind(this.queue),
      }),
      objects: process.wrap(this.objects),
      transcriber: process.wrap(this.transcriber),
      callLog: process.wrap(ringCentral.callLog),
      media: process.wrap(ringCentral.media),
      gate: ringCentral.gate,
      clock,
      log,
      meter,
      random: this.#options.random ?? (() => 0.5),
    } satisfies TranscribeProcessor & Record<string, unknown>;
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
      this.timetable.add(this.now() + invocationMs, end, { endless: true });
      await this.#invoke(record);
    }
  }

  async #invoke(record: SQSRecord): Promise<void> {
    const process = new CallProcess(this.#options.crashAt?.(this.invocations.length + 1));
    this.invocations.push(process);
    const deadline = new Date(this.now() + deadlineMs);
    const container = this.container(process);
    const answer = await process.run(() => processMessages(container, { Records: [record] }, deadline));
    if (answer !== 'died' && answer.batchItemFailures.length === 0) this.queue.delete(record.messageId);
  }

  /** From the next full minute on, each minute. */
  startSweep(): void {
    const next = Math.floor(this.now() / minuteMs + 1) * minuteMs;
    const sweep = async () => {
      this.timetable.add(this.now() + minuteMs, sweep, { endless: true });
      await this.#sweep();
    };
    this.timetable.add(next, sweep, { endless: true });
  }

  async #sweep(): Promise<void> {
    const process = new CallProcess(this.#options.crashSweepAt?.(this.sweeps.length + 1));
    this.sweeps.push(process);
    const container = this.container(process);
    const deadline = new Date(this.now() + deadlineMs);
    const deps = {
      ...container,
      subscriptions: activeSubscriptions,
      webhookUrl,
      checkTranscriptions: (accountId: string, until: Date) =>
        checkOpenTranscriptions(container, { accountId, limit: 50 }, until),
    };
    await process.run(() => runSweep(deps, [riverside.accountId, lakeside.accountId], deadline));
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
    await this.timetable.run(this.now() + minutes * 60_000, () => this.#isQuiet());
  }

  async #isQuiet(): Promise<boolean> {
    if (this.timetable.hasWork || this.queue.size > 0) return false;
    const [open] = await this.database.query(
      `select 1 from calls where next_attempt_at is not null or voicemail_status = 'pending'
       or recording_status in ('pending', 'expected', 'available') limit 1`,
    );
    return open === undefined;
  }
}

/** Each batch counts as a call to the outside. */
function mortalDatabase(process: CallProcess, db: Database): Database {
  const mortal = process.wrap({ batch: db.batch.bind(db) });
  return new Proxy(db, { get: (target, key) => Reflect.get(key === 'batch' ? mortal : target, key) });
}

const worlds: CallWorld[] = [];

export async function startCallWorld(options: WorldOptions = {}): Promise<CallWorld> {
  const clock = new FakeClock('2026-03-04T15:00:00.000Z');
  const simulator = await startSimulator({ accounts: [riverside, lakeside], clock, ...options });
  const world = new CallWorld(clock, simulator, await freshDatabase(), options);
  worlds.push(world);
  return world;
}

/** For `afterEach`. */
export async function stopCallWorlds(): Promise<void> {
  await Promise.all(worlds.splice(0).map(({ simulator }) => simulator.stop()));
}
