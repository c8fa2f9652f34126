import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { recordCallEvent } from '../../src/calls/call-store.ts';
import { readParties } from '../../src/calls/lifecycle.ts';
import { readSnapshot } from '../../src/calls/read-snapshot.ts';
import { saveSnapshot } from '../../src/calls/snapshot-store.ts';
import type { CallLogSnapshot } from '../../src/ringcentral/schemas.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { accountId, anEvent, instantOf } from './events.ts';
import { aRecord, aRecording, aSnapshot, aVoicemail } from './snapshots.ts';

const key = { accountId, telephonySessionId: 's-77aa' };

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  await database.query('truncate calls, call_recordings, voicemails');
  const event = anEvent({ code: 'Disconnected' });
  const parties = readParties(event).map((party) => ({ ...party, store: undefined }));
  await recordCallEvent(database.db, { accountId, event, parties }, instantOf(0));
});

const save = (snapshot: CallLogSnapshot, expected = false) =>
  saveSnapshot(database.db, key, snapshot, readSnapshot(snapshot, expected));

const at = (minute: number) => ({ fetchedAt: `2026-03-04T15:${minute}:00.000Z` });
const nothing = (minute: number) => aSnapshot([aRecord()], at(minute));
const recorded = (minute: number, ...ids: string[]) =>
  aSnapshot(
    ids.map((id) => aRecord({ id: `Q${id}`, recording: aRecording(id) })),
    at(minute),
  );
const isStored = (id: string) =>
  database.query("update call_recordings set stored_at = now(), s3_key = 'x' where recording_id = $1", [id]);

it('keeps records, recordings and voicemails in one request, and returns the session', async () => {
  const requests: number[] = [];
  database.endpoint.onRequest = ({ queries }) => void requests.push(queries.length);
  const snapshot = aSnapshot([aRecord({ recording: aRecording('5512'), message: aVoicemail('6644001') })]);
  const session = await save(snapshot);
  database.endpoint.onRequest = undefined;

  expect(requests).toHaveLength(1);
  expect(session).toMatchObject({
    call: {
      callLogStatus: 'found',
      result: 'Accepted',
      durationMs: 180_000,
      snapshot,
      snapshotAt: new Date(snapshot.fetchedAt),
      recordingAvailable: true,
      recordingStatus: 'available',
      voicemailStatus: 'pending',
    },
    recordings: [{ recordingId: '5512', contentUri: 'https://media.ringcentral.com/5512', storedAt: null }],
    voicemails: [{ messageId: '6644001', storedAt: null }],
  });
});

it('twice is once', async () => {
  const first = await save(recorded(25, '5512'));
  const { call, ...again } = await save(recorded(25, '5512'));
  expect({ ...again, call: { ...call, updatedAt: first.call.updatedAt } }).toEqual(first);
});

it('an older snapshot changes nothing of the row', async () => {
  await save(recorded(30, '5512'));
  const { call } = await save(nothing(25));
  expect(call).toMatchObject({ snapshotAt: new Date(at(30).fetchedAt), recordingStatus: 'available' });
});

it('nor does an older one that knows a recording lose it: its address is kept, the newer one stays', async () => {
  await save(nothing(30));
  const { call, recordings } = await save(recorded(25, '5512'));
  expect(recordings).toHaveLength(1);
  expect(call.snapshotAt).toEqual(new Date(at(30).fetchedAt));
});

it('a newer address of a recording replaces the old one, until it is stored', async () => {
  await save(recorded(25, '5512'));
  const moved = aSnapshot(
    [aRecord({ recording: { id: '5512', contentUri: 'https://media.ringcentral.com/new' } })],
    at(26),
  );
  expect((await save(moved)).recordings[0]?.contentUri).toBe('https://media.ringcentral.com/new');
  await isStored('5512');
  expect((await save(recorded(27, '5512'))).recordings[0]?.contentUri).toBe(
    'https://media.ringcentral.com/new',
  );
});

describe('recording_status', () => {
  const given = (status: string, reason: string | null = null) =>
    database.query('update calls set recording_status = $1, recording_reason = $2', [status, reason]);

  it.each([
    ['pending', nothing(25), 'pending'],
    ['expected', nothing(25), 'expected'],
    ['none', nothing(25), 'pending'],
    ['gave_up', nothing(25), 'gave_up'],
    ['stored', nothing(25), 'stored'],
    ['too_short', nothing(25), 'too_short'],
    ['pending', recorded(25, '5512'), 'available'],
    ['none', recorded(25, '5512'), 'available'],
    ['gave_up', recorded(25, '5512'), 'available'],
    ['stored', recorded(25, '5512'), 'available'],
    ['pending', aSnapshot([aRecord({ result: 'Missed' })], at(25)), 'none'],
    ['available', aSnapshot([aRecord({ result: 'Missed' })], at(25)), 'available'],
    ['stored', aSnapshot([aRecord({ shortRecording: true })], at(25)), 'stored'],
    ['gave_up', aSnapshot([aRecord({ recording: { id: '5512' } })], at(25)), 'expected'],
    ['none', aSnapshot([aRecord({ recording: { id: '5512' } })], at(25)), 'expected'],
  ])('%s, then %j, is %s', async (before, snapshot, after) => {
    await given(before);
    const { call } = await save(snapshot, before === 'expected');
    expect(call.recordingStatus).toBe(after);
  });

  it('is stored once all recordings are, and available again when another one turns up', async () => {
    await save(recorded(25, '5512'));
    await isStored('5512');
    expect((await save(recorded(26, '5512'))).call.recordingStatus).toBe('stored');
    expect((await save(recorded(27, '5512', '5513'))).call.recordingStatus).toBe('available');
  });

  it('waits on while one of them has no address yet', async () => {
    await save(recorded(25, '5512'));
    await isStored('5512');
    const unprepared = aRecord({ id: 'Q2', recording: { id: '5513' } });
    const { call } = await save(aSnapshot([...recorded(26, '5512').records, unprepared], at(26)));
    expect(call.recordingStatus).toBe('expected');
  });
});

it('a recording that another account has is not touched', async () => {
  await save(recorded(25, '5512'));
  await database.query("update call_recordings set account_id = '900999', telephony_session_id = 's-other'");
  const { recordings } = await save(recorded(26, '5512'));
  expect(recordings).toEqual([]);
  expect(await database.query('select account_id, content_uri from call_recordings')).toEqual([
    { account_id: '900999', content_uri: 'https://media.ringcentral.com/5512' },
  ]);
});

it('a step that a message was sent for is done with the snapshot; one that still waits is not', async () => {
  await database.query("update calls set next_step = 'call_log', next_attempt_at = null");
  expect((await save(recorded(25, '5512'))).call.nextStep).toBeNull();
  await database.query("update calls set next_step = 'call_log', next_attempt_at = now()");
  expect((await save(recorded(26, '5512'))).call.nextStep).toBe('call_log');
});

it('of a call that nobody knows is refused', async () => {
  await database.query('truncate calls');
  await expect(save(recorded(25, '5512'))).rejects.toThrow('no such call');
});
