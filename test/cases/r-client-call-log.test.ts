import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  anonymousCall,
  answeredCall,
  queueCall,
  voicemailCall,
} from '../../local/ringcentral/sample-calls.ts';
import type { SimulatedCall } from '../../local/ringcentral/world.ts';
import { normaliseNumber } from '../../src/ringcentral/numbers.ts';
import { type CallLogRecord, callLogRecordSchema, snapshotSchema } from '../../src/ringcentral/schemas.ts';
import { recordingsOf } from '../../src/ringcentral/snapshot.ts';
import { telephonyEventSchema } from '../../src/ringcentral/telephony-event.ts';
import { type Container, createWorld } from '../ringcentral/client-under-test.ts';
import { account, startTestSimulator, type TestSimulator } from '../ringcentral/simulated-account.ts';

const { accountId } = account;
let simulator: TestSimulator;
let container: Container;

beforeEach(async () => {
  simulator = await startTestSimulator({ limits: { heavy: { limit: 1000 } }, tokenSeconds: 86_400 });
  container = createWorld(simulator).container();
});
afterEach(() => simulator.stop());

const callOptions = () => ({ accountId, number: 1, startedAt: simulator.clock.now() });
const fetchOf = (call: SimulatedCall, options = {}) =>
  container.callLog.fetchCallLog(call.telephonySessionId, accountId, {
    firstEventAt: new Date(call.events[0]?.body.eventTime ?? 0),
    partyExtensionId: call.events[0]?.body.parties[0]?.extensionId,
    ...options,
  });

/** The one record that the client reads of a call, whose JSON carries `overrides`. */
async function recordOf(
  call: SimulatedCall,
  overrides: Record<string, unknown> = {},
): Promise<CallLogRecord> {
  simulator.calls.push(call);
  simulator.clock.advance(3600_000);
  for (const record of call.records) record.overrides = overrides;
  const outcome = await fetchOf(call);
  if (outcome.kind !== 'ok') throw new Error(outcome.kind);
  const [record] = outcome.value.records;
  if (!record) throw new Error('no record');
  expect(snapshotSchema.parse(JSON.parse(JSON.stringify(outcome.value)))).toEqual(outcome.value);
  return record;
}

it('R1 recording not there yet: an empty list is an answer, with nothing in it that could look terminal', async () => {
  const call = answeredCall(callOptions());
  simulator.calls.push(call);
  simulator.clock.advance(call.endedAt - simulator.clock.now().getTime());
  expect(await fetchOf(call)).toMatchObject({ kind: 'ok', value: { records: [], coverage: 'account' } });
});

it('R2 record there, recording later: the second snapshot has what the first had not', async () => {
  const call = answeredCall({ ...callOptions(), recordingDelaySeconds: 72 });
  simulator.calls.push(call);
  simulator.clock.advance(call.endedAt - simulator.clock.now().getTime() + 60_000);
  const counts: number[] = [];
  for (let n = 0; n < 2; n += 1) {
    const outcome = await fetchOf(call);
    if (outcome.kind !== 'ok') throw new Error(outcome.kind);
    expect(outcome.value.records).toHaveLength(1);
    counts.push(recordingsOf(outcome.value).length);
    simulator.clock.advance(60_000);
  }
  expect(counts).toEqual([0, 1]);
});

it('R4 too short: shortRecording is read from the record', async () => {
  const record = await recordOf(answeredCall(callOptions()), { duration: 12, shortRecording: true });
  expect(record).toMatchObject({ duration: 12, shortRecording: true });
});

it('R16 queue call: one record, its one recording, although four parties disconnected', async () => {
  const call = queueCall(callOptions());
  const codes = call.events.map(({ body }) => body.parties[0]?.status.code);
  expect(codes.filter((code) => code === 'Disconnected')).toHaveLength(4);
  const record = await recordOf(call);
  expect(record.legs).toHaveLength(4);
  expect(recordingsOf({ fetchedAt: '', coverage: 'account', records: [record] })).toHaveLength(1);
});

describe('R23 view', () => {
  it('R23 always asks for Detailed', async () => {
    await recordOf(answeredCall(callOptions()));
    const views = simulator.journal
      .filter(({ surface }) => surface === 'account_call_log')
      .map(({ path }) => new URL(path, simulator.url).searchParams.get('view'));
    expect(views).toEqual(['Detailed']);
  });

  it('R23 tolerates a record without legs and owner', async () => {
    const record = await recordOf(answeredCall(callOptions()), { legs: undefined, extension: undefined });
    expect(record.legs).toBeUndefined();
    expect(recordingsOf({ fetchedAt: '', coverage: 'account', records: [record] })).toHaveLength(1);
  });

  it('R23 tolerates absence of everything but id, uri and sessionId', () => {
    const least = { id: 'Q1', uri: 'https://platform.ringcentral.com/x', sessionId: '318' };
    expect(callLogRecordSchema.parse(least)).toEqual(least);
    const nulls = {
      ...least,
      from: null,
      to: { phoneNumber: null },
      legs: null,
      recording: null,
      extension: null,
    };
    expect(callLogRecordSchema.parse(nulls)).toMatchObject({ ...least, to: {} });
    for (const key of ['id', 'uri', 'sessionId']) {
      expect(callLogRecordSchema.safeParse({ ...least, [key]: undefined }).success).toBe(false);
    }
  });

  it('R23 reads ids as strings, whether they come as numbers or strings', async () => {
    const record = await recordOf(answeredCall(callOptions()), { extension: { id: 900204, uri: 'x' } });
    expect(record.extension?.id).toBe('900204');
    expect(record.to?.extensionId).toBe('900100201');
  });
});

describe('R24 anonymous caller', () => {
  it.each([
    ['a name only', { from: { name: 'Anonymous' } }],
    ['an empty from', { from: {} }],
    ['no from', { from: undefined }],
    ['a null number', { from: { phoneNumber: null } }],
  ])('R24 in the call log with %s: read, without a number', async (_, overrides) => {
    const record = await recordOf(anonymousCall(callOptions()), overrides);
    expect(normaliseNumber(record.from?.phoneNumber)).toBeUndefined();
  });

  it.each([{ name: 'Anonymous' }, {}, undefined, { phoneNumber: null }])(
    'R24 in a webhook with from %o: read, without a number',
    (from) => {
      const [event] = anonymousCall(callOptions()).events;
      const body = { ...event?.body, parties: event?.body.parties.map((party) => ({ ...party, from })) };
      const parsed = telephonyEventSchema.parse({ ...event, body });
      expect(normaliseNumber(parsed.body.parties[0]?.from?.phoneNumber)).toBeUndefined();
    },
  );
});

it.each([
  ['(415) 555-0111', '+14155550111'],
  ['14155550111', '+14155550111'],
  ['+14155550111', '+14155550111'],
  ['4155550111', '+14155550111'],
  ['+442079460000', '+442079460000'],
  ['104', undefined],
  ['911', undefined],
  ['Anonymous', undefined],
  ['', undefined],
  [null, undefined],
])('R26 number %j is %s', (text, number) => {
  expect(normaliseNumber(text)).toBe(number);
});

describe('R31 the kinds of 403', () => {
  const forbid = (
    surface: 'account_call_log' | 'extension_call_log' | 'recording_content',
    errorCode: string,
  ) => simulator.faults.add({ surface, fault: { kind: 'status', status: 403, errorCode } });
  const surfaces = () =>
    simulator.journal.map(({ surface }) => surface).filter((name) => name !== 'oauth_token');

  it.each(['CMN-408', 'CMN-402', 'CMN-404', 'CMN-109'])(
    'R31 %s: the extension of the party is asked',
    async (code) => {
      const call = answeredCall(callOptions());
      simulator.calls.push(call);
      simulator.clock.advance(3600_000);
      forbid('account_call_log', code);
      expect(await fetchOf(call)).toMatchObject({
        kind: 'ok',
        value: { coverage: 'extension', records: [{}] },
      });
      expect(surfaces()).toEqual(['account_call_log', 'extension_call_log']);
      expect(simulator.journal.at(-1)?.path).toContain('/extension/900100201/');
    },
  );

  it.each(['CMN-401', 'CMN-419'])('R31 %s: a configuration error, no fallback', async (errorCode) => {
    forbid('account_call_log', errorCode);
    expect(await fetchOf(answeredCall(callOptions()))).toEqual({
      kind: 'configuration',
      surface: 'account_call_log',
      reason: 'app_permission',
      errorCode,
    });
    expect(surfaces()).toEqual(['account_call_log']);
  });

  it('R31 403 on recording content: no fallback of the call log', async () => {
    forbid('recording_content', 'CMN-408');
    const uri = `${simulator.url}/media/restapi/v1.0/account/~/recording/1/content`;
    expect(await container.media.openRecording(uri, { accountId })).toEqual({
      kind: 'forbidden',
      surface: 'recording_content',
      errorCode: 'CMN-408',
    });
    expect(surfaces()).toEqual(['recording_content']);
  });

  it('R31 an empty list from the fallback says extension coverage, so that nobody takes it for "no recording"', async () => {
    forbid('account_call_log', 'CMN-408');
    expect(await fetchOf(answeredCall(callOptions()))).toMatchObject({
      kind: 'ok',
      value: { coverage: 'extension', records: [] },
    });
  });
});

it('R33 voicemail: two within a minute from anonymous callers, each read by its own record', async () => {
  const calls = [1, 2].map((number) => {
    const call = voicemailCall({ ...callOptions(), number, transcript: `message ${number}` });
    for (const leg of call.records) leg.from = { name: 'Anonymous' };
    for (const voicemail of call.voicemails) voicemail.from = { name: 'Anonymous' };
    simulator.clock.advance(20_000);
    simulator.calls.push(call);
    return call;
  });
  simulator.clock.advance(3600_000);
  for (const [index, call] of calls.entries()) {
    const outcome = await fetchOf(call);
    if (outcome.kind !== 'ok') throw new Error(outcome.kind);
    const [record] = outcome.value.records;
    const message = await container.media.fetchVoicemail(record?.message?.uri ?? '', { accountId });
    if (message.kind !== 'ok') throw new Error(message.kind);
    const text = message.value.attachments?.find(({ type }) => type === 'AudioTranscription');
    expect(await container.media.fetchTranscript(text?.uri ?? '', { accountId })).toEqual({
      kind: 'ok',
      value: `message ${index + 1}`,
    });
  }
});

describe('R36 In Progress and fax', () => {
  it('R36 In Progress is read as what it says', async () => {
    const call = answeredCall(callOptions());
    call.endedAt += 2 * 3600_000;
    expect((await recordOf(call)).result).toBe('In Progress');
  });

  it('R36 a fax is read as a fax, in the log and in a webhook', async () => {
    const call = answeredCall(callOptions());
    expect((await recordOf(call, { type: 'Fax', result: 'Received', action: 'Incoming Fax' })).type).toBe(
      'Fax',
    );
    const [event] = call.events;
    const parties = event?.body.parties.map((party) => ({
      ...party,
      status: { code: 'FaxReceive', rcc: false },
    }));
    const parsed = telephonyEventSchema.parse({ ...event, body: { ...event?.body, parties } });
    expect(parsed.body.parties[0]?.status.code).toBe('FaxReceive');
  });
});

it('R39 reminder: a notification without a telephony body is no telephony event', () => {
  const reminder = {
    uuid: '1',
    event: '/restapi/v1.0/subscription/~?threshold=60&interval=15',
    timestamp: '2026-03-04T15:00:00Z',
    subscriptionId: 'b0a1',
    body: {},
  };
  expect(telephonyEventSchema.safeParse(reminder).success).toBe(false);
});
