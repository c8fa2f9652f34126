import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LeadInput } from '../../src/leads/lead.ts';
import { leadId } from '../../src/leads/lead-id.ts';
import { type PersistOptions, persistLeadPipeline } from '../../src/leads/persist.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { aLead, aLedgerMail } from '../support/leads.ts';

const storeA = aLead().storeId;
const storeB = '0d2a4c1e-7b1f-4b57-8a5e-2f8f6f0a0777';
const at = new Date('2026-11-03T14:15:00.000Z');
const later = new Date('2026-11-03T15:00:00.000Z');
const seedId = aLead().id;
const secondId = 'ana@x.example#2026-11-03T14:15:00.000Z';
const unmapped = { storeId: null, franchiseId: null, accountId: null, parseStatus: 'unmapped' } as const;

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  await database.query('truncate leads, lead_mails, contact_timeline');
});

const keyOf = (letter: string) => letter.repeat(64);
const mailOf = (letter: string, receivedAt: Date) => aLedgerMail({ mailKey: keyOf(letter), receivedAt });

/** Stores a mail whose lead has the seed's id for what it holds. */
function store(letter: string, overrides: Partial<LeadInput> = {}, options?: PersistOptions) {
  const lead = aLead({ receivedAt: at, ...overrides });
  const record = { mail: mailOf(letter, lead.receivedAt), lead: { ...lead, id: leadId(lead) } };
  return persistLeadPipeline(database.db, record, options);
}

describe('which lead a mail belongs to', () => {
  it('one person and one store on one day is one lead, under the id of the seed', async () => {
    expect((await store('a')).lead?.id).toBe(seedId);
    expect((await store('b', { receivedAt: later })).lead?.id).toBe(seedId);
    expect(await database.query('select from leads')).toHaveLength(1);
  });

  it('the same person at another store is another lead, under {id}#{storeId}', async () => {
    await store('a');
    const other = await store('b', { storeId: storeB });
    expect(other.lead).toMatchObject({ id: `${seedId}#${storeB}`, storeId: storeB });
    expect(other.mail.repeat).toBe(false);
    const again = await store('c', { storeId: storeB, receivedAt: later });
    expect(again.lead?.id).toBe(`${seedId}#${storeB}`);
    expect(again.mail.repeat).toBe(true);
    expect((await store('d', { receivedAt: later })).lead).toMatchObject({ id: seedId, storeId: storeA });
  });

  it('a mail without store joins the lead that is there', async () => {
    await store('a');
    expect((await store('b', unmapped)).lead).toMatchObject({ id: seedId, storeId: storeA });
  });

  it('a lead without store takes the first store that comes, and the next store is another lead', async () => {
    await store('a', unmapped);
    expect((await store('b')).lead).toMatchObject({ id: seedId, storeId: storeA });
    expect((await store('c', { storeId: storeB })).lead?.id).toBe(`${seedId}#${storeB}`);
  });

  it('without a phone, another mail of the same second is another lead, under {id}#{12 hex of mail_key}', async () => {
    expect((await store('a', { phone: null })).lead?.id).toBe(secondId);
    const other = await store('b', { phone: null, firstName: 'Bea' });
    expect(other.lead).toMatchObject({ id: `${secondId}#${'b'.repeat(12)}`, firstName: 'Bea' });
    expect(other.mail.repeat).toBe(false);
    expect((await store('a', { phone: null })).lead?.id).toBe(secondId);
    expect((await store('b', { phone: null })).lead?.id).toBe(`${secondId}#${'b'.repeat(12)}`);
    expect(await database.query('select from leads')).toHaveLength(2);
  });

  it('without a phone, in the same second and for another store: {id}#{storeId}, the next one by its mail', async () => {
    await store('a', { phone: null });
    expect((await store('b', { phone: null, storeId: storeB })).lead?.id).toBe(`${secondId}#${storeB}`);
    const third = await store('c', { phone: null, storeId: storeB });
    expect(third.lead).toMatchObject({ id: `${secondId}#${'c'.repeat(12)}`, storeId: storeB });
  });
});

describe('a mail that is read again (replay)', () => {
  const reread = { reread: true };

  it('stays as it is when it reads the same, however often', async () => {
    const first = await store('a');
    await store('b', { receivedAt: later });
    await database.query('update lead_mails set published_at = $1', [later]);
    for (let round = 0; round < 2; round++) {
      const again = await store('a', {}, reread);
      expect(again.mail).toEqual({ ...first.mail, publishedAt: later });
      expect(again.lead?.id).toBe(seedId);
    }
  });

  it('gains the store of a repaired mapping in its own lead', async () => {
    await store('a', unmapped);
    const again = await store('a', {}, reread);
    expect(again.lead).toMatchObject({
      id: seedId,
      storeId: storeA,
      franchiseId: 'orangeTheory',
      parseStatus: 'parsed',
    });
    expect(again.mail).toMatchObject({ leadId: seedId, publishedAt: null });
  });

  it('moves to the lead of a better reading, which counts as unpublished', async () => {
    await store('a', { phone: null });
    await database.query('update lead_mails set published_at = $1', [later]);
    const again = await store('a', {}, reread);
    expect(again.mail).toMatchObject({ leadId: seedId, publishedAt: null, repeat: false });
    expect(again.lead).toMatchObject({ id: seedId, phone: '+12125550147' });
    await database.query('update lead_mails set published_at = $1', [later]);
    expect((await store('a', {}, reread)).mail).toMatchObject({ leadId: seedId, publishedAt: later });
  });

  it('is a repeat when it moves to a lead that has another mail', async () => {
    await store('a', { phone: null });
    await store('b', { receivedAt: later });
    expect((await store('a', {}, reread)).mail).toMatchObject({ leadId: seedId, repeat: true });
  });

  it('moves to another store’s lead when its address belongs to that store now', async () => {
    await store('a');
    for (let round = 0; round < 2; round++) {
      const again = await store('a', { storeId: storeB }, reread);
      expect(again.lead).toMatchObject({ id: `${seedId}#${storeB}`, storeId: storeB });
    }
  });

  it('keeps the id that tells it from another mail of the same second', async () => {
    await store('a', { phone: null });
    await store('b', { phone: null });
    for (let round = 0; round < 2; round++) {
      expect((await store('b', { phone: null }, reread)).lead?.id).toBe(`${secondId}#${'b'.repeat(12)}`);
      expect((await store('a', { phone: null }, reread)).lead?.id).toBe(secondId);
    }
  });

  it('takes outcome, reason and fields of the new reading', async () => {
    await store('a');
    const again = await persistLeadPipeline(
      database.db,
      {
        mail: { ...mailOf('a', at), outcome: 'skipped', reason: 'auto_reply', parsed: { format: 'none' } },
        lead: null,
      },
      reread,
    );
    expect(again).toMatchObject({
      lead: null,
      mail: { outcome: 'skipped', reason: 'auto_reply', parsed: { format: 'none' }, leadId: null },
    });
  });
});

describe('a cancelled booking', () => {
  const cancel = (letter: string, overrides: Partial<LeadInput> = {}) => {
    const lead = aLead({ receivedAt: later, bookedDate: '2026-11-05', bookedTime: '18:30', ...overrides });
    const mail = {
      ...mailOf(letter, lead.receivedAt),
      outcome: 'cancellation' as const,
      reason: 'booking_cancelled',
    };
    return persistLeadPipeline(database.db, { mail, lead: { ...lead, id: leadId(lead) } });
  };
  const timeline = () => database.query('select * from contact_timeline order by occurred_at');

  it('of a known lead: points there and is written into the timeline, once', async () => {
    const known = await store('a');
    for (let round = 0; round < 2; round++) {
      const { mail, lead } = await cancel('c', { leadEmail: 'else@x.example' });
      expect(mail).toMatchObject({ outcome: 'cancellation', leadId: seedId });
      expect(lead).toEqual(known.lead);
    }
    expect(await timeline()).toEqual([
      {
        id: expect.any(String),
        contact_phone: '+12125550147',
        franchise_id: 'orangeTheory',
        account_id: '900412',
        store_id: storeA,
        event_type: 'lead.booking_cancelled',
        event_category: 'lead',
        entity_type: 'lead',
        entity_id: seedId,
        occurred_at: later,
        actor_type: 'lead_webhook',
        new_value: { bookedDate: '2026-11-05', bookedTime: '18:30' },
        idempotency_key: `lead.booking_cancelled:${keyOf('c')}`,
        created_at: expect.any(Date),
      },
    ]);
  });

  it('is of the person with that phone, not of the newest visitor of the same form', async () => {
    const relay = { leadEmail: 'web@forms.example', emailFrom: 'web@forms.example' };
    const aage = await store('a', { ...relay, phone: '+12125550201' });
    await store('b', { ...relay, phone: '+12125550202', receivedAt: later });
    const ofAage = await cancel('c', { ...relay, phone: '+12125550201' });
    expect(ofAage.mail.leadId).toBe(aage.lead?.id);
    expect((await cancel('d', { ...relay, phone: '+12125550299' })).mail.leadId).toBeNull();
    expect((await cancel('e', { ...relay, phone: null })).mail.leadId).toBeNull();
  });

  it('finds the lead by e-mail when no phone is given', async () => {
    await store('a');
    expect((await cancel('c', { phone: null })).mail.leadId).toBe(seedId);
    expect(await timeline()).toHaveLength(1);
  });

  it('takes the newest lead that came before it', async () => {
    await store('a', { receivedAt: new Date('2026-11-01T10:00:00.000Z') });
    await store('b', { receivedAt: new Date('2026-11-02T10:00:00.000Z') });
    await store('d', { receivedAt: new Date('2026-11-04T10:00:00.000Z') });
    expect((await cancel('c')).mail.leadId).toBe('ana@x.example#+12125550147#2026-11-02');
  });

  it.each([
    ['another store', { storeId: storeB }],
    ['no store', unmapped],
    ['another person', { phone: '+12125550199', leadEmail: 'bea@x.example' }],
  ])('of %s: a ledger line, no lead and no timeline', async (_what, overrides) => {
    await store('a');
    const { mail, lead } = await cancel('c', overrides);
    expect(mail).toMatchObject({ outcome: 'cancellation', leadId: null });
    expect(lead).toBeNull();
    expect(await database.query('select from leads')).toHaveLength(1);
    expect(await timeline()).toEqual([]);
  });

  it('of a lead without phone: points there, and there is no contact to write about', async () => {
    await store('a', { phone: null });
    expect((await cancel('c', { phone: null })).mail.leadId).toBe(secondId);
    expect(await timeline()).toEqual([]);
  });
});
