import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { attachCancellations } from '../../src/leads/attach-cancellations.ts';
import { persistLeadPipeline } from '../../src/leads/persist.ts';
import type { Store } from '../../src/leads/store.ts';
import { toRecord } from '../../src/leads/take-mail.ts';
import type { ParsedMail } from '../../src/mail/parsed-mail.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { aParsedMail, riversideStore } from '../support/leads.ts';

const harborStore: Store = { ...riversideStore, storeId: '0d2a4c1e-7b1f-4b57-8a5e-2f8f6f0a0777' };
const booked = new Date('2026-11-03T14:15:00.000Z');
const cancelled = new Date('2026-11-03T15:00:00.000Z');
const now = new Date('2026-11-04T09:00:00.000Z');
const seedId = 'ana@x.example#+12125550147#2026-11-03';

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  await database.query('truncate leads, lead_mails, contact_timeline');
});

const keyOf = (letter: string) => letter.repeat(64);

/** Stores a mail as poller and retry processor do. */
function persist(
  letter: string,
  receivedAt: Date,
  over: Partial<ParsedMail> = {},
  store: Store | undefined = riversideStore,
) {
  const position = { mailbox: 'INBOX', uidValidity: 1, uid: letter.charCodeAt(0), receivedAt };
  const parsed = aParsedMail({ mailKey: keyOf(letter), messageId: `<${letter}>`, ...over });
  const recipient = parsed.recipients[0];
  const match = store && recipient ? { store, recipient, ambiguous: false } : undefined;
  return persistLeadPipeline(database.db, toRecord(parsed, position, match));
}
const cancellation = {
  outcome: 'cancellation',
  reason: 'booking_cancelled',
  fields: { phone: '+12125550147', email: 'ana@x.example', bookedDate: '2026-11-05', bookedTime: '18:30' },
} as const satisfies Partial<ParsedMail>;
const cancel = (letter: string, over: Partial<ParsedMail> = {}, store?: Store) =>
  persist(letter, cancelled, { ...cancellation, ...over }, store);

const lines = () =>
  database.query("select mail_key, lead_id from lead_mails where outcome = 'cancellation' order by mail_key");
const timeline = () => database.query('select * from contact_timeline order by idempotency_key');

describe('a cancellation that was stored before its lead', () => {
  it('is attached once the lead is there, as if they had come in order', async () => {
    await cancel('c');
    await attachCancellations(database.db, now);
    expect(await lines()).toEqual([{ mail_key: keyOf('c'), lead_id: null }]);
    const { mail } = await persist('a', booked);
    expect(mail.repeat).toBe(false);
    for (let tick = 0; tick < 2; tick += 1) await attachCancellations(database.db, now);
    expect(await lines()).toEqual([{ mail_key: keyOf('c'), lead_id: seedId }]);

    const attached = await timeline();
    await database.query('truncate lead_mails, contact_timeline');
    await cancel('c');
    const inOrder = await timeline();
    const bare = (rows: Record<string, unknown>[]) => rows.map(({ id, created_at, ...row }) => row);
    expect(attached).toHaveLength(1);
    expect(bare(attached)).toEqual(bare(inOrder));
  });

  it('is attached to the newest lead that came before it, by phone before e-mail', async () => {
    await cancel('c');
    await cancel('d', { fields: { phone: '+12125550199', email: 'ana@x.example' } });
    await persist('a', new Date('2026-11-01T10:00:00.000Z'));
    await persist('b', booked);
    await persist('e', booked, { fields: { phone: '+12125550199', email: 'bea@x.example' } });
    await attachCancellations(database.db, now);
    expect(await lines()).toEqual([
      { mail_key: keyOf('c'), lead_id: seedId },
      { mail_key: keyOf('d'), lead_id: 'bea@x.example#+12125550199#2026-11-03' },
    ]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a lead that came after it', () => persist('a', new Date('2026-11-03T15:00:01.000Z'))],
    ["another store's lead", () => persist('a', booked, {}, harborStore)],
    [
      "another person's lead",
      () => persist('a', booked, { fields: { phone: '+12125550199', email: 'bea@x.example' } }),
    ],
    ['an unmapped lead', () => persist('a', booked, { recipients: [] })],
  ])('stays alone beside %s', async (_, persistLead) => {
    await cancel('c');
    await persistLead();
    await attachCancellations(database.db, now);
    expect(await lines()).toEqual([{ mail_key: keyOf('c'), lead_id: null }]);
    expect(await timeline()).toEqual([]);
  });

  it('is not attached by the address of a relay that all its visitors share', async () => {
    await cancel('c', { fields: { phone: '+12125550199' } });
    await persist('a', booked, { fields: { phone: '+12125550147' } });
    await attachCancellations(database.db, now);
    expect(await lines()).toEqual([{ mail_key: keyOf('c'), lead_id: null }]);
  });

  it('of a lead without phone is attached, with no contact to write about', async () => {
    await cancel('c', { fields: { email: 'ana@x.example' } });
    await persist('a', booked, { fields: { email: 'ana@x.example' } });
    await attachCancellations(database.db, now);
    expect(await lines()).toEqual([
      { mail_key: keyOf('c'), lead_id: `ana@x.example#${booked.toISOString()}` },
    ]);
    expect(await timeline()).toEqual([]);
  });

  it('without a store, of an older version, or older than any retry is left alone', async () => {
    await cancel('c', { recipients: [] });
    await cancel('d');
    await database.query(`update lead_mails set parsed = '{}' where mail_key = '${keyOf('d')}'`);
    await cancel('e');
    await persist('a', booked);
    await attachCancellations(database.db, new Date('2026-12-15T00:00:00.000Z'));
    await database.query(`delete from lead_mails where mail_key = '${keyOf('e')}'`);
    await attachCancellations(database.db, now);
    expect((await lines()).map(({ lead_id }) => lead_id)).toEqual([null, null]);
    expect(await timeline()).toEqual([]);
  });
});
