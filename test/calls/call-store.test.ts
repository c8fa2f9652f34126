import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadSession, recordCallEvent } from '../../src/calls/call-store.ts';
import { type CallStore, readParties } from '../../src/calls/lifecycle.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { accountId, anEvent, business, caller, type EventOptions, instantOf } from './events.ts';

const riverside = { storeId: '6f1c2a9e-2a55-4b1e-9a53-0d7f3f0b0412', franchiseId: 'orangeTheory' };
const key = { accountId, telephonySessionId: 's-77aa' };

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  await database.query('truncate calls, call_recordings, contact_timeline');
});

/** Records an event as the processor does, at a store that lists our number. */
async function record(options: EventOptions, store: CallStore | undefined = riverside) {
  const event = anEvent(options);
  const parties = readParties(event).map((party) => ({
    ...party,
    store: party.businessNumber ? store : undefined,
  }));
  return recordCallEvent(database.db, { accountId, event, parties }, instantOf(0));
}

const callRow = async () => {
  const [row] = await database.query('select * from calls');
  return row;
};
const timeline = () =>
  database.query('select * from contact_timeline order by occurred_at, event_type, idempotency_key');

describe('recordCallEvent', () => {
  it('writes row and timeline in one request, and returns the session', async () => {
    const requests: (readonly string[])[] = [];
    database.endpoint.onRequest = ({ queries }) => void requests.push(queries);
    const stored = await record({ sequence: 2, code: 'Proceeding', at: 1 });
    database.endpoint.onRequest = undefined;

    expect(requests).toHaveLength(1);
    expect(stored).toMatchObject({ call: { status: 'proceeding' }, recordings: [], timelineRows: 1 });
    expect(await callRow()).toMatchObject({
      account_id: accountId,
      telephony_session_id: 's-77aa',
      session_id: '31880011005',
      direction: 'inbound',
      from_number: '+14155550111',
      to_number: '+12065550199',
      contact_phone: '+14155550111',
      store_id: riverside.storeId,
      franchise_id: 'orangeTheory',
      extension_id: '900204',
      extension_ids: ['900204'],
      status: 'proceeding',
      started_at: instantOf(1),
      ended_at: null,
      last_sequence: '2',
      last_event_at: instantOf(1),
      call_log_status: 'none',
      recording_available: false,
      recording_status: 'pending',
      voicemail_status: 'none',
      snapshot: null,
      next_step: null,
    });
    expect(await timeline()).toEqual([
      expect.objectContaining({
        contact_phone: '+14155550111',
        store_id: riverside.storeId,
        event_type: 'call.proceeding',
        entity_id: 's-77aa',
        occurred_at: instantOf(1),
        actor_type: 'ringcentral_webhook',
        idempotency_key: 'call.proceeding:s-77aa:p-77aa-1:2',
      }),
    ]);
  });

  it('R20 never downgrades: a late lower sequence adds its timeline row and moves nothing back', async () => {
    await record({ sequence: 9, code: 'Disconnected', at: 75 });
    const late = await record({ sequence: 6, code: 'Answered', at: 8 });
    expect(late).toMatchObject({ timelineRows: 1 });
    expect(await callRow()).toMatchObject({
      status: 'disconnected',
      ended_at: instantOf(75),
      last_sequence: '9',
      last_event_at: instantOf(75),
      started_at: instantOf(8),
      call_log_status: 'pending',
    });
    expect((await timeline()).map((row) => row.event_type)).toEqual(['call.answered', 'call.disconnected']);
  });

  it('R21 the same event of two subscriptions is one', async () => {
    await record({ sequence: 3, code: 'Answered', at: 8 });
    const { updated_at: _, ...before } = (await callRow()) ?? {};
    const again = await record({
      sequence: 3,
      code: 'Answered',
      at: 8,
      frame: { uuid: 'other', subscriptionId: 'other' },
    });
    expect(again).toMatchObject({ timelineRows: 0 });
    expect(await callRow()).toMatchObject(before);
    expect(await timeline()).toHaveLength(1);
  });

  it('R24 keeps anonymous calls apart, and out of every timeline', async () => {
    for (const telephonySessionId of ['s-1', 's-2']) {
      await record({ telephonySessionId, party: { from: { name: 'Anonymous' } } });
    }
    expect(await database.query('select contact_phone, from_number, store_id from calls')).toEqual(
      Array(2).fill({ contact_phone: null, from_number: null, store_id: riverside.storeId }),
    );
    expect(await timeline()).toEqual([]);
  });

  it('keeps a call without a store, and tells no timeline of it', async () => {
    const event = anEvent();
    const parties = readParties(event).map((party) => ({ ...party, store: undefined }));
    expect(await recordCallEvent(database.db, { accountId, event, parties }, instantOf(0))).toMatchObject({
      call: { storeId: null, contactPhone: '+14155550111' },
      timelineRows: 0,
    });
    expect(await timeline()).toEqual([]);
  });

  it('never writes a contact', async () => {
    await record({ code: 'Answered' });
    expect(await database.query('select * from contacts')).toEqual([]);
  });

  it('tells the session`s timeline of a leg that shows no numbers itself', async () => {
    await record({ sequence: 1 });
    const leg = { from: caller, to: { name: 'Dana Roe', extensionId: '900205' }, extensionId: '900205' };
    const stored = await record({ sequence: 2, code: 'Answered', partyId: 'p-77aa-2', at: 9, party: leg });
    expect(stored).toMatchObject({ timelineRows: 1, call: { storeId: riverside.storeId } });
    expect((await timeline()).map((row) => [row.event_type, row.contact_phone, row.store_id])).toEqual([
      ['call.setup', '+14155550111', riverside.storeId],
      ['call.answered', '+14155550111', riverside.storeId],
    ]);
    expect(await callRow()).toMatchObject({ extension_ids: ['900204', '900205'] });
  });

  it('tells of a leg that overtook the event with the numbers as well, once', async () => {
    const leg = { from: caller, to: { name: 'Dana Roe', extensionId: '900205' }, extensionId: '900205' };
    const answered = { sequence: 2, code: 'Answered', partyId: 'p-77aa-2', at: 9, party: leg };
    expect(await record(answered)).toMatchObject({ timelineRows: 0 });
    expect(await timeline()).toEqual([]);
    const stored = await record({ sequence: 1 });
    expect(stored).toMatchObject({ timelineRows: 2, call: { untold: {} } });
    await record(answered);
    expect((await timeline()).map((row) => [row.event_type, row.occurred_at, row.store_id])).toEqual([
      ['call.setup', instantOf(0), riverside.storeId],
      ['call.answered', instantOf(9), riverside.storeId],
    ]);
  });

  it('takes the real session id over a conference`s "0"', async () => {
    await record({ sequence: 1, body: { sessionId: '0' } });
    await record({ sequence: 2 });
    await record({ sequence: 3, body: { sessionId: '0' } });
    expect(await callRow()).toMatchObject({ session_id: '31880011005' });
  });

  it('R2 expects a recording from the event on that names one', async () => {
    await record({ sequence: 5, code: 'Disconnected', at: 60 });
    await record({ sequence: 3, code: 'Answered', at: 8, party: { recordings: [{ id: '5512' }] } });
    expect(await callRow()).toMatchObject({ recording_status: 'expected' });
  });

  it('gives back the recordings that are known', async () => {
    await database.query(
      `insert into call_recordings (recording_id, account_id, telephony_session_id, content_uri)
       values ('5512', $1, 's-77aa', 'https://media.example/1'), ('5513', $1, 's-other', 'https://media.example/2')`,
      [accountId],
    );
    const known = [expect.objectContaining({ recordingId: '5512', transcriptionStatus: 'none' })];
    expect((await record({})).recordings).toEqual(known);
    expect(await loadSession(database.db, key)).toMatchObject({
      call: { status: 'setup' },
      recordings: known,
    });
    expect(await loadSession(database.db, { ...key, telephonySessionId: 's-none' })).toBeUndefined();
  });
});

describe('what the call log has written', () => {
  const later = { sequence: 9, code: 'Disconnected', at: 300 };
  const found = `update calls set call_log_status = 'found', result = 'Accepted', duration_ms = 52000, snapshot = '{"a":1}',
    snapshot_at = '2026-03-04T15:30:00Z', recording_available = true, recording_status = 'stored',
    voicemail_status = 'pending', next_step = 'voicemail', next_attempt_at = '2026-03-04T15:40:00Z'`;

  it('stays as it is through later and repeated events', async () => {
    await record({ sequence: 5, code: 'Disconnected', at: 60 });
    await database.query(found);
    const { status: _, ...before } = (await callRow()) ?? {};
    for (const event of [later, later, { sequence: 1 }]) await record(event);
    expect(await callRow()).toMatchObject({
      ...before,
      started_at: instantOf(0),
      ended_at: instantOf(300),
      last_sequence: '9',
      last_event_at: instantOf(300),
      party_sequence: '1',
      updated_at: expect.any(Date),
    });
  });

  it('is asked for again when a later Disconnected comes after it was given up', async () => {
    await record({ sequence: 5, code: 'Disconnected', at: 60 });
    await database.query(`update calls set call_log_status = 'failed'`);
    for (const event of [
      { sequence: 5, code: 'Disconnected', at: 60 },
      { sequence: 4, code: 'Disconnected', at: 50, partyId: 'p-77aa-2' },
      { sequence: 6, code: 'Answered', at: 61, partyId: 'p-77aa-2' },
    ]) {
      await record(event);
      expect(await callRow()).toMatchObject({ call_log_status: 'failed' });
    }
    await record(later);
    expect(await callRow()).toMatchObject({ call_log_status: 'pending' });
  });

  it('"none" gives way to a recording that a newer event names, not to a repeated one', async () => {
    const named = { party: { recordings: [{ id: '5512' }] } };
    await record({ sequence: 5, code: 'Disconnected', at: 60, ...named });
    await database.query(`update calls set recording_status = 'none', recording_reason = 'not_connected'`);
    await record({ sequence: 5, code: 'Disconnected', at: 60, ...named });
    expect(await callRow()).toMatchObject({ recording_status: 'none', recording_reason: 'not_connected' });
    await record({ ...later, ...named });
    expect(await callRow()).toMatchObject({ recording_status: 'expected', recording_reason: null });
  });
});

describe('any order', () => {
  const moment = fc.record({
    party: fc.constantFrom('p-1', 'p-2', 'p-3'),
    sequence: fc.integer({ min: 1, max: 12 }),
    code: fc.constantFrom('Setup', 'Proceeding', 'Answered', 'Hold', 'VoiceMail', 'Disconnected', 'Gone'),
    seconds: fc.nat(600),
    recorded: fc.boolean(),
    anonymous: fc.boolean(),
  });
  /** Events of one session, and an order in which they come, some of them twice. */
  const session = fc
    .uniqueArray(moment, {
      minLength: 1,
      maxLength: 7,
      selector: ({ party, sequence }) => `${party} ${sequence}`,
    })
    .chain((moments) =>
      fc.record({
        moments: fc.constant(moments),
        order: fc.array(fc.nat(moments.length - 1), { maxLength: 3 }).chain((doubles) =>
          fc.shuffledSubarray([...moments.keys(), ...doubles], {
            minLength: moments.length + doubles.length,
          }),
        ),
        together: fc.boolean(),
      }),
    );

  it('R20 R21 and any repetition, one by one or at once, ends in the same rows', async () => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(session, async ({ moments, order, together }) => {
        const telephonySessionId = `s-${++number}`;
        const events = moments.map(({ party, sequence, code, seconds, recorded, anonymous }) => ({
          telephonySessionId,
          partyId: party,
          sequence,
          code,
          at: seconds,
          party: {
            extensionId: `ext ${party}`,
            from: anonymous ? {} : caller,
            to: { ...business, extensionId: `ext ${party}` },
            ...(recorded ? { recordings: [{ id: '1' }] } : {}),
          },
        }));
        const arrivals = order.flatMap((index) => events[index] ?? []);
        if (together) await Promise.all(arrivals.map((event) => record(event)));
        else for (const event of arrivals) await record(event);

        const [newest] = moments.toSorted((a, b) => b.sequence - a.sequence || (a.party < b.party ? 1 : -1));
        const ended = newest?.code === 'Disconnected' || newest?.code === 'Gone';
        const numbered = moments.filter(({ anonymous }) => !anonymous);
        const answered = (numbered.length > 0 ? numbered : moments).filter(({ code }) => code === 'Answered');
        const [row] = await database.query('select * from calls where telephony_session_id = $1', [
          telephonySessionId,
        ]);
        expect(row).toMatchObject({
          status: newest?.code.toLowerCase(),
          last_sequence: String(newest?.sequence),
          last_event_at: instantOf(newest?.seconds ?? 0),
          ended_at: ended ? instantOf(newest?.seconds ?? 0) : null,
          started_at: instantOf(Math.min(...moments.map(({ seconds }) => seconds))),
          contact_phone: numbered.length > 0 ? '+14155550111' : null,
          store_id: riverside.storeId,
          extension_ids: [...new Set(moments.map(({ party }) => `ext ${party}`))].sort(),
          call_log_status: moments.some(({ code }) => code === 'Disconnected') ? 'pending' : 'none',
          recording_status: moments.some(({ recorded }) => recorded) ? 'expected' : 'pending',
        });
        if (answered.length > 0) {
          const first = Math.min(...answered.map(({ sequence }) => sequence));
          expect(row?.party_sequence).toBe(String(first));
          expect(answered.map(({ party }) => `ext ${party}`)).toContain(row?.extension_id);
        }
        const told = await database.query(
          'select idempotency_key, contact_phone from contact_timeline where entity_id = $1',
          [telephonySessionId],
        );
        const keys = moments.map(
          ({ code, party, sequence }) =>
            `call.${code.toLowerCase()}:${telephonySessionId}:${party}:${sequence}`,
        );
        expect(told.map((one) => one.idempotency_key).toSorted()).toEqual(
          numbered.length > 0 ? keys.toSorted() : [],
        );
        expect(Object.keys(row?.untold ?? {})).toHaveLength(numbered.length > 0 ? 0 : moments.length);
      }),
      { numRuns: 30 },
    );
  }, 60_000);
});
