import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LeadInput, LedgerMail } from '../../src/leads/lead.ts';
import { type PersistOptions, persistLeadPipeline } from '../../src/leads/persist.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { aLead, aLedgerMail } from '../support/leads.ts';

const morning = new Date('2026-11-03T14:15:00.000Z');
const noon = new Date('2026-11-03T17:00:00.000Z');
const evening = new Date('2026-11-03T23:30:00.000Z');

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  await database.query('truncate leads, lead_mails, contact_timeline');
});

const keyOf = (letter: string) => letter.repeat(64);

/** One mail of the same person, store and day unless the overrides say otherwise. */
function store(
  letter: string,
  receivedAt: Date,
  lead: Partial<LeadInput> = {},
  mail: Partial<LedgerMail> = {},
  options?: PersistOptions,
) {
  const record = {
    mail: aLedgerMail({ mailKey: keyOf(letter), receivedAt, ...mail }),
    lead: aLead({ receivedAt, ...lead }),
  };
  return persistLeadPipeline(database.db, record, options);
}

describe('one mail', () => {
  it('stores lead and ledger line in one request, and returns both as stored', async () => {
    const requests: number[] = [];
    database.endpoint.onRequest = ({ queries }) => void requests.push(queries.length);
    const { lead, mail } = await store('a', morning, { bookedDate: '2026-11-05', bookedTime: '18:30' });
    database.endpoint.onRequest = undefined;

    expect(requests).toHaveLength(1);
    expect(lead).toEqual({
      ...aLead({ receivedAt: morning, bookedDate: '2026-11-05', bookedTime: '18:30' }),
      bookedMailAt: morning,
      lastMailAt: morning,
      syncedAt: expect.any(Date),
    });
    expect(mail).toEqual({
      ...aLedgerMail({ receivedAt: morning }),
      leadId: aLead().id,
      repeat: false,
      mirrored: false,
      recordedAt: expect.any(Date),
      publishedAt: null,
    });
    expect(await database.query('select id from leads')).toEqual([{ id: aLead().id }]);
  });

  it('limits statements to 5 s and lock waits to 3 s inside the batch', async () => {
    const texts: string[] = [];
    database.endpoint.onRequest = ({ queries }) => void texts.push(...queries);
    await store('a', morning);
    database.endpoint.onRequest = undefined;
    expect(texts[0]).toMatch(/set_config\('statement_timeout', '5s', true\)/);
    expect(texts[0]).toMatch(/set_config\('lock_timeout', '3s', true\)/);
  });

  it('leaves nothing behind when one statement fails', async () => {
    const failing = store('a', morning, { bookedDate: '2026-02-30' });
    await expect(failing).rejects.toMatchObject({ code: '22008' });
    expect(await database.query('select from lead_mails')).toEqual([]);
    expect(await database.query('select from leads')).toEqual([]);
  });

  it.each(['skipped', 'quarantined'] as const)('%s: a ledger line and no lead', async (outcome) => {
    const mail = aLedgerMail({ outcome, reason: 'auto_reply' });
    const persisted = await persistLeadPipeline(database.db, { mail, lead: null });
    expect(persisted).toMatchObject({
      lead: null,
      mail: { outcome, reason: 'auto_reply', leadId: null, repeat: false },
    });
    expect(await database.query('select from leads')).toEqual([]);
  });
});

describe('another mail of the same lead', () => {
  it('a newer mail overwrites lead_type, franchise_id and account_id', async () => {
    await store('a', morning);
    const { lead } = await store('b', noon, {
      leadType: 'Online Intro',
      franchiseId: 'purePilates',
      accountId: '77',
    });
    expect(lead).toMatchObject({ leadType: 'Online Intro', franchiseId: 'purePilates', accountId: '77' });
    expect(lead?.lastMailAt).toEqual(noon);
  });

  it('an older mail overwrites nothing', async () => {
    await store('a', noon, { bookedDate: '2026-11-05', bookedTime: '18:30' });
    const { lead } = await store('b', morning, {
      leadType: 'Online Intro',
      franchiseId: 'purePilates',
      accountId: '77',
      bookedDate: '2026-11-09',
      bookedTime: '07:00',
    });
    expect(lead).toMatchObject({
      leadType: 'Web Lead',
      franchiseId: 'orangeTheory',
      accountId: '900412',
      bookedDate: '2026-11-05',
      bookedTime: '18:30',
    });
    expect(lead?.lastMailAt).toEqual(noon);
  });

  it.each([
    ['newer', noon],
    ['older', new Date('2026-11-03T09:00:00.000Z')],
  ])('NULL of a %s mail never overwrites', async (_age, receivedAt) => {
    const first = await store('a', morning, { bookedDate: '2026-11-05', bookedTime: '18:30' });
    const { lead } = await store('b', receivedAt, {
      leadType: 'Unknown',
      franchiseId: null,
      accountId: null,
      storeId: null,
      bookedDate: null,
      bookedTime: null,
    });
    const { leadType, franchiseId, accountId, storeId, bookedDate, bookedTime } = first.lead ?? {};
    expect(lead).toMatchObject({ leadType, franchiseId, accountId, storeId, bookedDate, bookedTime });
  });

  it.each([
    ['newer', noon],
    ['older', new Date('2026-11-03T09:00:00.000Z')],
  ])('what was NULL is filled in by a %s mail', async (_age, receivedAt) => {
    const unmapped = { franchiseId: null, accountId: null, storeId: null, parseStatus: 'unmapped' } as const;
    await store('a', morning, { ...unmapped, leadType: 'Unknown' });
    const { lead } = await store('b', receivedAt, { bookedDate: '2026-11-05', bookedTime: '18:30' });
    expect(lead).toMatchObject({
      id: aLead().id,
      leadType: 'Web Lead',
      franchiseId: 'orangeTheory',
      accountId: '900412',
      storeId: aLead().storeId,
      bookedDate: '2026-11-05',
      bookedTime: '18:30',
      parseStatus: 'parsed',
    });
  });

  it('a web lead after the booking of the same day keeps the booking', async () => {
    await store('a', morning, { leadType: 'Booked Intro', bookedDate: '2026-11-05', bookedTime: '18:30' });
    const { lead } = await store('b', noon);
    expect(lead).toMatchObject({ leadType: 'Web Lead', bookedDate: '2026-11-05', bookedTime: '18:30' });
  });

  it('a booking that was moved counts although a later mail without booking came before it', async () => {
    await store('a', morning, { bookedDate: '2026-11-05', bookedTime: '18:30' });
    await store('c', evening);
    const { lead } = await store('b', noon, { bookedDate: '2026-11-06', bookedTime: '19:00' });
    expect(lead).toMatchObject({ bookedDate: '2026-11-06', bookedTime: '19:00' });
    expect(lead?.lastMailAt).toEqual(evening);
  });

  it('changes nothing else', async () => {
    const first = await store('a', morning);
    const { lead } = await store('b', noon, {
      leadEmail: 'other@x.example',
      firstName: 'Anna',
      lastName: 'Lopes',
      phone: '+12125550199',
      emailSubject: 'again',
      emailFrom: 'z@forms.example',
      emailRecipient: 'z@leads.example',
      extractedTrackingId: 'Z',
      rawBody: 'second',
      rawBodyTruncated: true,
      isForwarded: true,
      forwardedOriginalFrom: 'f',
      forwardedOriginalTo: 't',
      forwardedOriginalDate: 'd',
      parseStatus: 'partial',
    });
    expect(lead).toEqual({ ...first.lead, lastMailAt: noon, syncedAt: expect.any(Date) });
    expect(lead?.syncedAt.getTime()).toBeGreaterThanOrEqual(first.lead?.syncedAt.getTime() ?? Infinity);
  });

  it('synced_at is the time of the last write', async () => {
    await store('a', morning);
    await database.query("update leads set synced_at = '2020-01-01'");
    const { lead } = await store('b', morning);
    expect(Date.now() - (lead?.syncedAt.getTime() ?? 0)).toBeLessThan(60_000);
  });
});

describe('the ledger', () => {
  it('only the first mail of a lead is no repeat', async () => {
    expect((await store('a', morning)).mail.repeat).toBe(false);
    expect((await store('b', noon)).mail.repeat).toBe(true);
    expect((await store('c', evening)).mail.repeat).toBe(true);
  });

  it('a known mail keeps its line: lead, repeat and published_at', async () => {
    const first = await store('a', morning);
    await store('b', noon);
    await database.query('update lead_mails set published_at = $1', [noon]);
    const again = await store('a', morning, {}, { uid: 99, uidValidity: 2, parsed: { format: 'other' } });
    expect(again.mail).toEqual({ ...first.mail, publishedAt: noon });
    expect(await database.query('select from lead_mails')).toHaveLength(2);
  });

  it('a known mail stays with its lead when it is read as another one', async () => {
    await store('a', morning);
    const again = await store('a', morning, {
      id: 'ana@y.example#+12125550147#2026-11-03',
      leadEmail: 'ana@y.example',
    });
    expect(again.lead?.id).toBe(aLead().id);
    expect(await database.query('select from leads')).toHaveLength(1);
  });

  it('a known mail whose store changed does not mix two stores in one lead', async () => {
    await store('a', morning);
    const { lead } = await store('a', morning, {
      storeId: '0d2a4c1e-7b1f-4b57-8a5e-2f8f6f0a0777',
      franchiseId: 'purePilates',
      accountId: '77',
    });
    expect(lead).toMatchObject({
      storeId: aLead().storeId,
      franchiseId: 'orangeTheory',
      accountId: '900412',
    });
  });

  it('a quarantined mail that is read as a lead later gains its lead', async () => {
    await persistLeadPipeline(database.db, {
      mail: aLedgerMail({ outcome: 'quarantined', reason: 'unparsed' }),
      lead: null,
    });
    const { mail, lead } = await store('a', morning);
    expect(mail).toMatchObject({
      outcome: 'lead',
      reason: null,
      leadId: aLead().id,
      repeat: false,
      publishedAt: null,
    });
    expect(lead?.id).toBe(aLead().id);
  });

  it('a mail that made a lead keeps it when it is read as none later', async () => {
    await store('a', morning);
    const again = await persistLeadPipeline(database.db, {
      mail: aLedgerMail({ outcome: 'skipped', reason: 'auto_reply' }),
      lead: null,
    });
    expect(again).toMatchObject({ mail: { outcome: 'lead', leadId: aLead().id }, lead: { id: aLead().id } });
  });

  it('a mirrored line says so', async () => {
    expect((await store('a', morning, {}, {}, { mirror: true })).mail.mirrored).toBe(true);
  });
});
