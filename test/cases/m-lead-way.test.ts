import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { recordLead } from '../../src/contacts/record-lead.ts';
import { databaseState } from '../../src/db/errors.ts';
import { createBreaker } from '../../src/leads/breaker.ts';
import { leadCreatedEnvelopeSchema } from '../../src/leads/lead-created.ts';
import { markPublished } from '../../src/leads/ledger.ts';
import { persistLeadPipeline } from '../../src/leads/persist.ts';
import { publishLeadCreated } from '../../src/leads/publish.ts';
import { createStoreDirectory } from '../../src/leads/store-directory.ts';
import { takeMail } from '../../src/leads/take-mail.ts';
import type { BusEvent } from '../../src/platform/events.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { startDynamoDb } from '../support/dynamodb.ts';
import { FakeClock, memoryStateTable, recordingLog, recordingMeter } from '../support/fakes.ts';
import { type Hoodiecrow, startHoodiecrow } from '../support/hoodiecrow.ts';
import { imapPoller } from '../support/imap-poller.ts';
import { riversideStore } from '../support/leads.ts';
import { recordingQueue } from '../support/sqs.ts';

/** BASE of the cases page with other fields, headers or body lines. */
function base(
  over: {
    id?: string | null;
    subject?: string;
    lines?: string[];
    to?: string;
    email?: string;
    phone?: string;
  } = {},
): string {
  const {
    id = '<a1@forms.example>',
    subject = 'Web Lead - Ana Lopez',
    lines = [],
    to = 'lead-tracking+OTF0412@leads.example',
    email = 'ana@x.example',
    phone = '(212) 555-0147',
  } = over;
  return [
    'From: web@forms.example',
    `To: ${to}`,
    ...(id === null ? [] : [`Message-ID: ${id}`]),
    `Subject: ${subject}`,
    'Date: Tue, 3 Nov 2026 09:15:00 -0500',
    '',
    'First Name: Ana',
    'Last Name: Lopez',
    `Phone: ${phone}`,
    `Email: ${email}`,
    ...lines,
    '',
  ].join('\r\n');
}

let dynamo: Awaited<ReturnType<typeof startDynamoDb>>;
let imap: Hoodiecrow;
let database: TestDatabase;

beforeAll(async () => {
  dynamo = await startDynamoDb();
});
beforeEach(async () => {
  imap = await startHoodiecrow();
  database = await freshDatabase();
});
afterEach(() => imap.stop());
afterAll(() => dynamo.stop());

const hours = { timeZone: 'America/New_York', quietHours: { start: '21:00', end: '08:00' } };

/** From the mailbox to the task: real IMAP, parser and database; the bus hands each event on twice. */
async function aWay() {
  const events: BusEvent[] = [];
  const log = recordingLog();
  const meter = recordingMeter();
  const clock = new FakeClock();
  const { db } = database;
  const taking = {
    directory: createStoreDirectory(async () => [riversideStore], clock, log),
    breaker: createBreaker(memoryStateTable(), clock, log),
    persist: (record: Parameters<typeof persistLeadPipeline>[1]) => persistLeadPipeline(db, record),
    publish: publishLeadCreated.bind(null, {
      bus: {
        publish: async (event: BusEvent) => {
          events.push(event);
        },
      },
      stage: 'prod',
      log,
      meter,
    }),
    markPublished: (mailKey: string) => markPublished(db, mailKey, clock.now()),
    databaseState,
    retryQueue: recordingQueue(),
    clock,
    log,
    meter,
  };
  const poller = await imapPoller(dynamo, imap.settings, {
    take: (parsed, position) => takeMail(taking, parsed, position),
  });
  async function tick() {
    const before = events.length;
    await poller.tick();
    for (const { source, detailType, detail } of events.slice(before)) {
      const envelope = JSON.parse(JSON.stringify({ source, 'detail-type': detailType, detail }));
      const lead = leadCreatedEnvelopeSchema.parse(envelope).detail;
      for (const _delivery of [1, 2]) await recordLead(db, lead, clock.now(), hours);
    }
  }
  return { tick, events, meter, log };
}

const rows = (table: string, columns = '*') => database.query(`select ${columns} from ${table}`);
const arrivedAt = (time: string) => new Date(`2026-11-03T${time}Z`);

describe('from mailbox to task', () => {
  it('M06 M23 a mail that stays UNSEEN comes again without a second row, event or task', async () => {
    const way = await aWay();
    const uid = imap.deliver(base());
    await way.tick();
    expect(imap.flags(uid)).toContain('\\Seen');
    imap.deliver(base());
    await way.tick();
    await way.tick();
    expect(way.events).toHaveLength(1);
    for (const table of ['leads', 'lead_mails', 'contacts', 'tasks', 'contact_timeline']) {
      expect(await rows(table), table).toHaveLength(1);
    }
  });

  it('M18 mails without Message-ID are leads of their own, and the same ones when polled again', async () => {
    const way = await aWay();
    imap.deliver(base({ id: null }));
    imap.deliver(base({ id: null, email: 'bo@x.example', phone: '(646) 555-0188' }));
    await way.tick();
    imap.deliver(base({ id: null }));
    await way.tick();
    expect(await rows('leads')).toHaveLength(2);
    expect(await rows('tasks')).toHaveLength(2);
    expect(way.events).toHaveLength(2);
  });

  it('M21 M29 M30 receivedAt is the arrival, whatever the Date header says', async () => {
    const way = await aWay();
    const dates = ['Di, 3 Nov 2026 28:15:00 0200', 'garbage', '', 'Tue, 3 Nov 2099 09:15:00 +0000'];
    for (const [index, date] of dates.entries()) {
      const mail = base({ id: `<d${index}@forms.example>`, email: `d${index}@x.example` });
      imap.deliver(mail.replace(/Date: .*/, `Date: ${date}`), arrivedAt('09:15:00'));
    }
    await way.tick();
    const found = await rows('leads', "received_at at time zone 'UTC' as at, id");
    expect(found).toHaveLength(dates.length);
    for (const { id } of found) expect(id).toMatch(/#2026-11-03$/);
  });

  it('M57 booking, changed booking and a web lead of one day: one person, the newest booking, three events', async () => {
    const way = await aWay();
    const booking = (id: string, date: string, time: string) =>
      base({
        id,
        subject: 'Online Intro - Ana Lopez',
        lines: [`Class Date: ${date}`, `Class Time: ${time}`],
      });
    imap.deliver(booking('<b1@x>', '11-07-2026', '9:15 AM'), arrivedAt('09:00:00'));
    await way.tick();
    imap.deliver(booking('<b2@x>', '11-09-2026', '6:00 PM'), arrivedAt('10:00:00'));
    await way.tick();
    imap.deliver(base({ id: '<b3@x>' }), arrivedAt('11:00:00'));
    await way.tick();
    expect(await rows('leads', 'booked_date::text, booked_time')).toEqual([
      { booked_date: '2026-11-09', booked_time: '18:00' },
    ]);
    expect(await rows('tasks')).toHaveLength(1);
    expect((await rows('contact_timeline', 'event_type')).map(({ event_type }) => event_type).sort()).toEqual(
      ['lead.created', 'lead.repeated', 'lead.repeated'],
    );
    expect(await rows('lead_mails')).toHaveLength(3);
  });

  it('M58 a cancelled booking makes no lead, and the known lead learns of it', async () => {
    const way = await aWay();
    imap.deliver(base({ lines: ['Class Date: 11-07-2026', 'Class Time: 9:15 AM'] }), arrivedAt('09:00:00'));
    await way.tick();
    imap.deliver(
      base({ id: '<c1@x>', subject: 'Canceled: Ana Lopez - 09:15am Sat, Nov 7, 2026' }),
      arrivedAt('10:00:00'),
    );
    await way.tick();
    expect(await rows('leads')).toHaveLength(1);
    expect(way.events).toHaveLength(1);
    expect((await rows('contact_timeline', 'event_type')).map(({ event_type }) => event_type).sort()).toEqual(
      ['lead.booking_cancelled', 'lead.created'],
    );
  });

  it('M61 the same person twice on one day: one lead, a repeat, nothing filled is emptied', async () => {
    const way = await aWay();
    imap.deliver(base({ email: 'Ana@X.example' }), arrivedAt('09:00:00'));
    imap.deliver(
      base({ id: '<a2@forms.example>', phone: '+1 212 555 0147' }).replace('Last Name: Lopez\r\n', ''),
      arrivedAt('16:00:00'),
    );
    await way.tick();
    expect(await rows('leads', 'last_name')).toEqual([{ last_name: 'Lopez' }]);
    expect(await rows('lead_mails where repeat')).toHaveLength(1);
    expect(await rows('tasks')).toHaveLength(1);
    expect(await rows("contact_timeline where event_type = 'lead.repeated'")).toHaveLength(1);
  });

  it('M39 M34 text that Postgres would refuse is stored without the damage', async () => {
    const way = await aWay();
    imap.deliver(
      base({ subject: 'Web Lead - =?utf-7?Q?+2AA-?= \u0000' }).replace(
        'First Name: Ana',
        'First Name: An\u0000a',
      ),
    );
    imap.deliver(
      Buffer.from(
        base({ id: '<l1@x>', email: 'jose@x.example', phone: '(646) 555-0188' })
          .replace('First Name: Ana', 'First Name: Jos\u00e9')
          .replace('Date:', 'Content-Type: text/plain; charset=x-unknown\r\nDate:'),
        'latin1',
      ),
    );
    await way.tick();
    const names = (await rows('leads', 'first_name')).map(({ first_name }) => first_name);
    expect(names).toHaveLength(2);
    expect(names).toContain('Ana');
    expect(await rows('tasks')).toHaveLength(2);
  });
});
