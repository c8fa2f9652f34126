import { expect } from 'vitest';
import { recordLead } from '../../src/contacts/record-lead.ts';
import { DatabaseError, databaseState } from '../../src/db/errors.ts';
import { createBreaker } from '../../src/leads/breaker.ts';
import { leadCreatedEnvelopeSchema } from '../../src/leads/lead-created.ts';
import { findUnpublished, markPublished } from '../../src/leads/ledger.ts';
import { outboxAgeMs, republishOutbox } from '../../src/leads/outbox.ts';
import { type MailRecord, type PersistedMail, persistLeadPipeline } from '../../src/leads/persist.ts';
import { publishLeadCreated } from '../../src/leads/publish.ts';
import { createStoreDirectory } from '../../src/leads/store-directory.ts';
import { takeMail } from '../../src/leads/take-mail.ts';
import { runTick } from '../../src/leads/tick.ts';
import type { ParsedMail } from '../../src/mail/parsed-mail.ts';
import { processMessages } from '../../src/neon-retry-processor.ts';
import type { BusEvent } from '../../src/platform/events.ts';
import type { StateTable } from '../../src/platform/state-table.ts';
import type { TestDatabase } from '../support/database.ts';
import { FakeClock, recordingLog, recordingMeter } from '../support/fakes.ts';
import { riversideStore } from '../support/leads.ts';
import { MemoryMailbox } from '../support/memory-mailbox.ts';
import { type CrashPoint, MortalProcess } from './crash.ts';
import { SimulatedQueue } from './simulated-queue.ts';

const tickIntervalMs = 5 * 60_000;
const hours = { timeZone: 'America/New_York', quietHours: { start: '21:00', end: '08:00' } };

/**
 * The lead flow on simulated time: real code, real database, a mailbox and a queue that outlive the processes,
 * and processes that can die at any call they make. A mail's source is its ParsedMail as JSON.
 */
export class LeadWorld {
  /** Starts now, since the database stamps `recorded_at` with its own clock; from there it is simulated. */
  readonly clock = new FakeClock(new Date().toISOString());
  readonly mailbox = new MemoryMailbox();
  readonly events: BusEvent[] = [];
  readonly retryQueue = new SimulatedQueue(this.clock, 120);
  readonly #database: TestDatabase;
  readonly #state: StateTable;
  #ticks = 0;
  #delivered = 0;
  neonIsDown = false;
  busIsDown = false;
  /** A fault put into the code on purpose, to see that the checks below would find it. */
  mutation: 'mark-before-publish' | undefined;

  constructor(database: TestDatabase, state: StateTable) {
    this.#database = database;
    this.#state = state;
  }

  addMail(parsed: ParsedMail): void {
    this.mailbox.add(JSON.stringify(parsed), { receivedAt: this.clock.now() });
  }

  /** Everything outside the process, as this process reaches it. */
  #outside(process: MortalProcess) {
    const log = recordingLog();
    const meter = recordingMeter();
    const { db } = this.#database;
    const neon = process.wrap({
      persist: (record: MailRecord) => this.#neon(() => persistLeadPipeline(db, record)),
      mark: (mailKey: string) => this.#neon(() => markPublished(db, mailKey, this.clock.now())),
      findUnpublished: (query: Parameters<typeof findUnpublished>[1]) =>
        this.#neon(() => findUnpublished(db, query)),
    });
    const bus = process.wrap({
      publish: async (event: BusEvent) => {
        if (this.busIsDown) throw new Error('bus down');
        this.events.push(event);
      },
    });
    const state = process.wrap(this.#state);
    const storing = {
      breaker: createBreaker(state, this.clock, log),
      persist: neon.persist,
      publish: async (persisted: PersistedMail) => {
        if (this.mutation === 'mark-before-publish') await neon.mark(persisted.mail.mailKey);
        return publishLeadCreated({ bus, stage: 'prod', log, meter }, persisted);
      },
      markPublished: neon.mark,
      databaseState,
      log,
      meter,
    };
    const queue = process.wrap({
      send: this.retryQueue.send.bind(this.retryQueue),
      changeVisibility: this.retryQueue.changeVisibility.bind(this.retryQueue),
    });
    return { log, meter, neon, state, storing, queue };
  }

  async #neon<T>(work: () => Promise<T>): Promise<T> {
    if (this.neonIsDown) throw new DatabaseError({ kind: 'infrastructure', retry: 'never' }, 'unreachable');
    return work();
  }

  /** One poller invocation; five minutes pass. Answers how many calls to the outside it made. */
  async tick(point?: CrashPoint): Promise<number> {
    this.#ticks += 1;
    const process = new MortalProcess(point);
    const { log, meter, neon, state, storing, queue } = this.#outside(process);
    const taking = {
      ...storing,
      directory: createStoreDirectory(async () => [riversideStore], this.clock, log),
      retryQueue: queue,
      clock: this.clock,
    };
    const remainingMs = () => 240_000;
    await process.run(() =>
      runTick(
        {
          state,
          openMailbox: async () => process.wrap(this.mailbox),
          invocationId: `tick-${this.#ticks}`,
          parse: async (source) => JSON.parse(source.toString()) as ParsedMail,
          quarantine: () => {
            throw new Error('nothing in this world is quarantined by its envelope');
          },
          take: (parsed, position) => takeMail(taking, parsed, position),
          housekeeping: async () => {
            const outbox = { ...storing, findUnpublished: neon.findUnpublished, remainingMs };
            await republishOutbox(outbox, this.clock.now());
          },
          remainingMs,
          clock: this.clock,
          log,
          meter,
        },
        ['INBOX'],
      ),
    );
    this.clock.advance(tickIntervalMs);
    return process.calls;
  }

  /** One invocation of the retry processor over what is due. A process that died deletes nothing. */
  async retry(point?: CrashPoint): Promise<number> {
    const event = this.retryQueue.receive(5);
    if (event.Records.length === 0) return 0;
    const process = new MortalProcess(point);
    const { storing, queue } = this.#outside(process);
    const answer = await process.run(() => processMessages({ ...storing, queue }, event));
    if (answer !== 'died') {
      const kept = new Set(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      for (const { messageId } of event.Records) if (!kept.has(messageId)) this.retryQueue.delete(messageId);
    }
    return process.calls;
  }

  /** Hands every event to the lead processor's core, twice: SQS may. */
  async deliver(): Promise<void> {
    for (const { source, detailType, detail } of this.events.slice(this.#delivered)) {
      const envelope = JSON.parse(JSON.stringify({ source, 'detail-type': detailType, detail }));
      const lead = leadCreatedEnvelopeSchema.parse(envelope).detail;
      for (let delivery = 0; delivery < 2; delivery += 1) {
        await recordLead(this.#database.db, lead, this.clock.now(), hours);
      }
    }
    this.#delivered = this.events.length;
  }

  /** Ticks and retries until nothing is left to do, at most two hours of simulated time. */
  async settle(): Promise<void> {
    for (let tick = 0; tick < 24; tick += 1) {
      await this.tick();
      await this.retry();
      if (this.mailbox.mails.every(({ seen }) => seen) && this.retryQueue.size === 0) break;
    }
    // Old enough for the outbox.
    this.clock.advance(outboxAgeMs);
    await this.tick();
    await this.deliver();
  }

  /** What every run must end in: nothing lost, nothing doubled. */
  async expectOneOfEach(people: number): Promise<void> {
    const count = async (text: string) => (await this.#database.query(text))[0]?.count;
    expect(await count('select count(*)::int from leads')).toBe(people);
    expect(await count('select count(*)::int from tasks')).toBe(people);
    expect(await count("select count(*)::int from contact_timeline where event_type = 'lead.created'")).toBe(
      people,
    );
    expect(await count('select count(*)::int from lead_mails where published_at is null')).toBe(0);
    expect(this.mailbox.mails.every(({ seen }) => seen)).toBe(true);
    expect(this.retryQueue.deadLetters).toEqual([]);
  }
}
