import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { leadMails, leads } from '../../src/db/schema/index.ts';
import type { LedgerMail } from '../../src/leads/lead.ts';
import { markPublished } from '../../src/leads/ledger.ts';
import { type PersistOptions, persistLeadPipeline } from '../../src/leads/persist.ts';
import type { Store } from '../../src/leads/store.ts';
import { toRecord } from '../../src/leads/take-mail.ts';
import { parseMail } from '../../src/mail/parse.ts';
import { type OperatorStage, operate, operateJson, startOperatorStage } from '../ops/operator-stage.ts';
import { aLead, riversideStore } from '../support/leads.ts';
import { baseText, type MailParts, mailSource } from '../support/mails.ts';

let stage: OperatorStage;
beforeEach(async () => {
  stage = await startOperatorStage();
});
afterEach(() => stage.close());

const toTest = ['--stage', 'test'];
const receivedAt = new Date('2026-11-03T14:15:00.000Z');
const anaId = 'ana@x.example#+12125550147#2026-11-03';

/** A mail in the mailbox, as its ledger line has it: `uidValidity` 7 is the mailbox's. */
async function inMailbox(parts: MailParts = {}) {
  const source = mailSource(parts);
  const uid = stage.imap.deliver(source, receivedAt);
  return { uid, parsed: await parseMail(source) };
}

/** What the poller wrote: with the store if it knew one, or as quarantined by an older reader. */
async function inLedger(
  { uid, parsed }: { uid: number; parsed: Awaited<ReturnType<typeof parseMail>> },
  {
    store = riversideStore,
    quarantined = false,
    mail = {},
    options = {},
  }: {
    store?: Store | null;
    quarantined?: boolean;
    mail?: Partial<LedgerMail>;
    options?: PersistOptions;
  } = {},
) {
  const [recipient] = parsed.recipients;
  const match = store && recipient ? { store, recipient, ambiguous: false } : undefined;
  const position = { mailbox: 'INBOX', uidValidity: 7, uid, receivedAt };
  const record = toRecord(parsed, position, match);
  const line = quarantined
    ? { ...record.mail, outcome: 'quarantined' as const, reason: 'unparsed' }
    : record.mail;
  await persistLeadPipeline(
    stage.database.db,
    { mail: { ...line, ...mail }, lead: quarantined ? null : record.lead },
    options,
  );
  return mail.mailKey ?? parsed.mailKey;
}

async function ledgerLine(mailKey: string) {
  const [line] = await stage.database.db.select().from(leadMails).where(eq(leadMails.mailKey, mailKey));
  return line;
}
const allLeads = () => stage.database.db.select().from(leads);

describe('leads replay', () => {
  it('reads a quarantined mail again, stores it under its key and publishes it: once, however often', async () => {
    const mail = await inMailbox();
    const mailKey = await inLedger(mail, { quarantined: true });

    const dry = await operateJson('leads', 'replay', mailKey, ...toTest);
    const before = { outcome: 'quarantined', reason: 'unparsed', leadId: null, storeId: null };
    const after = { outcome: 'lead', reason: null, leadId: anaId, storeId: riversideStore.storeId };
    const told = { mailKey, readFrom: 'mailbox', before, after };
    expect([dry.code, dry.printed]).toMatchObject([0, { dryRun: true, mails: [{ ...told, event: 'due' }] }]);
    expect(await ledgerLine(mailKey)).toMatchObject({ outcome: 'quarantined', leadId: null });
    expect([await allLeads(), stage.published]).toEqual([[], []]);

    const real = await operateJson('leads', 'replay', mailKey, ...toTest, '--yes');
    expect([real.code, real.printed]).toMatchObject([
      0,
      { dryRun: false, mails: [{ ...told, event: 'published' }] },
    ]);
    expect(await ledgerLine(mailKey)).toMatchObject({
      outcome: 'lead',
      reason: null,
      leadId: anaId,
      publishedAt: expect.any(Date),
    });
    expect(await allLeads()).toMatchObject([{ id: anaId, storeId: riversideStore.storeId, receivedAt }]);
    expect(stage.published.map(({ detail }) => detail)).toMatchObject([
      { id: anaId, mailKey, stage: 'test' },
    ]);
    expect(stage.imap.flags(mail.uid)).not.toContain('\\Seen');

    const again = await operateJson('leads', 'replay', mailKey, ...toTest, '--yes');
    expect(again.printed.mails).toMatchObject([{ before: after, after, event: 'out' }]);
    expect([(await allLeads()).length, stage.published.length]).toEqual([1, 1]);
  });

  it('an unmapped lead gets the store that StoresV2 has now, and its event', async () => {
    const mailKey = await inLedger(await inMailbox(), { store: null });
    expect(await allLeads()).toMatchObject([{ id: anaId, storeId: null, parseStatus: 'unmapped' }]);
    const { code, printed } = await operateJson(
      'leads',
      'replay',
      '--unmapped',
      '--since',
      '2026-11-01',
      ...toTest,
      '--yes',
    );
    expect([code, printed.mails]).toMatchObject([0, [{ mailKey, event: 'published' }]]);
    expect(await allLeads()).toMatchObject([
      { id: anaId, storeId: riversideStore.storeId, franchiseId: 'orangeTheory', parseStatus: 'parsed' },
    ]);
    expect(stage.published).toHaveLength(1);
    const rest = await operateJson(
      'leads',
      'replay',
      '--unmapped',
      '--since',
      '2026-11-01',
      ...toTest,
      '--yes',
    );
    expect(rest.printed.mails).toEqual([]);
  });

  it('a better reading moves the mail to another lead, whose event goes out', async () => {
    const mail = await inMailbox();
    const { db } = stage.database;
    const old = aLead({ id: 'ana@x.example#2026-11-03T14:15:00.000Z', phone: null });
    const line = toRecord(
      mail.parsed,
      { mailbox: 'INBOX', uidValidity: 7, uid: mail.uid, receivedAt },
      undefined,
    );
    await persistLeadPipeline(db, { mail: line.mail, lead: old });
    await markPublished(db, mail.parsed.mailKey, receivedAt);

    const { printed } = await operateJson('leads', 'replay', old.id, ...toTest, '--yes');
    expect(printed.mails).toMatchObject([
      { before: { leadId: old.id }, after: { leadId: anaId }, event: 'published' },
    ]);
    expect(await ledgerLine(mail.parsed.mailKey)).toMatchObject({ leadId: anaId });
    expect(stage.published).toMatchObject([{ detail: { id: anaId } }]);
  });

  it('finds a renumbered mail by its Message-ID, also when two people share it', async () => {
    const ana = await inMailbox();
    await inMailbox({ text: baseText.replace('Ana', 'Bo').replace('0147', '0123').replace('ana@', 'bo@') });
    const mailKey = await inLedger(ana, { quarantined: true, mail: { uidValidity: 3, uid: 900 } });
    const { printed } = await operateJson('leads', 'replay', mailKey, ...toTest, '--yes');
    expect(printed.mails).toMatchObject([
      { mailKey, readFrom: 'mailbox, by Message-ID', after: { leadId: anaId }, event: 'published' },
    ]);
    expect(await ledgerLine(mailKey)).toMatchObject({ uidValidity: 3, uid: 900, leadId: anaId });
  });

  it('a mail that is gone is read from the stored text', async () => {
    const { parsed } = await inMailbox();
    const mailKey = await inLedger(
      { uid: 4711, parsed: { ...parsed, messageId: '<gone@forms.example>' } },
      { store: null },
    );
    const { code, printed } = await operateJson('leads', 'replay', mailKey, ...toTest, '--yes');
    expect([code, printed.mails]).toMatchObject([
      0,
      [{ mailKey, readFrom: 'stored text', event: 'published' }],
    ]);
    expect(await allLeads()).toMatchObject([{ id: anaId, storeId: riversideStore.storeId }]);
  });

  it('a mail of which nothing is left is told and left, and the others go on', async () => {
    const kept = await inLedger(await inMailbox(), { quarantined: true });
    const { parsed } = await inMailbox({ headers: { 'Message-ID': '<b@forms.example>' } });
    const gone = await inLedger(
      { uid: 4711, parsed: { ...parsed, messageId: '<gone@forms.example>' } },
      { quarantined: true, mail: { receivedAt: new Date('2026-11-02T00:00:00Z') } },
    );
    const { code, printed } = await operateJson(
      'leads',
      'replay',
      '--quarantined',
      '--since',
      '2026-11-01',
      ...toTest,
      '--yes',
    );
    expect([code, printed.mails]).toMatchObject([
      1,
      [
        { mailKey: gone, problem: 'nothing_to_read' },
        { mailKey: kept, event: 'published' },
      ],
    ]);
    expect(await ledgerLine(gone)).toMatchObject({ outcome: 'quarantined' });
  });

  it('--since and --max choose among the quarantined, oldest first', async () => {
    const mails = await Promise.all(
      [1, 2, 3].map((n) => inMailbox({ headers: { 'Message-ID': `<q${n}@forms.example>` } })),
    );
    const keys: string[] = [];
    for (const [index, mail] of mails.entries()) {
      const day = new Date(`2026-11-0${index + 1}T00:00:00Z`);
      keys.push(await inLedger(mail, { quarantined: true, mail: { receivedAt: day } }));
    }
    const chosen = async (...options: string[]) => {
      const { printed } = await operateJson('leads', 'replay', '--quarantined', ...options, ...toTest);
      return printed.mails.map(({ mailKey }: { mailKey: string }) => mailKey);
    };
    expect(await chosen('--since', '2026-11-02')).toEqual(keys.slice(1));
    expect(await chosen('--since', '2026-11-01', '--max', '2')).toEqual(keys.slice(0, 2));
  });

  it('a mailbox that can’t be reached is not a mail that is gone; --stored does without', async () => {
    const mailKey = await inLedger(await inMailbox(), { store: null });
    await stage.imap.stop();
    const { code, printed } = await operateJson('leads', 'replay', mailKey, ...toTest, '--yes');
    expect([code, printed.mails]).toMatchObject([1, [{ mailKey, problem: 'connect_failed' }]]);
    expect(stage.published).toEqual([]);
    const stored = await operateJson('leads', 'replay', mailKey, '--stored', ...toTest, '--yes');
    expect([stored.code, stored.printed.mails]).toMatchObject([
      0,
      [{ readFrom: 'stored text', event: 'published' }],
    ]);
  });

  it('an event that the bus refuses leaves the lead stored and unpublished; the next replay publishes it', async () => {
    const mailKey = await inLedger(await inMailbox(), { quarantined: true });
    stage.bus.refuses = true;
    const refused = await operateJson('leads', 'replay', mailKey, ...toTest, '--yes');
    expect([refused.code, refused.printed.mails]).toMatchObject([1, [{ problem: 'InvalidArgument' }]]);
    expect(await ledgerLine(mailKey)).toMatchObject({ leadId: anaId, publishedAt: null });
    stage.bus.refuses = false;
    const { printed } = await operateJson('leads', 'replay', mailKey, ...toTest, '--yes');
    expect(printed.mails).toMatchObject([{ event: 'published' }]);
  });

  it('leaves another stage’s mirrored mail to that stage', async () => {
    const mailKey = await inLedger(await inMailbox(), { store: null, options: { mirror: true } });
    const { code, printed } = await operateJson('leads', 'replay', mailKey, ...toTest, '--yes');
    expect([code, printed.mails]).toMatchObject([1, [{ problem: 'copied_from_another_stage' }]]);
    expect(stage.published).toEqual([]);
  });

  it('--uid reads a mail that the ledger doesn’t know', async () => {
    const { uid, parsed } = await inMailbox();
    const { code, printed } = await operateJson('leads', 'replay', '--uid', String(uid), ...toTest, '--yes');
    expect([code, printed.mails]).toMatchObject([0, [{ mailKey: parsed.mailKey, event: 'published' }]]);
    expect(await ledgerLine(parsed.mailKey)).toMatchObject({
      mailbox: 'INBOX',
      uidValidity: 7,
      uid,
      receivedAt,
    });
    const nowhere = await operate(['leads', 'replay', '--uid', '999', ...toTest, '--yes']);
    expect([nowhere.code, nowhere.out]).toEqual([1, '']);
    expect(nowhere.err).toContain('UID 999 in INBOX');
  });

  it('a mail that was quarantined unread keeps its one line when it is read at last', async () => {
    const mail = await inMailbox();
    const byEnvelope = await inLedger(mail, {
      quarantined: true,
      mail: { mailKey: 'e'.repeat(64), reason: 'attempts_exhausted' },
    });
    for (const way of [[byEnvelope], ['--uid', String(mail.uid)]]) {
      await operateJson('leads', 'replay', ...way, ...toTest, '--yes');
    }
    expect(await stage.database.db.select().from(leadMails)).toMatchObject([
      { mailKey: byEnvelope, leadId: anaId },
    ]);
    expect(stage.published).toHaveLength(1);
  });

  it('finds it also in a renumbered mailbox, where its key says nothing: by Message-ID and arrival', async () => {
    const mail = await inMailbox();
    const line = { mailKey: 'e'.repeat(64), reason: 'attempts_exhausted', uidValidity: 3, uid: 900 };
    await inLedger(mail, { quarantined: true, mail: line });
    const { printed } = await operateJson('leads', 'replay', line.mailKey, ...toTest);
    expect(printed.mails).toMatchObject([
      { mailKey: line.mailKey, readFrom: 'mailbox, by Message-ID', after: { leadId: anaId } },
    ]);
    stage.imap.deliver(mailSource(), receivedAt);
    const twoOfThem = await operateJson('leads', 'replay', line.mailKey, ...toTest);
    expect(twoOfThem.printed.mails).toMatchObject([{ problem: 'nothing_to_read' }]);
  });

  it('one name that is not there, and nothing is done', async () => {
    const mailKey = await inLedger(await inMailbox(), { quarantined: true });
    const { code, out, err } = await operate([
      'leads',
      'replay',
      mailKey,
      'f'.repeat(64),
      ...toTest,
      '--yes',
    ]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('f'.repeat(64));
    expect(await ledgerLine(mailKey)).toMatchObject({ outcome: 'quarantined' });
  });

  it('tells in words what a mail is and would be', async () => {
    const mailKey = await inLedger(await inMailbox(), { quarantined: true });
    const { out } = await operate(['leads', 'replay', mailKey, ...toTest]);
    expect(out.split('\n')).toEqual([
      `Mail ${mailKey}`,
      '  received   2026-11-03T14:15:00.000Z, read from: mailbox',
      '  before     quarantined, unparsed',
      `  after      lead, ${anaId}, store ${riversideStore.storeId}`,
      '  event      LeadCreated would be published',
      'Mails: 1. Dry run: nothing was changed. --yes does it.',
    ]);
  });
});
