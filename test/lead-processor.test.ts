import type { Context } from 'aws-lambda';
import { beforeEach, describe, expect, it } from 'vitest';
import { createStageDatabase } from '../src/db/stage-database.ts';
import { handler, type LeadProcessor, processMessages } from '../src/lead-processor.ts';
import { buildLeadCreated } from '../src/leads/lead-created.ts';
import { persistLeadPipeline } from '../src/leads/persist.ts';
import type { Store } from '../src/leads/store.ts';
import { freshDatabase, type TestDatabase } from './support/database.ts';
import { FakeClock, recordingLog, recordingMeter } from './support/fakes.ts';
import { aLead, aLedgerMail, riversideStore } from './support/leads.ts';
import { anSqsRecord, recordingQueue } from './support/sqs.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await freshDatabase();
  database.endpoint.onRequest = undefined;
});

/** A processor on the test's database, a minute after the lead came in; every part can be replaced. */
function aProcessor(overrides: Partial<LeadProcessor> = {}) {
  const fakes = { queue: recordingQueue(), log: recordingLog(), meter: recordingMeter() };
  const processor: LeadProcessor = {
    ...fakes,
    neon: createStageDatabase(
      { get: async () => database.url, refresh: async () => database.url },
      '/neon-database-url',
    ),
    directory: { findById: async () => riversideStore },
    defaultHours: { timeZone: 'America/New_York', quietHours: { start: '21:00', end: '08:00' } },
    clock: new FakeClock('2026-11-03T14:16:00.000Z'),
    ...overrides,
  };
  return { ...fakes, processor };
}

/** The message that EventBridge makes of a stored mail's LeadCreated. */
async function leadCreatedMessage(lead = aLead(), mail = aLedgerMail()) {
  const persisted = await persistLeadPipeline(database.db, { lead, mail });
  if (!persisted.lead) throw new Error('no lead');
  const built = buildLeadCreated({ lead: persisted.lead, mail: persisted.mail }, 'prod');
  if ('missing' in built) throw new Error('not complete');
  return {
    version: '0',
    id: 'event-1',
    account: '000000000000',
    region: 'us-west-2',
    time: '2026-11-03T14:15:30Z',
    resources: [],
    source: 'lead-tracking',
    'detail-type': 'LeadCreated',
    detail: built.detail,
  };
}

function run(
  processor: LeadProcessor,
  record: ReturnType<typeof anSqsRecord>,
  deadline = new Date(Date.now() + 10_000),
) {
  return processMessages(processor, { Records: [record] }, deadline);
}

const tasks = () => database.query('select * from tasks order by source_lead_id');
const timeline = () => database.query('select * from contact_timeline order by occurred_at');

/** Lets `faults` happen to the first requests, and counts all of them. */
function onRequests(
  ...faults: NonNullable<ReturnType<NonNullable<TestDatabase['endpoint']['onRequest']>>>[]
) {
  const seen = { requests: 0 };
  database.endpoint.onRequest = () => {
    seen.requests += 1;
    return faults.shift();
  };
  return seen;
}

describe('a LeadCreated message', () => {
  it('makes contact, task and timeline of a LeadCreated, in one request to Neon', async () => {
    const body = await leadCreatedMessage();
    const { processor, log, meter, queue } = aProcessor();
    const seen = onRequests();
    await run(processor, anSqsRecord({ body }));
    expect(seen.requests).toBe(1);

    expect(await database.query('select phone, last_activity_at from contacts')).toEqual([
      { phone: '+12125550147', last_activity_at: new Date('2026-11-03T14:15:00.000Z') },
    ]);
    expect(await tasks()).toEqual([
      expect.objectContaining({ source_lead_id: aLead().id, due_at: new Date('2026-11-03T14:21:00.000Z') }),
    ]);
    expect(await timeline()).toEqual([expect.objectContaining({ event_type: 'lead.created' })]);
    expect(queue.visibility).toEqual([]);
    expect(meter.totals).toEqual({ LeadProcessed: 1 });
    expect(log.lines).toEqual([
      {
        level: 'info',
        event: 'lead.processed',
        fields: {
          message_id: 'message-1',
          receive_count: 1,
          mail_key: aLedgerMail().mailKey,
          store_id: riversideStore.storeId,
          repeat: false,
          task_created: true,
          timeline_rows: 1,
        },
      },
    ]);
  });

  it('A29 takes a redriven message, which has a new id and is days old', async () => {
    const body = await leadCreatedMessage();
    const { processor } = aProcessor();
    await run(processor, anSqsRecord({ body }));
    const [task] = await tasks();
    const later = aProcessor({ clock: new FakeClock('2026-11-06T14:16:00.000Z') });
    await run(later.processor, anSqsRecord({ body, messageId: 'message-2' }));
    expect(await tasks()).toEqual([task]);
    expect(await timeline()).toHaveLength(1);
    expect(await database.query('select last_activity_at from contacts')).toEqual([
      { last_activity_at: new Date('2026-11-03T14:15:00.000Z') },
    ]);
  });

  it('M61 a second mail of the same lead adds a repeat, in either order of events', async () => {
    const first = await leadCreatedMessage();
    const mailAgain = aLedgerMail({
      mailKey: 'b'.repeat(64),
      uid: 8,
      receivedAt: new Date('2026-11-03T21:00:00.000Z'),
    });
    const second = await leadCreatedMessage(aLead({ receivedAt: mailAgain.receivedAt }), mailAgain);
    expect(second.detail.repeat).toBe(true);

    const { processor } = aProcessor();
    for (const body of [second, first, second]) {
      await run(processor, anSqsRecord({ body }));
    }
    expect(await tasks()).toHaveLength(1);
    expect((await timeline()).map((row) => [row.event_type, row.occurred_at])).toEqual([
      ['lead.created', new Date('2026-11-03T14:15:00.000Z')],
      ['lead.repeated', new Date('2026-11-03T21:00:00.000Z')],
    ]);
  });

  describe("the store's hours", () => {
    const store = (settings: Partial<Store>) => ({
      directory: { findById: async () => ({ ...riversideStore, ...settings }) },
    });
    const dueAt = async (overrides: Partial<LeadProcessor>) => {
      const { processor, log, meter } = aProcessor(overrides);
      await run(processor, anSqsRecord({ body: await leadCreatedMessage() }));
      const [task] = await tasks();
      return { dueAt: task?.due_at, log, meter };
    };

    it('win over the defaults', async () => {
      // 06:16 in Los Angeles.
      const result = await dueAt(store({ timeZone: 'America/Los_Angeles', quietHours: '20:00-09:30' }));
      expect(result.dueAt).toEqual(new Date('2026-11-03T09:35:00-08:00'));
      expect(result.meter.totals.StoreInvalidSetting).toBeUndefined();
    });

    it('fall back where they are invalid, with a warning and a metric', async () => {
      const result = await dueAt(store({ timeZone: 'Pacific Standard', quietHours: '20:00-09:30' }));
      expect(result.dueAt).toEqual(new Date('2026-11-03T09:35:00-05:00'));
      expect(result.meter.totals).toEqual({ StoreInvalidSetting: 1, LeadProcessed: 1 });
      expect(result.log.lines[0]).toEqual({
        level: 'warn',
        event: 'stores.invalid_setting',
        fields: { store_id: riversideStore.storeId, fields: ['timeZone'] },
      });
    });

    it('are the defaults for a store that is not listed', async () => {
      const result = await dueAt({ directory: { findById: async () => undefined } });
      expect(result.dueAt).toEqual(new Date('2026-11-03T14:21:00.000Z'));
    });

    it('are the defaults while StoresV2 can not be read: the lead still gets its task', async () => {
      const down = Object.assign(new Error(), { name: 'StoresUnavailableError' });
      const result = await dueAt({ directory: { findById: () => Promise.reject(down) } });
      expect(result.dueAt).toEqual(new Date('2026-11-03T14:21:00.000Z'));
      expect(result.log.lines[0]).toMatchObject({
        level: 'error',
        event: 'stores.unavailable',
        fields: { error_code: 'StoresUnavailableError' },
      });
    });
  });

  it.each(['before', 'after'] as const)(
    'N12 a connection that dropped %s the commit is tried again at once',
    async (when) => {
      const body = await leadCreatedMessage();
      const { processor, queue } = aProcessor();
      const seen = onRequests({ kind: 'drop', when });
      await run(processor, anSqsRecord({ body }));
      expect(seen.requests).toBe(2);
      expect(queue.visibility).toEqual([]);
      expect(await tasks()).toHaveLength(1);
      expect(await timeline()).toHaveLength(1);
    },
  );

  it('takes up a rotated password', async () => {
    const body = await leadCreatedMessage();
    const parameters = { get: async () => database.url, refresh: async () => `${database.url}?rotated` };
    const { processor } = aProcessor({ neon: createStageDatabase(parameters, '/neon-database-url') });
    onRequests({ kind: 'fail', status: 400, message: `password authentication failed for user 'x'` });
    await run(processor, anSqsRecord({ body }));
    expect(await tasks()).toHaveLength(1);
  });

  it.each([
    [1, [['receipt of message-1', 15]]],
    [2, [['receipt of message-1', 120]]],
    [3, []],
  ])(
    'N11 N13 Neon down: receive %i fails inside the deadline and comes back soon',
    async (receiveCount, visibility) => {
      const body = await leadCreatedMessage();
      const { processor, queue, log, meter } = aProcessor();
      database.endpoint.onRequest = () => ({ kind: 'hang' });
      const started = Date.now();
      const record = anSqsRecord({ body, receiveCount });
      await expect(run(processor, record, new Date(started + 400))).rejects.toMatchObject({
        code: 'timeout',
      });
      database.endpoint.onRequest = undefined;
      expect(Date.now() - started).toBeLessThan(2_000);
      expect(queue.visibility).toEqual(visibility);
      expect(meter.totals).toEqual({ LeadProcessed: 0 });
      expect(log.lines).toEqual([
        {
          level: 'error',
          event: 'lead.processing_failed',
          fields: {
            message_id: 'message-1',
            receive_count: receiveCount,
            mail_key: aLedgerMail().mailKey,
            store_id: riversideStore.storeId,
            error_code: 'timeout',
          },
        },
      ]);
      expect(await tasks()).toEqual([]);
    },
  );

  it('flushes its metrics on every way out', async () => {
    let flushed = 0;
    const flush = () => {
      flushed += 1;
    };
    const { processor } = aProcessor({ meter: { ...recordingMeter(), flush } });
    await run(processor, anSqsRecord({ body: await leadCreatedMessage() }));
    expect(flushed).toBe(1);
    await expect(run(processor, anSqsRecord({ body: 'none' }))).rejects.toThrow('invalid message');
    expect(flushed).toBe(2);
  });

  it('a visibility change that fails does not hide why the lead failed', async () => {
    const queue = { ...recordingQueue(), changeVisibility: () => Promise.reject(new Error('queue down')) };
    const neon = { run: () => Promise.reject(Object.assign(new Error(), { code: '53300' })) };
    const { processor, log } = aProcessor({ queue, neon });
    const record = anSqsRecord({ body: await leadCreatedMessage() });
    await expect(run(processor, record)).rejects.toMatchObject({ code: '53300' });
    expect(log.lines.map(({ event }) => event)).toEqual([
      'lead.processing_failed',
      'message.visibility_failed',
    ]);
  });

  it('names the field of a message that is none, and tells no value', async () => {
    const message = await leadCreatedMessage();
    const bad = { ...message, detail: { ...message.detail, storeId: 'Riverside', receivedAt: 'yesterday' } };
    const { processor, log, queue, meter } = aProcessor();
    const seen = onRequests();
    await expect(run(processor, anSqsRecord({ body: bad }))).rejects.toMatchObject({
      name: 'InvalidMessageError',
    });
    expect(seen.requests).toBe(0);
    expect(log.lines).toEqual([
      {
        level: 'error',
        event: 'message.invalid',
        fields: {
          message_id: 'message-1',
          receive_count: 1,
          fields: ['detail.storeId', 'detail.receivedAt'],
        },
      },
    ]);
    expect(queue.visibility).toEqual([['receipt of message-1', 15]]);
    expect(meter.totals).toEqual({ LeadProcessed: 0 });
  });

  it.each([
    ['body', () => 'not json'],
    ['source', (message: object) => ({ ...message, source: 'other' })],
    ['detail-type', (message: object) => ({ ...message, 'detail-type': 'LeadUpdated' })],
    ['detail', (message: object) => ({ ...message, detail: undefined })],
  ])('refuses another envelope: %s', async (field, change) => {
    const { processor, log } = aProcessor();
    const record = anSqsRecord({ body: change(await leadCreatedMessage()) });
    await expect(run(processor, record)).rejects.toThrow(`invalid message: ${field}`);
    expect(log.lines[0]?.fields).toMatchObject({ fields: [field] });
  });
});

describe('handler', () => {
  it('names the variables that its environment lacks', async () => {
    const context = { getRemainingTimeInMillis: () => 50_000 } as Context;
    await expect(handler({ Records: [] }, context)).rejects.toThrow(
      /lead-processor: missing environment variables .*NEON_URL_PARAMETER.*QUIET_HOURS/,
    );
  });
});
