import pg from 'pg';
import { beforeEach, describe, expect, it } from 'vitest';
import type { NewLead } from '../../src/contacts/new-lead.ts';
import { recordLead } from '../../src/contacts/record-lead.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { aNewLead } from './new-lead.ts';

const hours = { timeZone: 'America/New_York', quietHours: { start: '21:00', end: '08:00' } };
const now = new Date('2026-11-03T14:16:00.000Z');

const otherStoreId = '0d2a4c1e-7b1f-4b57-8a5e-2f8f6f0a0777';
const nextDay = aNewLead({
  id: 'ana@x.example#+12125550147#2026-11-04',
  leadType: 'Online Intro',
  receivedAt: new Date('2026-11-04T15:00:00.000Z'),
  mailReceivedAt: new Date('2026-11-04T15:00:00.000Z'),
  mailKey: 'b'.repeat(64),
});
const repeat = aNewLead({
  repeat: true,
  mailKey: 'c'.repeat(64),
  mailReceivedAt: new Date('2026-11-03T21:00:00.000Z'),
});

let database: TestDatabase;
beforeEach(async () => {
  database = await freshDatabase();
});

const record = (lead: NewLead, at = now) => recordLead(database.db, lead, at, hours);
const contacts = () => database.query('select * from contacts order by store_id');
const tasks = () => database.query('select * from tasks order by store_id, created_at');
const timeline = () =>
  database.query('select * from contact_timeline order by occurred_at, event_type, idempotency_key');

describe('recordLead', () => {
  it('writes contact, task and timeline in one HTTP request', async () => {
    const requests: (readonly string[])[] = [];
    database.endpoint.onRequest = ({ queries }) => void requests.push(queries);
    expect(await record(aNewLead())).toEqual({ taskCreated: true, timelineRows: 1 });
    database.endpoint.onRequest = undefined;

    expect(requests).toHaveLength(1);
    expect(await contacts()).toEqual([
      expect.objectContaining({
        phone: '+12125550147',
        store_id: aNewLead().storeId,
        franchise_id: 'orangeTheory',
        account_id: '900412',
        lifecycle_stage: 'lead',
        lead_status: 'new',
        first_name: 'Ana',
        last_name: 'Lopez',
        last_activity_at: aNewLead().receivedAt,
        lead_status_reason: null,
        customer_summary: null,
        purchase_intent: null,
        goals: null,
        first_attempted_at: null,
        first_connected_at: null,
      }),
    ]);
    expect(await tasks()).toEqual([
      expect.objectContaining({
        contact_phone: '+12125550147',
        source_lead_id: aNewLead().id,
        status: 'pending',
        due_at: new Date('2026-11-03T14:21:00.000Z'),
        suggested_actions: [expect.objectContaining({ action: 'call_back' })],
      }),
    ]);
    expect(await timeline()).toEqual([
      expect.objectContaining({
        contact_phone: '+12125550147',
        franchise_id: 'orangeTheory',
        account_id: '900412',
        store_id: aNewLead().storeId,
        event_type: 'lead.created',
        event_category: 'lead',
        entity_type: 'lead',
        entity_id: aNewLead().id,
        occurred_at: aNewLead().receivedAt,
        actor_type: 'lead_webhook',
        new_value: { leadType: 'Web Lead', firstName: 'Ana', lastName: 'Lopez' },
        idempotency_key: `lead.created:${aNewLead().id}`,
      }),
    ]);
  });

  it('waits three seconds for a lock, and writes nothing then', async () => {
    await record(aNewLead());
    const other = new pg.Client(database.url);
    await other.connect();
    await other.query('begin; select * from contacts for update');
    const started = Date.now();
    await expect(record(nextDay)).rejects.toMatchObject({ code: '55P03' });
    expect(Date.now() - started).toBeGreaterThan(2_500);
    await other.end();
    expect(await tasks()).toHaveLength(1);
    expect(await timeline()).toHaveLength(1);
  });

  it('gives up a statement that takes five seconds', async () => {
    await database.query(`create function slow() returns trigger language plpgsql as
      $$ begin perform pg_sleep(8); return new; end $$`);
    await database.query('create trigger slow before insert on tasks for each row execute function slow()');
    await expect(record(aNewLead())).rejects.toMatchObject({ code: '57014' });
    expect(await contacts()).toEqual([]);
  });

  it('A29 the same event twice changes nothing but updated_at', async () => {
    await record(aNewLead());
    const [task] = await tasks();
    const later = new Date('2026-11-06T14:16:00.000Z');
    expect(await record(aNewLead(), later)).toEqual({ taskCreated: false, timelineRows: 0 });
    expect(await tasks()).toEqual([task]);
    expect(await timeline()).toHaveLength(1);
    expect(await contacts()).toEqual([
      expect.objectContaining({ last_activity_at: aNewLead().receivedAt, updated_at: later }),
    ]);
  });

  it('never moves the last activity back, whatever comes late', async () => {
    await record(nextDay);
    await record(aNewLead());
    expect(await contacts()).toEqual([expect.objectContaining({ last_activity_at: nextDay.receivedAt })]);
    expect((await timeline()).map((row) => row.entity_id)).toEqual([aNewLead().id, nextDay.id]);
  });

  it('gives a contact without activity its first', async () => {
    await record(aNewLead());
    await database.query('update contacts set last_activity_at = null');
    await record(nextDay);
    expect(await contacts()).toEqual([expect.objectContaining({ last_activity_at: nextDay.receivedAt })]);
  });

  it('fills in missing names and overwrites none', async () => {
    await record(aNewLead({ lastName: null }));
    await record({ ...nextDay, firstName: 'Anna', lastName: 'Lopez' });
    expect(await contacts()).toEqual([expect.objectContaining({ first_name: 'Ana', last_name: 'Lopez' })]);
    await record({ ...nextDay, firstName: null, lastName: null });
    expect(await contacts()).toEqual([expect.objectContaining({ first_name: 'Ana', last_name: 'Lopez' })]);
  });

  it('leaves what others write about an existing contact alone', async () => {
    await record(aNewLead());
    await database.query(`update contacts set lifecycle_stage = 'member', lead_status = 'won',
      lead_status_reason = 'joined', customer_summary = 's', purchase_intent = 'high', goals = '{"a":1}',
      first_attempted_at = '2026-11-03T15:00:00Z', first_connected_at = '2026-11-03T15:01:00Z'`);
    const [before] = await contacts();
    await record(nextDay, new Date('2026-11-04T15:01:00.000Z'));
    expect(await contacts()).toEqual([
      {
        ...before,
        last_activity_at: nextDay.receivedAt,
        updated_at: new Date('2026-11-04T15:01:00.000Z'),
      },
    ]);
  });

  it('adds no second task to a pending one of the same contact, but tells it in the timeline', async () => {
    await record(aNewLead());
    expect(await record(nextDay)).toEqual({ taskCreated: false, timelineRows: 1 });
    expect(await tasks()).toEqual([expect.objectContaining({ source_lead_id: aNewLead().id })]);
    expect(await timeline()).toHaveLength(2);
  });

  it('N3 makes a new task once the pending one is done', async () => {
    await record(aNewLead());
    await database.query(`update tasks set status = 'done'`);
    expect(await record(nextDay)).toMatchObject({ taskCreated: true });
    // The first lead's event, delivered again, doesn't reopen it.
    expect(await record(aNewLead())).toMatchObject({ taskCreated: false });
    expect((await tasks()).map(({ source_lead_id, status }) => [source_lead_id, status])).toEqual([
      [aNewLead().id, 'done'],
      [nextDay.id, 'pending'],
    ]);
  });

  it('gives two stores of one account a contact and a task each', async () => {
    await record(aNewLead());
    const other = aNewLead({
      id: `${aNewLead().id}#${otherStoreId}`,
      storeId: otherStoreId,
      mailKey: 'd'.repeat(64),
    });
    expect(await record(other)).toEqual({ taskCreated: true, timelineRows: 1 });
    expect((await contacts()).map((row) => row.store_id)).toEqual([otherStoreId, aNewLead().storeId]);
    expect((await tasks()).map((row) => row.store_id)).toEqual([otherStoreId, aNewLead().storeId]);
  });

  it('M61 tells of a repeat, once a mail', async () => {
    await record(aNewLead());
    expect(await record(repeat)).toEqual({ taskCreated: false, timelineRows: 1 });
    expect(await record(repeat)).toEqual({ taskCreated: false, timelineRows: 0 });
    expect(await timeline()).toEqual([
      expect.objectContaining({ event_type: 'lead.created', occurred_at: aNewLead().receivedAt }),
      expect.objectContaining({
        event_type: 'lead.repeated',
        event_category: 'lead',
        entity_type: 'lead',
        entity_id: aNewLead().id,
        occurred_at: repeat.mailReceivedAt,
        actor_type: 'lead_webhook',
        idempotency_key: `lead.repeated:${repeat.mailKey}`,
      }),
    ]);
  });

  it('a repeat whose first event comes later, or never, still creates the lead', async () => {
    expect(await record(repeat)).toEqual({ taskCreated: true, timelineRows: 2 });
    expect(await record(aNewLead())).toEqual({ taskCreated: false, timelineRows: 0 });
    expect((await timeline()).map(({ event_type, occurred_at }) => [event_type, occurred_at])).toEqual([
      ['lead.created', aNewLead().receivedAt],
      ['lead.repeated', repeat.mailReceivedAt],
    ]);
    expect(await contacts()).toEqual([expect.objectContaining({ last_activity_at: aNewLead().receivedAt })]);
  });

  it('takes an event that is three days old: activity as it was, five minutes from now', async () => {
    const threeDaysLater = new Date('2026-11-06T14:16:00.000Z');
    await record(aNewLead(), threeDaysLater);
    expect(await contacts()).toEqual([expect.objectContaining({ last_activity_at: aNewLead().receivedAt })]);
    expect(await tasks()).toEqual([
      expect.objectContaining({ due_at: new Date('2026-11-06T14:21:00.000Z') }),
    ]);
    expect(await timeline()).toEqual([expect.objectContaining({ occurred_at: aNewLead().receivedAt })]);
  });

  it('keeps a first name that looks like JSON a text', async () => {
    await record(aNewLead({ firstName: '10.5', lastName: 'true' }));
    expect(await timeline()).toEqual([
      expect.objectContaining({ new_value: { leadType: 'Web Lead', firstName: '10.5', lastName: 'true' } }),
    ]);
  });

  it('writes nothing at all when one statement fails', async () => {
    const bad = aNewLead({ storeId: 'not-a-uuid' });
    await expect(record(bad)).rejects.toMatchObject({ code: '22P02' });
    expect([...(await contacts()), ...(await tasks()), ...(await timeline())]).toEqual([]);
  });

  it('N1 survives the events of one person all at once', async () => {
    const leads = Array.from({ length: 8 }, (_, index) => [
      aNewLead({ id: `ana@x.example#+12125550147#${index}` }),
      { ...repeat, id: `ana@x.example#+12125550147#${index}`, mailKey: String(index).repeat(64) },
    ]).flat();
    const results = await Promise.all(leads.map((lead) => record(lead)));
    expect(results.filter(({ taskCreated }) => taskCreated)).toHaveLength(1);
    expect(await contacts()).toHaveLength(1);
    expect(await tasks()).toHaveLength(1);
    expect(await timeline()).toHaveLength(16);
  });
});
