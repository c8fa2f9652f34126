import { randomUUID } from 'node:crypto';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { eq, sql } from 'drizzle-orm';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { NeonFault } from '../../local/neon-endpoint.ts';
import type { Database } from '../../src/db/client.ts';
import { DatabaseError, toDatabaseError } from '../../src/db/errors.ts';
import { retryTransient } from '../../src/db/retry.ts';
import { contactTimeline, leadMails, tasks } from '../../src/db/schema/index.ts';
import { persistLeadPipeline } from '../../src/leads/persist.ts';
import { processBatch } from '../../src/platform/sqs-batch.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { aLead, aLedgerMail } from '../support/leads.ts';

const record = { mail: aLedgerMail(), lead: aLead() };
const within = (milliseconds: number) => new Date(Date.now() + milliseconds);

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  await database.query('truncate leads, lead_mails, contact_timeline, tasks');
});
afterEach(() => {
  database.endpoint.onRequest = undefined;
});

/** The endpoint's answers, one a request; requests beyond the list are answered properly. */
function faults(...list: (NeonFault | undefined)[]) {
  let requests = 0;
  database.endpoint.onRequest = () => list[requests++];
  return { requests: () => requests };
}

const count = async (table: 'leads' | 'lead_mails') => (await database.query(`select from ${table}`)).length;

function timelineRow(key: string) {
  return {
    contactPhone: '+12125550147',
    franchiseId: 'orangeTheory',
    accountId: '900412',
    storeId: aLead().storeId ?? '',
    eventType: 'lead.created',
    eventCategory: 'lead',
    entityType: 'lead',
    entityId: key,
    occurredAt: new Date('2026-11-03T14:15:00.000Z'),
    actorType: 'lead_webhook',
    idempotencyKey: key,
  };
}

function task(overrides: Partial<typeof tasks.$inferInsert> = {}) {
  return {
    taskId: randomUUID(),
    contactPhone: '+12125550147',
    franchiseId: 'orangeTheory',
    accountId: '900412',
    storeId: aLead().storeId ?? '',
    taskType: 'lead_outreach',
    typeCategory: 'lead_outreach',
    sourceType: 'lead',
    sourceLeadId: randomUUID(),
    status: 'pending',
    priority: 'high',
    actionNeeded: true,
    suggestedActions: [],
    dueAt: new Date('2026-11-03T14:20:00.000Z'),
    ...overrides,
  };
}

/** Two rows in one batch, the first one locked for a while before the second is asked for. */
const updateBoth = (db: Database, first: string, second: string) => {
  const update = (key: string) =>
    db.update(contactTimeline).set({ entityId: 'seen' }).where(eq(contactTimeline.idempotencyKey, key));
  return db.batch([update(first), db.execute(sql`select pg_sleep(0.3)`), update(second)]);
};

it('N1 two batches that lock [a,b] and [b,a]: the one that is rolled back is retried, both commit', async () => {
  const { db } = database;
  await db.insert(contactTimeline).values([timelineRow('a'), timelineRow('b')]);
  const codes: (string | undefined)[] = [];
  const run = (first: string, second: string) =>
    retryTransient(
      () =>
        updateBoth(db, first, second).catch((error) => {
          codes.push(toDatabaseError(error)?.code);
          throw error;
        }),
      { deadline: within(15_000) },
    );
  await Promise.all([run('a', 'b'), run('b', 'a')]);
  expect(codes).toContain('40P01');
  expect(await database.query("select from contact_timeline where entity_id = 'seen'")).toHaveLength(2);
});

it('N3 a partial unique index: one pending task a contact and store, done ones are untouched', async () => {
  const { db } = database;
  const add = async (row: typeof tasks.$inferInsert) =>
    (await db.insert(tasks).values(row).onConflictDoNothing()).rowCount;
  const done = task({ status: 'done', actionNeededReason: 'done before' });
  expect(await add(done)).toBe(1);
  expect(await add(task())).toBe(1);
  expect(await add(task())).toBe(0);
  expect(await add(task({ storeId: '0d2a4c1e-7b1f-4b57-8a5e-2f8f6f0a0777' }))).toBe(1);
  const [untouched] = await db.select().from(tasks).where(eq(tasks.taskId, done.taskId));
  expect(untouched).toMatchObject({ status: 'done', actionNeededReason: 'done before' });
});

it('N5 a mail that comes again: its lead is found although nothing was inserted', async () => {
  const first = await persistLeadPipeline(database.db, record);
  const again = await persistLeadPipeline(database.db, record);
  expect(again.lead?.id).toBe(first.lead?.id);
  expect(again.mail).toEqual(first.mail);
});

it('N6 a unique violation is recognised bare (batch) and wrapped by Drizzle (single query)', async () => {
  const { db } = database;
  const insert = () => db.insert(contactTimeline).values(timelineRow('a'));
  await insert();
  const single = await insert().catch(toDatabaseError);
  const batch = await db.batch([insert()]).catch(toDatabaseError);
  const expected = { kind: 'data', code: '23505', constraint: 'uq_contact_timeline_idempotency_key' };
  expect(single).toMatchObject(expected);
  expect(batch).toMatchObject(expected);
});

it('N11 the control plane fails twice: retried within the deadline', async () => {
  const fault: NeonFault = { kind: 'fail', status: 500, message: 'Control plane request failed' };
  const { requests } = faults(fault, fault);
  await retryTransient(() => persistLeadPipeline(database.db, record), { deadline: within(15_000) });
  expect(requests()).toBe(3);
  expect(await count('leads')).toBe(1);
});

it('N11 N13 no answer ever: ended at the deadline, the SQS record stays, the breaker counts', async () => {
  database.endpoint.onRequest = () => ({ kind: 'hang' });
  const deadline = within(1_000);
  const db = database.connect({ deadline });
  let failure: unknown;
  const event = { Records: [{ messageId: 'm1' } as SQSRecord] } satisfies SQSEvent;
  const response = await processBatch(event, async () => {
    await retryTransient(() => persistLeadPipeline(db, record), { deadline }).catch((error) => {
      failure = error;
      throw error;
    });
  });
  expect(Date.now()).toBeLessThan(deadline.getTime() + 1_000);
  expect(response).toEqual({ batchItemFailures: [{ itemIdentifier: 'm1' }] });
  expect(failure).toBeInstanceOf(DatabaseError);
  expect(failure).toMatchObject({ kind: 'infrastructure', code: 'timeout' });
  expect(await count('leads')).toBe(0);
});

it.each([
  ['before the statements ran', 'before'],
  ['after their COMMIT', 'after'],
] as const)(
  'N12 a kept connection is dropped %s: one retry at once, exactly one row',
  async (_what, when) => {
    await database.db.execute(sql`select 1`);
    const { requests } = faults({ kind: 'drop', when });
    const sleeps: number[] = [];
    const persisted = await retryTransient(() => persistLeadPipeline(database.db, record), {
      deadline: within(10_000),
      sleep: async (milliseconds) => sleeps.push(milliseconds),
    });
    expect(requests()).toBe(2);
    expect(sleeps).toEqual([]);
    expect(persisted.mail.repeat).toBe(false);
    expect([await count('leads'), await count('lead_mails')]).toEqual([1, 1]);
  },
);

it('N13 the client is gone: the statement that it waited for is cancelled and rolled back', async () => {
  const db = database.connect({ timeoutMs: 300 });
  const batch = db.batch([
    db.insert(contactTimeline).values(timelineRow('a')),
    db.execute(sql`select pg_sleep(30)`),
  ]);
  await expect(batch.catch(toDatabaseError)).resolves.toMatchObject({ code: 'timeout' });
  const running =
    "select from pg_stat_activity where query like '%pg_sleep(30)%' and state = 'active' and pid <> pg_backend_pid()";
  await expect.poll(async () => (await database.query(running)).length).toBe(0);
  expect(await database.query('select from contact_timeline')).toEqual([]);
});

it('N15 an instant is stored as it is, whatever the host’s time zone', async () => {
  const zone = process.env.TZ;
  // Springs forward at 2026-03-29T01:00Z in Europe, and is four hours off UTC here.
  process.env.TZ = 'America/New_York';
  try {
    const instant = new Date('2026-03-29T01:30:00.000Z');
    expect(instant.getTimezoneOffset()).toBe(240);
    const { mail, lead } = await persistLeadPipeline(database.db, {
      mail: aLedgerMail({ receivedAt: instant }),
      lead: aLead({ receivedAt: instant }),
    });
    expect([mail.receivedAt, lead?.receivedAt, lead?.lastMailAt]).toEqual([instant, instant, instant]);
    await persistLeadPipeline(database.db, {
      mail: aLedgerMail({ mailKey: 'c'.repeat(64), outcome: 'cancellation', receivedAt: instant }),
      lead: aLead({ receivedAt: instant }),
    });
    const rows = await database.query(
      `select (select received_at::text from leads) as lead, (select occurred_at::text from contact_timeline) as event`,
    );
    expect(rows).toEqual([{ lead: '2026-03-29 01:30:00+00', event: '2026-03-29 01:30:00+00' }]);
    const [found] = await database.db
      .select()
      .from(leadMails)
      .where(eq(leadMails.receivedAt, instant))
      .limit(1);
    expect(found?.receivedAt).toEqual(instant);
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});
