import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LeadInput } from '../../src/leads/lead.ts';
import { leadId } from '../../src/leads/lead-id.ts';
import { countLeadsWithoutTimeline, findUnpublished, markPublished } from '../../src/leads/ledger.ts';
import { type PersistOptions, persistLeadPipeline } from '../../src/leads/persist.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { aLead, aLedgerMail } from '../support/leads.ts';

const now = new Date('2026-11-03T15:00:00.000Z');
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const keyOf = (letter: string) => letter.repeat(64);

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  await database.query('truncate leads, lead_mails, contact_timeline');
});

/** A stored mail, recorded at `recordedAt`; its lead has an e-mail of its own. */
async function store(
  letter: string,
  recordedAt: Date,
  lead: Partial<LeadInput> = {},
  options?: PersistOptions,
) {
  const input = aLead({ leadEmail: `${letter}@x.example`, ...lead });
  const record = { mail: aLedgerMail({ mailKey: keyOf(letter) }), lead: { ...input, id: leadId(input) } };
  const persisted = await persistLeadPipeline(database.db, record, options);
  await database.query('update lead_mails set recorded_at = $1 where mail_key = $2', [
    recordedAt,
    keyOf(letter),
  ]);
  return persisted;
}

describe('markPublished', () => {
  it('notes the first time only', async () => {
    await store('a', now);
    await markPublished(database.db, keyOf('a'), minutesAgo(5));
    await markPublished(database.db, keyOf('a'), now);
    expect(await database.query('select published_at from lead_mails')).toEqual([
      { published_at: minutesAgo(5) },
    ]);
  });

  it('touches no other mail', async () => {
    await store('a', now);
    await store('b', now);
    await markPublished(database.db, keyOf('a'), now);
    const rows = await database.query('select mail_key from lead_mails where published_at is null');
    expect(rows).toEqual([{ mail_key: keyOf('b') }]);
  });
});

describe('findUnpublished', () => {
  const find = async (limit = 100) => {
    const found = await findUnpublished(database.db, { before: minutesAgo(15), limit });
    return found.map(({ mail }) => mail.mailKey[0]);
  };

  it('finds complete leads whose mail was recorded before the given instant, oldest first', async () => {
    await store('a', minutesAgo(16));
    await store('b', minutesAgo(40));
    await store('c', minutesAgo(14));
    expect(await find()).toEqual(['b', 'a']);
    expect(await find(1)).toEqual(['b']);
  });

  it('returns what persistLeadPipeline returned, but for the body', async () => {
    const { mail, lead } = await store('a', minutesAgo(20));
    const [found] = await findUnpublished(database.db, { before: minutesAgo(15), limit: 1 });
    expect(found).toEqual({ mail: { ...mail, recordedAt: minutesAgo(20) }, lead: { ...lead, rawBody: '' } });
  });

  it.each(['phone', 'franchiseId', 'accountId', 'storeId'] as const)(
    'leaves out leads without %s',
    async (field) => {
      await store('a', minutesAgo(20), { [field]: null });
      expect(await find()).toEqual([]);
    },
  );

  it('leaves out what is published', async () => {
    await store('a', minutesAgo(20));
    await markPublished(database.db, keyOf('a'), now);
    expect(await find()).toEqual([]);
  });

  it('leaves out what another stage publishes', async () => {
    await store('a', minutesAgo(20), {}, { mirror: true });
    expect(await find()).toEqual([]);
  });

  it('leaves out cancelled bookings', async () => {
    await store('a', minutesAgo(20));
    await markPublished(database.db, keyOf('a'), now);
    const mail = aLedgerMail({ mailKey: keyOf('c'), outcome: 'cancellation', reason: 'booking_cancelled' });
    const cancelled = await persistLeadPipeline(database.db, {
      mail,
      lead: aLead({ leadEmail: 'a@x.example' }),
    });
    expect(cancelled.mail.leadId).not.toBeNull();
    await database.query('update lead_mails set recorded_at = $1', [minutesAgo(20)]);
    expect(await find()).toEqual([]);
  });
});

describe('countLeadsWithoutTimeline', () => {
  const count = () => countLeadsWithoutTimeline(database.db, { publishedBefore: minutesAgo(30) });

  async function published(letter: string, at: Date) {
    const { lead } = await store(letter, at);
    await markPublished(database.db, keyOf(letter), at);
    return lead?.id ?? '';
  }
  const addTimeline = (id: string) =>
    database.query(
      `insert into contact_timeline (contact_phone, franchise_id, account_id, store_id, event_type, event_category,
         entity_type, entity_id, occurred_at, actor_type, idempotency_key)
       values ('+12125550147', 'f', 'a', gen_random_uuid(), 'lead.created', 'lead', 'lead', $1, now(), 'lead_webhook', $2)`,
      [id, `lead.created:${id}`],
    );

  it('counts leads that were published before the given instant and never reached the timeline', async () => {
    await addTimeline(await published('a', minutesAgo(60)));
    await published('b', minutesAgo(31));
    await published('c', minutesAgo(29));
    await store('d', minutesAgo(60));
    expect(await count()).toBe(1);
  });

  it('counts a lead of several mails once', async () => {
    await published('a', minutesAgo(60));
    const again = aLead({ leadEmail: 'a@x.example' });
    await persistLeadPipeline(database.db, {
      mail: aLedgerMail({ mailKey: keyOf('b') }),
      lead: { ...again, id: leadId(again) },
    });
    await markPublished(database.db, keyOf('b'), minutesAgo(50));
    expect(await count()).toBe(1);
  });

  it('looks back 14 days', async () => {
    await published('a', new Date(minutesAgo(30).getTime() - 15 * 24 * 3600_000));
    await published('b', new Date(minutesAgo(30).getTime() - 13 * 24 * 3600_000));
    expect(await count()).toBe(1);
  });

  it('is zero for an empty database', async () => {
    expect(await count()).toBe(0);
  });
});
