import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CallLogRequest, takeCallLog } from '../../src/calls/call-log-step.ts';
import { loadSession, recordCallEvent } from '../../src/calls/call-store.ts';
import { readParties } from '../../src/calls/lifecycle.ts';
import type { CallLogOutcome, FetchCallLogOptions } from '../../src/ringcentral/call-log.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { FakeClock, recordingLog, recordingMeter } from '../support/fakes.ts';
import { accountId, anEvent, business, type EventOptions, instantOf } from './events.ts';
import { aRecord, aRecording, aSnapshot } from './snapshots.ts';

const key = { accountId, telephonySessionId: 's-77aa' };
/** Of the Disconnected. */
const endedAt = instantOf(180);

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  await database.query('truncate calls, call_recordings, voicemails');
  await hears({ code: 'Setup' });
  await hears({ code: 'Disconnected', sequence: 9, at: 180 });
});

async function hears(options: EventOptions): Promise<void> {
  const event = anEvent(options);
  const parties = readParties(event).map((party) => ({ ...party, store: undefined }));
  await recordCallEvent(database.db, { accountId, event, parties }, instantOf(0));
}

/** Takes the call log of the session so many seconds after its end, from a RingCentral that answers so. */
async function take(outcome: CallLogOutcome, more: Partial<CallLogRequest> & { afterSeconds?: number } = {}) {
  const { afterSeconds = 90, ...request } = more;
  const session = await loadSession(database.db, key);
  if (!session) throw new Error('no session');
  const asked: FetchCallLogOptions[] = [];
  const log = recordingLog();
  const meter = recordingMeter();
  const deps = {
    neon: { run: <T>(work: (db: TestDatabase['db']) => Promise<T>) => work(database.db) },
    callLog: {
      fetchCallLog: async (_session: string, _account: string, options: FetchCallLogOptions) => {
        asked.push(options);
        return outcome;
      },
    },
    clock: new FakeClock(new Date(endedAt.getTime() + afterSeconds * 1000).toISOString()),
    log,
    meter,
  };
  const full = { call: session.call, endedAt, receiveCount: 1, level: 'account' as const, ...request };
  return { result: await takeCallLog(deps, full, new Date(0)), asked, log, meter };
}

const found = (...records: ReturnType<typeof aRecord>[]): CallLogOutcome => ({
  kind: 'ok',
  value: aSnapshot(records),
});
const surface = 'account_call_log';
const callRow = async () => (await database.query('select * from calls'))[0];

describe('what it asks for', () => {
  it('the session since its first event, with the party`s extension and the others', async () => {
    await hears({ code: 'Answered', sequence: 3, at: 9, partyId: 'p-2', party: { extensionId: '900205' } });
    const { asked } = await take(found(), { partyExtensionId: '900205' });
    expect(asked).toEqual([
      {
        firstEventAt: instantOf(0),
        sessionId: '31880011005',
        partyExtensionId: '900205',
        otherExtensionIds: ['900204', '900205'],
        level: 'account',
      },
    ]);
  });

  it('of a party without an extension: the row`s own', async () => {
    const { asked } = await take(found());
    expect(asked).toMatchObject([{ partyExtensionId: business.extensionId }]);
  });

  it('the extension alone, once the account`s call log has been refused', async () => {
    const { asked } = await take(found(), { level: 'extension' });
    expect(asked).toMatchObject([{ level: 'extension' }]);
  });
});

describe('what it makes of the answer', () => {
  it('a snapshot is stored, and told of', async () => {
    const { result, log } = await take(found(aRecord({ recording: aRecording('5512') })));
    expect(result).toMatchObject({ session: { recordings: [{ recordingId: '5512' }] } });
    expect(log.lines).toEqual([
      {
        level: 'info',
        event: 'ringcentral.recording_availability_observed',
        fields: {
          account_id: accountId,
          telephony_session_id: 's-77aa',
          api_has_recording: true,
          api_recording_id: '5512',
          recordings: 1,
          coverage: 'account',
        },
      },
    ]);
  });

  it('a call that will have no recording is counted once', async () => {
    const answer = found(aRecord({ result: 'Missed' }));
    const first = await take(answer);
    expect(first.meter.totals).toEqual({ CallsWithoutRecording: 1 });
    expect(first.log.lines.at(-1)).toMatchObject({
      event: 'call.without_recording',
      fields: { recording_status: 'none', reason: 'not_connected' },
    });
    expect((await take(answer)).meter.totals).toEqual({});
  });

  it.each([
    [{ kind: 'no_extension' }, { kind: 'done' }],
    [
      { kind: 'forbidden', surface: 'extension_call_log' },
      { kind: 'failed', reason: 'call_log_forbidden' },
    ],
    [
      { kind: 'configuration', surface, reason: 'app_permission' },
      { kind: 'failed', reason: 'app_permission' },
    ],
    [
      { kind: 'no_slot', surface, group: 'heavy', waitSeconds: 8 },
      { kind: 'park', step: 'call_log', waitSeconds: 8, group: 'heavy' },
    ],
    [
      { kind: 'no_slot', surface: 'oauth_token', group: 'auth', waitSeconds: 8 },
      { kind: 'park', step: 'call_log', waitSeconds: 8, group: 'auth' },
    ],
    [
      { kind: 'no_slot', surface: 'extension_call_log', group: 'heavy', waitSeconds: 8 },
      { kind: 'park', step: 'extension_call_log', waitSeconds: 8, group: 'heavy' },
    ],
    [
      { kind: 'login_refused', waitSeconds: 300 },
      { kind: 'park', step: 'call_log', waitSeconds: 300, group: 'auth' },
    ],
    [
      { kind: 'rate_limited', surface, group: 'heavy', retryAfterSeconds: 60 },
      { kind: 'redrive', step: 'call_log', retryAfterSeconds: 60, group: 'heavy' },
    ],
    [
      { kind: 'retry', surface, reason: 'server_error' },
      { kind: 'retry', reason: 'server_error' },
    ],
  ] as [CallLogOutcome, object][])('%j is %j', async (outcome, expected) => {
    const before = await callRow();
    const { result } = await take(outcome);
    expect(result).toEqual(expected);
    expect(await callRow()).toEqual(before);
  });
});

describe('a call that is not listed', () => {
  const missing: CallLogOutcome = { kind: 'not_found', surface };
  const running = found(aRecord({ result: 'In Progress' }));

  it.each([
    ['an empty list', found(), 90, 'not_listed', 210],
    ['a 404', missing, 90, 'not_listed', 210],
    ['in progress', running, 90, 'in_progress', 210],
    ['an empty list', found(), 299, 'not_listed', 1],
    ['an empty list', found(), 300, 'not_listed', 630],
    ['in progress', running, 600, 'in_progress', 330],
    ['an empty list', found(), 899, 'not_listed', 31],
  ])('%s %#, %i s after its end: again at 5 min or 15 min 30 s', async (_, answer, seconds, reason, wait) => {
    const { result } = await take(answer, { afterSeconds: seconds });
    expect(result).toEqual({ kind: 'retry', reason, afterSeconds: wait });
    expect(await callRow()).toMatchObject({ call_log_status: 'pending', snapshot: null });
  });

  it.each([900, 930, 90_000])('%i s after its end ends as failed, without an error', async (seconds) => {
    const { result } = await take(found(), { afterSeconds: seconds });
    expect(result).toEqual({ kind: 'done' });
    expect(await callRow()).toMatchObject({ call_log_status: 'failed' });
  });

  it('in progress 15 min after a party hung up stays pending: the call goes on', async () => {
    const { result } = await take(running, { afterSeconds: 930 });
    expect(result).toEqual({ kind: 'done' });
    expect(await callRow()).toMatchObject({ call_log_status: 'pending' });
  });

  it('is not given up when somebody has hung up later', async () => {
    await hears({ code: 'Disconnected', sequence: 12, at: 900 });
    await take(found(), { afterSeconds: 930 });
    expect(await callRow()).toMatchObject({ call_log_status: 'pending' });
  });

  it('nor when another message has found it', async () => {
    await take(found(aRecord()));
    await take(found(), { afterSeconds: 930 });
    expect(await callRow()).toMatchObject({ call_log_status: 'found' });
  });

  it('at its last receive parks before the 15 minutes are over: the next would be the dead-letter queue', async () => {
    const { result } = await take(found(), { afterSeconds: 400, receiveCount: 3 });
    expect(result).toEqual({ kind: 'park', step: 'call_log', waitSeconds: 530 });
  });
});
