import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { toDatabaseError } from '../../src/db/errors.ts';
import { retryTransient } from '../../src/db/retry.ts';
import type { LeadInput } from '../../src/leads/lead.ts';
import { leadId } from '../../src/leads/lead-id.ts';
import { type MailRecord, persistLeadPipeline } from '../../src/leads/persist.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { aLead, aLedgerMail } from '../support/leads.ts';

const storeA = '6f1c2a9e-2a55-4b1e-9a53-0d7f3f0b0412';
const storeB = '0d2a4c1e-7b1f-4b57-8a5e-2f8f6f0a0777';
const dayStart = new Date('2026-11-03T08:00:00.000Z').getTime();

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  await database.query('truncate leads, lead_mails, contact_timeline');
});

function record(name: string, minute: number, overrides: Partial<LeadInput>): MailRecord {
  const receivedAt = new Date(dayStart + minute * 60_000);
  const lead = aLead({ ...overrides, receivedAt });
  const mailKey = createHash('sha256').update(name).digest('hex');
  return { mail: aLedgerMail({ mailKey, receivedAt }), lead: { ...lead, id: leadId(lead) } };
}

const booking = fc.option(
  fc.record({
    bookedDate: fc.integer({ min: 10, max: 28 }).map((day) => `2026-11-${day}`),
    bookedTime: fc.integer({ min: 10, max: 20 }).map((hour) => `${hour}:30`),
  }),
  { nil: { bookedDate: null, bookedTime: null } },
);
/** Minutes of one day, each with a mail; then an order in which they arrive, some of them twice. */
const mails = (storeId: fc.Arbitrary<string | null>) =>
  fc
    .uniqueArray(
      fc.record({ minute: fc.nat(600), booking, storeId, leadType: fc.constantFrom('Web Lead', 'Tour') }),
      {
        minLength: 1,
        maxLength: 5,
        selector: ({ minute }) => minute,
      },
    )
    .chain((list) =>
      fc.record({
        list: fc.constant(list),
        order: fc
          .array(fc.nat(list.length - 1), { maxLength: 4 })
          .chain((doubles) =>
            fc.shuffledSubarray([...list.keys(), ...doubles], { minLength: list.length + doubles.length }),
          ),
      }),
    );

let person = 0;
const nextPerson = () => ({ leadEmail: `p${++person}@x.example` });

describe('mails in any order, some of them more than once', { timeout: 60_000 }, () => {
  it('end as one lead with the newest booking, the newest type and one mail that is no repeat', async () => {
    await fc.assert(
      fc.asyncProperty(mails(fc.constantFrom(storeA, null)), async ({ list, order }) => {
        const { leadEmail } = nextPerson();
        const records = list.map((mail) =>
          record(`${leadEmail} ${mail.minute}`, mail.minute, {
            leadEmail,
            leadType: mail.leadType,
            ...mail.booking,
            ...(mail.storeId
              ? {}
              : { storeId: null, franchiseId: null, accountId: null, parseStatus: 'unmapped' }),
          }),
        );
        for (const index of order) {
          const next = records[index];
          if (next) await persistLeadPipeline(database.db, next);
        }

        const newest = [...list].sort((a, b) => b.minute - a.minute);
        const booked = newest.find((mail) => mail.booking.bookedDate !== null)?.booking;
        const mapped = list.some((mail) => mail.storeId);
        const rows = await database.query(
          `select lead_type, booked_date::text, booked_time, store_id, franchise_id, last_mail_at, parse_status
           from leads where lead_email = $1`,
          [leadEmail],
        );
        expect(rows).toEqual([
          {
            lead_type: newest[0]?.leadType,
            booked_date: booked?.bookedDate ?? null,
            booked_time: booked?.bookedTime ?? null,
            store_id: mapped ? storeA : null,
            franchise_id: mapped ? 'orangeTheory' : null,
            last_mail_at: new Date(dayStart + (newest[0]?.minute ?? 0) * 60_000),
            parse_status: mapped ? 'parsed' : 'unmapped',
          },
        ]);
        const lines = await database.query(
          'select mail_key from lead_mails join leads on leads.id = lead_id where lead_email = $1 and not repeat',
          [leadEmail],
        );
        expect(lines).toEqual([{ mail_key: records[order[0] ?? 0]?.mail.mailKey }]);
      }),
      { numRuns: 25 },
    );
  });

  it('of two stores end as one lead a store, and none holds the other’s mail', async () => {
    await fc.assert(
      fc.asyncProperty(mails(fc.constantFrom(storeA, storeB)), async ({ list, order }) => {
        const { leadEmail } = nextPerson();
        const storeOf = new Map<string, string | null>();
        const records = list.map((mail) => {
          const next = record(`${leadEmail} ${mail.minute}`, mail.minute, {
            leadEmail,
            storeId: mail.storeId,
          });
          storeOf.set(next.mail.mailKey, mail.storeId);
          return next;
        });
        for (const index of order) {
          const next = records[index];
          if (next) await persistLeadPipeline(database.db, next);
        }
        const lines = await database.query(
          'select mail_key, store_id, repeat from lead_mails join leads on leads.id = lead_id where lead_email = $1',
          [leadEmail],
        );
        expect(new Map(lines.map((line) => [line.mail_key, line.store_id]))).toEqual(storeOf);
        const stores = new Set(storeOf.values()).size;
        expect(lines.filter((line) => !line.repeat)).toHaveLength(stores);
        const leads = await database.query('select from leads where lead_email = $1', [leadEmail]);
        expect(leads).toHaveLength(stores);
      }),
      { numRuns: 15 },
    );
  });
});

describe('16 writers at once', { timeout: 60_000 }, () => {
  it('on the same people: no deadlock, one lead a person and store, one first mail a lead', async () => {
    const people = ['ana@x.example', 'bea@x.example', 'cem@x.example'];
    const records = people.flatMap((leadEmail) =>
      [0, 1, 2, 3].map((minute) =>
        record(`${leadEmail} ${minute}`, minute, { leadEmail, storeId: minute % 2 === 0 ? storeA : storeB }),
      ),
    );
    // Each writer has all mails, in an order of its own.
    const writers = Array.from({ length: 16 }, (_, writer) =>
      records.map((_, index) => records[(index * 5 + writer * 7) % records.length]),
    );
    const failures: unknown[] = [];
    const write = (next: MailRecord) =>
      persistLeadPipeline(database.db, next).catch((error: unknown) => {
        failures.push(toDatabaseError(error)?.code ?? error);
        throw error;
      });
    await Promise.all(
      writers.map(async (queue) => {
        for (const next of queue) {
          // A machine under load may let a lock wait run out; a deadlock would be a fault of ours.
          if (next) await retryTransient(() => write(next), { deadline: new Date(Date.now() + 30_000) });
        }
      }),
    );
    expect(failures.filter((code) => code !== '55P03')).toEqual([]);
    const leads = await database.query(
      `select lead_email, store_id, count(*)::int as mails, count(*) filter (where not repeat)::int as first
       from lead_mails join leads on leads.id = lead_id group by leads.id, lead_email, store_id`,
    );
    expect(leads).toHaveLength(people.length * 2);
    for (const lead of leads) expect(lead).toMatchObject({ mails: 2, first: 1 });
  });

  it('on one mail that each of them reads as another person: one lead, the first one’s', async () => {
    const readings = Array.from({ length: 16 }, (_, index) =>
      record('one mail', 0, { leadEmail: `reading${index}@x.example` }),
    );
    const stored = await Promise.all(readings.map((next) => persistLeadPipeline(database.db, next)));
    expect(new Set(stored.map(({ lead }) => lead?.id)).size).toBe(1);
    expect(await database.query('select from leads')).toHaveLength(1);
  });

  it('with mails of one second and no phone: every mail its own lead', async () => {
    const records = Array.from({ length: 16 }, (_, index) => record(`mail ${index}`, 0, { phone: null }));
    await Promise.all(records.map((next) => persistLeadPipeline(database.db, next)));
    const [row] = await database.query('select count(distinct lead_id)::int as leads from lead_mails');
    expect(row).toEqual({ leads: 16 });
  });
});
