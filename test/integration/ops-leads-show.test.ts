import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordLead } from '../../src/contacts/record-lead.ts';
import {
  buildLeadCreated,
  leadCreatedDetailType,
  leadCreatedEnvelopeSchema,
  leadCreatedSource,
} from '../../src/leads/lead-created.ts';
import { markPublished } from '../../src/leads/ledger.ts';
import { type MailRecord, persistLeadPipeline } from '../../src/leads/persist.ts';
import { type OperatorStage, operate, operateJson, startOperatorStage } from '../ops/operator-stage.ts';
import { aLead, aLedgerMail, riversideStore } from '../support/leads.ts';

let stage: OperatorStage;
beforeEach(async () => {
  stage = await startOperatorStage();
});
afterEach(() => stage.close());

const toTest = ['--stage', 'test'];
const anaId = 'ana@x.example#+12125550147#2026-11-03';
const hours = { timeZone: 'America/New_York', quietHours: { start: '21:00', end: '08:00' } };
const key = (digit: string) => digit.repeat(64);

/** A stored mail; with `upTo: 'task'` also published and worked off by the lead processor at 09:16 in New York. */
async function stored(record: Partial<MailRecord> = {}, { upTo }: { upTo?: 'event' | 'task' } = {}) {
  const { db } = stage.database;
  const persisted = await persistLeadPipeline(db, { mail: aLedgerMail(), lead: aLead(), ...record });
  const { mail, lead } = persisted;
  if (!upTo || !lead) return;
  await markPublished(db, mail.mailKey, new Date('2026-11-03T14:15:30.000Z'));
  if (upTo !== 'task') return;
  const built = buildLeadCreated({ lead, mail }, 'test');
  if ('missing' in built) throw new Error(`lacks ${built.missing.join()}`);
  const event = { source: leadCreatedSource, 'detail-type': leadCreatedDetailType, detail: built.detail };
  const { detail } = leadCreatedEnvelopeSchema.parse(event);
  await recordLead(db, detail, new Date('2026-11-03T14:16:00.000Z'), hours);
}

describe('leads show', () => {
  it.each([
    ['lead id', anaId],
    ['mail key', key('a')],
    ['e-mail', 'Ana@X.example'],
    ['phone', '(212) 555-0147'],
  ])('by %s: mail, row, event, contact, task, timeline', async (kind, who) => {
    await stored({}, { upTo: 'task' });
    const { code, printed } = await operateJson('leads', 'show', who, ...toTest);
    expect([code, printed.query.kind]).toEqual([0, kind]);
    expect(printed.leads).toHaveLength(1);
    expect(printed.leads[0]).toMatchObject({
      lead: { id: anaId, storeId: riversideStore.storeId },
      mails: [{ mailKey: key('a'), mailbox: 'INBOX', uid: 7, publishedAt: '2026-11-03T14:15:30.000Z' }],
      contact: { phone: '+12125550147', lifecycleStage: 'lead' },
      task: { sourceLeadId: anaId, status: 'pending', dueAt: '2026-11-03T14:21:00.000Z' },
      timeline: [{ eventType: 'lead.created' }],
    });
    expect(printed.leads[0].lead).not.toHaveProperty('rawBody');
    expect(printed.queues.map(({ queue }: { queue: string }) => queue)).toEqual([
      'neon-write-dlq-test-us-east-1',
      'neon-write-final-dlq-test-us-east-1',
      'forwarding-dlq-test-us-east-1',
      'lead-processor-queue-test-us-west-2',
      'lead-processor-dlq-test-us-west-2',
    ]);
  });

  it('times are the store’s: its zone from StoresV2, and no mail can colour the terminal', async () => {
    await stage.putStore({ ...riversideStore, timeZone: 'America/Los_Angeles' });
    await stored({ lead: aLead({ lastName: 'Lopez\u001b[31m' }) }, { upTo: 'task' });
    const { code, out } = await operate(['leads', 'show', anaId, ...toTest]);
    expect(code).toBe(0);
    expect(out.split('\n').slice(0, 9)).toEqual([
      `Lead ${anaId}`,
      `  store      orangeTheory-0412, ${riversideStore.storeId}`,
      '  row        Web Lead, Ana Lopez[31m, +12125550147, ana@x.example, parsed, received 2026-11-03 06:15 America/Los_Angeles',
      '  mail       a lead, INBOX UID 7, received 2026-11-03 06:15 America/Los_Angeles',
      `             key ${key('a')}`,
      '  event      LeadCreated, published 2026-11-03 06:15 America/Los_Angeles',
      '  contact    +12125550147, lead, new, last activity 2026-11-03 06:15 America/Los_Angeles',
      expect.stringMatching(
        /^ {2}task {7}pending, priority high, due 2026-11-03 06:21 America\/Los_Angeles, /,
      ),
      '  timeline   lead.created, 2026-11-03 06:15 America/Los_Angeles',
    ]);
    expect(out).not.toContain('\u001b');
  });

  it.each([
    ['not yet', {}, 'not out yet'],
    [
      'a field is missing',
      { lead: aLead({ storeId: null, franchiseId: null, accountId: null }) },
      'none: the lead lacks franchiseId, accountId, storeId',
    ],
  ])('says why there is no event: %s', async (_, record, text) => {
    await stored(record);
    const { out } = await operate(['leads', 'show', anaId, ...toTest]);
    expect(out).toContain(`event      ${text}`);
    expect(out).toContain('task       none\n');
    expect(out).toContain('timeline   nothing');
  });

  it('says which call-back is why a second lead got no task of its own', async () => {
    await stored({}, { upTo: 'task' });
    const next = {
      mail: aLedgerMail({ mailKey: key('b'), uid: 8 }),
      lead: aLead({
        id: 'ana@x.example#+12125550147#2026-11-04',
        receivedAt: new Date('2026-11-04T14:00:00Z'),
      }),
    };
    await stored(next, { upTo: 'task' });
    const { printed } = await operateJson('leads', 'show', 'ana@x.example', ...toTest);
    expect(printed.leads.map(({ lead }: { lead: { id: string } }) => lead.id)).toEqual([next.lead.id, anaId]);
    expect(printed.leads.map(({ task }: { task: { sourceLeadId: string } }) => task.sourceLeadId)).toEqual([
      anaId,
      anaId,
    ]);
    const { out } = await operate(['leads', 'show', next.lead.id, ...toTest]);
    expect(out).toContain(
      'task       none of its own: the contact has a pending call-back (pending, priority high, due 2026-11-03 09:21',
    );
  });

  it('shows mails that made no lead: by key, and by the address that was read in them', async () => {
    const mail = aLedgerMail({
      mailKey: key('c'),
      outcome: 'cancellation',
      reason: 'booking_cancelled',
      parsed: { email: 'cy@x.example' },
    });
    await stored({ mail, lead: null });
    for (const who of [key('c'), 'cy@x.example']) {
      const { code, out } = await operate(['leads', 'show', who, ...toTest]);
      expect([code, out]).toEqual([
        0,
        expect.stringContaining(
          `Mail ${key('c')}\n  mail       cancellation (booking_cancelled): a booking was cancelled`,
        ),
      ]);
    }
  });

  it('finds messages in dead-letter queues, also of a lead that no database has', async () => {
    await stored({}, { upTo: 'event' });
    const event = {
      'detail-type': 'LeadCreated',
      source: 'lead-tracking',
      detail: { mailKey: key('a'), id: anaId },
    };
    await stage.send('lead-processor-dlq', event);
    await stage.send('lead-processor-dlq', { ...event, detail: { mailKey: key('d'), id: 'other' } });
    await stage.send('neon-write-final-dlq', {
      version: 1,
      mail: { mailKey: key('e') },
      lead: { id: 'bo@x.example#+14155550123#2026-11-03', leadEmail: 'bo@x.example', phone: '+14155550123' },
    });

    const ana = await operateJson('leads', 'show', 'ana@x.example', ...toTest);
    const about = ana.printed.queues.filter(({ messages }: { messages: unknown[] }) => messages.length > 0);
    expect(about).toMatchObject([
      {
        queue: 'lead-processor-dlq-test-us-west-2',
        looked: 2,
        messages: [{ kind: 'LeadCreated', mailKey: key('a') }],
      },
    ]);
    const bo = await operate(['leads', 'show', '+1 415 555 0123', ...toTest]);
    expect(bo.code).toBe(0);
    expect(bo.out).toMatch(
      /neon-write-final-dlq-test-us-east-1: .*; 1 of this lead\n {4}\S+, lead to store, .*e{64}/,
    );
  });

  it('looks into no work queue: a look there would be a receive', async () => {
    await stage.send('lead-processor-queue', { detail: { mailKey: key('a') } });
    const { printed } = await operateJson('leads', 'show', anaId, ...toTest);
    const queue = printed.queues.find(({ queue: name }: { queue: string }) =>
      name.startsWith('lead-processor-queue'),
    );
    expect(queue).toEqual({
      queue: 'lead-processor-queue-test-us-west-2',
      depth: { visible: 1, inFlight: 0, delayed: 0 },
      messages: [],
    });
    const [message] = await stage.receive('lead-processor-queue');
    expect(message?.Attributes?.ApproximateReceiveCount).toBe('1');
  });

  it('not found is exit code 1, and what is no name of a lead is refused', async () => {
    const nobody = await operate(['leads', 'show', 'nobody@x.example', ...toTest]);
    expect([nobody.code, nobody.err]).toEqual([1, 'Nothing found of e-mail nobody@x.example in stage test.']);
    const wrong = await operate(['leads', 'show', '12', ...toTest]);
    expect([wrong.code, wrong.out]).toEqual([2, '']);
    expect(wrong.err).toContain("'12' is no lead id, mail key, e-mail address or phone number.");
  });
});
