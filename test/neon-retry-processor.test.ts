import { beforeEach, describe, expect, it } from 'vitest';
import { DatabaseError, databaseState } from '../src/db/errors.ts';
import type { LeadMailRow, LeadRow } from '../src/db/schema/index.ts';
import { createStageDatabase } from '../src/db/stage-database.ts';
import { createBreaker } from '../src/leads/breaker.ts';
import { markPublished } from '../src/leads/ledger.ts';
import { type MailRecord, type PersistedMail, persistLeadPipeline } from '../src/leads/persist.ts';
import { publishLeadCreated } from '../src/leads/publish.ts';
import { buildRetryMessage } from '../src/leads/retry-message.ts';
import { handler, processMessages, type RetryProcessor } from '../src/neon-retry-processor.ts';
import { type BusEvent, EventRefusedError } from '../src/platform/events.ts';
import { freshDatabase, type TestDatabase } from './support/database.ts';
import { FakeClock, memoryStateTable, recordingLog, recordingMeter } from './support/fakes.ts';
import { aLead, aLedgerMail } from './support/leads.ts';
import { anSqsRecord, recordingQueue } from './support/sqs.ts';

const neonDown = new DatabaseError({ kind: 'infrastructure', retry: 'backoff' }, 'http_503');
const badData = new DatabaseError({ kind: 'data', retry: 'never' }, '22P02');

/** What Neon holds after it took a record. */
function stored({ mail, lead }: MailRecord, publishedAt: Date | null = null): PersistedMail {
  const row = { ...mail, leadId: lead?.id ?? null, repeat: false, publishedAt, recordedAt: mail.receivedAt };
  const leadRow = lead && { ...lead, lastMailAt: lead.receivedAt, syncedAt: lead.receivedAt };
  return { mail: row as LeadMailRow, lead: leadRow as LeadRow | null };
}

/** A processor whose outside works; every part can be replaced. */
function aProcessor(overrides: Partial<RetryProcessor> = {}) {
  const queue = recordingQueue();
  const log = recordingLog();
  const meter = recordingMeter();
  const events: BusEvent[] = [];
  const marked: string[] = [];
  const bus = { publish: async (event: BusEvent) => void events.push(event) };
  const processor: RetryProcessor = {
    queue,
    breaker: createBreaker(memoryStateTable(), new FakeClock(), log),
    persist: async (record) => stored(record),
    publish: (persisted) => publishLeadCreated({ bus, stage: 'prod', log, meter }, persisted),
    markPublished: async (mailKey) => void marked.push(mailKey),
    databaseState,
    log,
    meter,
    ...overrides,
  };
  return { processor, queue, log, meter, events, marked };
}

const keyOf = (number: number) => number.toString(16).padStart(64, '0');

/** The message of the `number`-th mail. */
function aRecord(
  number = 1,
  { receiveCount = 1, ...change }: { receiveCount?: number } & Partial<MailRecord> = {},
) {
  const mail = aLedgerMail({ mailKey: keyOf(number), uid: number });
  const message = buildRetryMessage({
    stage: 'neon',
    failedAt: new Date('2026-11-03T14:20:00.000Z'),
    error: '53300',
    lead: aLead({ id: `lead-${number}` }),
    mail,
    ...change,
  });
  return anSqsRecord({ body: message, receiveCount, messageId: `message-${number}` });
}

const failed = (...numbers: number[]) => ({
  batchItemFailures: numbers.map((number) => ({ itemIdentifier: `message-${number}` })),
});

describe('a batch', () => {
  it('stores each mail, publishes its event and notes that', async () => {
    const { processor, events, marked, queue, meter, log } = aProcessor();
    expect(await processMessages(processor, { Records: [aRecord(1), aRecord(2)] })).toEqual(failed());
    expect(events.map(({ source, detailType }) => [source, detailType])).toEqual([
      ['lead-tracking', 'LeadCreated'],
      ['lead-tracking', 'LeadCreated'],
    ]);
    expect(events[0]?.detail).toMatchObject({ id: 'lead-1', stage: 'prod', mailKey: keyOf(1) });
    expect(marked).toEqual([keyOf(1), keyOf(2)]);
    expect(queue.visibility).toEqual([]);
    expect(meter.totals).toEqual({ RetryNeonFailed: 0, RetryEventBridgeFailed: 0, LeadPublished: 2 });
    expect(log.lines.filter(({ event }) => event === 'retry.succeeded').map(({ fields }) => fields)).toEqual([
      { message_id: 'message-1', receive_count: 1, mail_key: keyOf(1), publish: 'published' },
      { message_id: 'message-2', receive_count: 1, mail_key: keyOf(2), publish: 'published' },
    ]);
  });

  it('runs its records side by side', async () => {
    const Records = [aRecord(1), aRecord(2), aRecord(3), aRecord(4), aRecord(5)];
    let waiting = 0;
    let release = () => {};
    const all = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { processor } = aProcessor({
      persist: async (record) => {
        waiting += 1;
        if (waiting === Records.length) release();
        await all;
        return stored(record);
      },
    });
    expect(await processMessages(processor, { Records })).toEqual(failed());
  });

  it('keeps only the record that failed', async () => {
    const { processor, marked, queue } = aProcessor({
      persist: async (record) => {
        if (record.mail.mailKey === keyOf(2)) throw badData;
        return stored(record);
      },
    });
    const Records = [aRecord(1), aRecord(2), aRecord(3)];
    expect(await processMessages(processor, { Records })).toEqual(failed(2));
    expect(marked).toEqual([keyOf(1), keyOf(3)]);
    expect(queue.visibility).toEqual([['receipt of message-2', 600]]);
  });

  it('A7 keeps every record when all of them fail, whatever is thrown', async () => {
    const { processor } = aProcessor({ persist: () => Promise.reject('not even an Error') });
    const Records = [aRecord(1), aRecord(2), aRecord(3)];
    expect(await processMessages(processor, { Records })).toEqual(failed(1, 2, 3));
  });

  it('flushes its metrics, zeros included, on every way out', async () => {
    let flushed = 0;
    const flush = () => {
      flushed += 1;
    };
    const meter = { ...recordingMeter(), flush };
    const { processor } = aProcessor({ meter, persist: () => Promise.reject(neonDown) });
    await processMessages(processor, { Records: [aRecord()] });
    expect(flushed).toBe(1);
    expect(meter.totals).toEqual({ RetryNeonFailed: 1, RetryEventBridgeFailed: 0 });
  });
});

describe('stage neon', () => {
  it.each([
    [1, [['receipt of message-1', 600]]],
    [2, [['receipt of message-1', 3_600]]],
    [3, []],
  ])(
    'fails at receive %i: nothing is published, the message comes back later',
    async (receiveCount, visibility) => {
      const { processor, events, queue, log, meter } = aProcessor({
        persist: () => Promise.reject(neonDown),
      });
      expect(await processMessages(processor, { Records: [aRecord(1, { receiveCount })] })).toEqual(
        failed(1),
      );
      expect(events).toEqual([]);
      expect(queue.visibility).toEqual(visibility);
      expect(meter.totals.RetryNeonFailed).toBe(1);
      expect(log.lines).toEqual([
        {
          level: 'error',
          event: 'retry.stage_failed',
          fields: {
            message_id: 'message-1',
            receive_count: receiveCount,
            mail_key: keyOf(1),
            stage: 'neon',
            error_code: 'http_503',
          },
        },
      ]);
    },
  );

  it('a visibility change that fails leaves the message to its queue', async () => {
    const queue = { ...recordingQueue(), changeVisibility: () => Promise.reject(new Error('queue down')) };
    const { processor, log } = aProcessor({ queue, persist: () => Promise.reject(neonDown) });
    expect(await processMessages(processor, { Records: [aRecord()] })).toEqual(failed(1));
    expect(log.lines.map(({ event }) => event)).toEqual(['retry.stage_failed', 'message.visibility_failed']);
  });

  it('five failures in a row open the breaker; then no record tries, until one probe succeeds', async () => {
    const clock = new FakeClock();
    let attempts = 0;
    let down = true;
    const { processor, log, meter, queue, events } = aProcessor({
      breaker: createBreaker(memoryStateTable(), clock, recordingLog()),
      persist: async (record) => {
        attempts += 1;
        if (down) throw neonDown;
        return stored(record);
      },
    });
    const five = { Records: [1, 2, 3, 4, 5].map((number) => aRecord(number)) };
    expect(await processMessages(processor, five)).toEqual(failed(1, 2, 3, 4, 5));
    expect(attempts).toBe(5);

    expect(await processMessages(processor, { Records: [aRecord(6, { receiveCount: 2 })] })).toEqual(
      failed(6),
    );
    expect(attempts).toBe(5);
    expect(log.lines.at(-1)?.fields).toMatchObject({ stage: 'neon', error_code: 'breaker_open' });
    expect(queue.visibility.at(-1)).toEqual(['receipt of message-6', 3_600]);
    expect(meter.totals.BreakerOpen).toBeGreaterThan(0);

    down = false;
    clock.advance(15 * 60_000 + 1);
    expect(await processMessages(processor, { Records: [aRecord(7)] })).toEqual(failed());
    expect(await processMessages(processor, five)).toEqual(failed());
    expect(events).toHaveLength(6);
  });

  it('an error that the database itself answered opens no breaker', async () => {
    let attempts = 0;
    const { processor } = aProcessor({
      persist: () => {
        attempts += 1;
        return Promise.reject(badData);
      },
    });
    for (let number = 1; number <= 7; number += 1) {
      expect(await processMessages(processor, { Records: [aRecord(number)] })).toEqual(failed(number));
    }
    expect(attempts).toBe(7);
  });
});

describe('stage eventbridge', () => {
  it.each([
    ['a throw', Object.assign(new Error(), { name: 'TimeoutError' }), 'TimeoutError'],
    ['A16 a 200 with a failed entry', new EventRefusedError('ThrottlingException'), 'ThrottlingException'],
  ])('%s keeps the message, unmarked', async (_, error, code) => {
    const { processor, marked, queue, log, meter } = aProcessor({ publish: () => Promise.reject(error) });
    expect(await processMessages(processor, { Records: [aRecord()] })).toEqual(failed(1));
    expect(marked).toEqual([]);
    expect(queue.visibility).toEqual([['receipt of message-1', 600]]);
    expect(meter.totals).toEqual({ RetryNeonFailed: 0, RetryEventBridgeFailed: 1 });
    expect(log.lines.at(-1)).toMatchObject({
      event: 'retry.stage_failed',
      fields: { stage: 'eventbridge', error_code: code },
    });
  });

  it('does not count for the breaker of Neon', async () => {
    const { processor } = aProcessor({ publish: () => Promise.reject(new Error('bus down')) });
    for (let number = 1; number <= 7; number += 1) {
      await processMessages(processor, { Records: [aRecord(number)] });
    }
    expect(await processor.breaker.check()).toEqual({ allowed: true, probe: false });
  });

  it('skips a lead that lacks a guard field, with an info log, and is done with it', async () => {
    const { processor, events, marked, log } = aProcessor();
    const lead = aLead({ storeId: null, franchiseId: null });
    expect(await processMessages(processor, { Records: [aRecord(1, { lead })] })).toEqual(failed());
    expect(events).toEqual([]);
    expect(marked).toEqual([]);
    expect(log.lines).toContainEqual({
      level: 'info',
      event: '[EVENTBRIDGE] Skipping — missing required fields',
      fields: { mail_key: keyOf(1), missing_fields: ['franchiseId', 'storeId'] },
    });
  });

  it('does not publish again what is out already', async () => {
    const { processor, events } = aProcessor({
      persist: async (record) => stored(record, new Date('2026-11-03T14:21:00.000Z')),
    });
    expect(await processMessages(processor, { Records: [aRecord()] })).toEqual(failed());
    expect(events).toEqual([]);
  });

  it('an event that is out is done, even if that could not be noted', async () => {
    const { processor, events, log } = aProcessor({ markPublished: () => Promise.reject(neonDown) });
    expect(await processMessages(processor, { Records: [aRecord()] })).toEqual(failed());
    expect(events).toHaveLength(1);
    expect(log.lines).toContainEqual({
      level: 'warn',
      event: 'lead.publish_mark_failed',
      fields: { mail_key: keyOf(1), error_code: 'http_503' },
    });
  });
});

describe('a message that is none', () => {
  it('fails at once, names the field and no value, and disturbs no other record', async () => {
    const { processor, log, queue, marked } = aProcessor();
    const bad = aRecord(2);
    const wrong = { ...JSON.parse(bad.body), error: 'Key (email)=(ana@x.example) already exists.' };
    const Records = [aRecord(1), { ...bad, body: JSON.stringify(wrong) }];
    expect(await processMessages(processor, { Records })).toEqual(failed(2));
    expect(log.lines).toContainEqual({
      level: 'error',
      event: 'message.invalid',
      fields: { message_id: 'message-2', receive_count: 1, fields: ['error'] },
    });
    expect(JSON.stringify(log.lines)).not.toContain('ana@x.example');
    expect(marked).toEqual([keyOf(1)]);
    // Waiting mends nothing: it reaches the final DLQ in the queue's own time.
    expect(queue.visibility).toEqual([]);
  });
});

describe('with a database', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await freshDatabase();
  });

  const onDatabase = (url = database.url) => {
    const neon = createStageDatabase(
      { get: async () => url, refresh: async () => url },
      '/neon-database-url',
    );
    const soon = () => new Date(Date.now() + 6_000);
    return {
      persist: (record: MailRecord) => neon.run((db) => persistLeadPipeline(db, record), soon()),
      markPublished: (mailKey: string) =>
        neon.run((db) => markPublished(db, mailKey, new Date('2026-11-03T15:00:00.000Z')), soon()),
    };
  };

  it('publishes a mail once, however often its message is delivered', async () => {
    const { processor, events } = aProcessor(onDatabase());
    for (let receive = 1; receive <= 3; receive += 1) {
      expect(await processMessages(processor, { Records: [aRecord()] })).toEqual(failed());
    }
    expect(events).toHaveLength(1);
    expect(await database.query('select lead_id, published_at from lead_mails')).toEqual([
      { lead_id: 'lead-1', published_at: new Date('2026-11-03T15:00:00.000Z') },
    ]);
  });

  it('publishes after a failed publish, from the row that is stored by now', async () => {
    const lost = aProcessor({ ...onDatabase(), publish: () => Promise.reject(new Error('bus down')) });
    expect(await processMessages(lost.processor, { Records: [aRecord()] })).toEqual(failed(1));
    const { processor, events } = aProcessor(onDatabase());
    expect(await processMessages(processor, { Records: [aRecord(1, { receiveCount: 2 })] })).toEqual(
      failed(),
    );
    expect(events).toHaveLength(1);
    expect(events[0]?.detail).toMatchObject({ id: 'lead-1', repeat: false, mailKey: keyOf(1) });
  });

  it('A29 a message redriven three days later brings its own event and overwrites nothing newer', async () => {
    const { processor, events } = aProcessor(onDatabase());
    const newer = new Date('2026-11-03T18:00:00.000Z');
    const newerMail = aLedgerMail({ mailKey: keyOf(2), uid: 2, receivedAt: newer });
    const newerLead = aLead({ id: 'lead-1', leadType: 'Online Intro', receivedAt: newer });
    await processMessages(processor, { Records: [aRecord(2, { mail: newerMail, lead: newerLead })] });

    expect(await processMessages(processor, { Records: [aRecord(1)] })).toEqual(failed());
    expect(await database.query('select lead_type from leads')).toEqual([{ lead_type: 'Online Intro' }]);
    expect(events[1]?.detail).toMatchObject({
      id: 'lead-1',
      repeat: true,
      mailKey: keyOf(1),
      mailReceivedAt: '2026-11-03T14:15:00.000Z',
    });
  });

  it('stores a mail without a lead and publishes nothing', async () => {
    const { processor, events } = aProcessor(onDatabase());
    const mail = aLedgerMail({ outcome: 'quarantined', reason: 'no_contact' });
    expect(await processMessages(processor, { Records: [aRecord(1, { mail, lead: null })] })).toEqual(
      failed(),
    );
    expect(events).toEqual([]);
    expect(await database.query('select outcome, reason from lead_mails')).toEqual([
      { outcome: 'quarantined', reason: 'no_contact' },
    ]);
  });

  it('five mails of one lead at once are five events, one of them the first', async () => {
    const { processor, events } = aProcessor(onDatabase());
    const Records = [1, 2, 3, 4, 5].map((number) => aRecord(number, { lead: aLead() }));
    expect(await processMessages(processor, { Records })).toEqual(failed());
    expect(
      events.map(({ detail }) => (detail as { repeat: boolean }).repeat).filter((repeat) => !repeat),
    ).toEqual([false]);
    expect(events).toHaveLength(5);
  });
});

describe('handler', () => {
  it('names the variables that its environment lacks', async () => {
    await expect(handler({ Records: [] })).rejects.toThrow(
      /neon-retry-processor: missing environment variables .*NEON_URL_PARAMETER.*NEON_WRITE_QUEUE_URL/,
    );
  });
});
