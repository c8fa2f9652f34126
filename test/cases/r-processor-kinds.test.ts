import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answeredCall, missedCall, queueCall, voicemailCall } from '../../local/ringcentral/sample-calls.ts';
import type { TelephonyEvent } from '../../local/ringcentral/world.ts';
import { receiveWebhook } from '../../src/calls/receive-webhook.ts';
import { type CallWorld, startCallWorld, stopCallWorlds, type WorldOptions } from '../calls/call-world.ts';
import { aRequest } from '../calls/webhooks.ts';
import { riverside, simulatedAccounts, webhookSecret } from '../simulation/call-accounts.ts';
import { sessionOf, withShortAudio } from '../simulation/call-samples.ts';

const startedAt = new Date('2026-03-04T15:00:10.000Z');
const options = { accountId: riverside.accountId, startedAt, number: 7 };

let world: CallWorld;
beforeEach(async () => {
  world = await startCallWorld();
});
afterEach(stopCallWorlds);

const aCall = (more: Partial<Parameters<typeof answeredCall>[0]> = {}) =>
  withShortAudio(answeredCall({ ...options, recordingDelaySeconds: 0, ...more }));

const paths = (surface: RegExp) => world.requests(surface).map(({ path }) => path.split('?')[0]);
const transcripts = () => world.database.query('select source, source_id, text from transcripts order by 2');
const expectOneOfEach = async () => {
  expect([...world.objects.uploads.values()]).toEqual([1]);
  expect(await transcripts()).toHaveLength(1);
  expect(world.queue.deadLetters).toEqual([]);
};

/** An event again, at another time of the receiver's and changed. */
const again = (event: TelephonyEvent, afterSeconds: number, change: Partial<TelephonyEvent> = {}) => ({
  ...event,
  timestamp: new Date(Date.parse(event.timestamp) + afterSeconds * 1000).toISOString(),
  ...change,
});

it('R6 429 storm: 20 at once, and no request is refused or comes in a penalty', async () => {
  for (let number = 1; number <= 20; number += 1) {
    world.ring(sessionOf({ ...options, number, disconnects: [120], readyAfter: 150 }));
  }
  world.startSweep();
  await world.settle(60);
  expect(world.requests().filter(({ status, insidePenalty }) => status === 429 || insidePenalty)).toEqual([]);
  expect([...world.objects.uploads.values()]).toEqual(Array(20).fill(1));
  expect(world.queue.deadLetters).toEqual([]);
});

it('R6 429 storm: a penalty out of turn costs one request, and all are done after it', async () => {
  for (let number = 1; number <= 10; number += 1) {
    world.ring(sessionOf({ ...options, number, disconnects: [120], readyAfter: 150 }));
  }
  world.startSweep();
  await world.run(3);
  world.simulator.limiter.penalise(riverside.accountId, 'heavy', world.now());
  await world.settle(90);
  expect(world.requests().filter(({ insidePenalty }) => insidePenalty)).toHaveLength(1);
  expect([...world.objects.uploads.values()]).toEqual(Array(10).fill(1));
  expect(world.queue.deadLetters).toEqual([]);
});

describe('R20 out of order', () => {
  it('R20 Answered after Disconnected reopens nothing, and asks nothing', async () => {
    const call = aCall();
    const [setup, , answered, disconnected] = call.events;
    if (!setup || !answered || !disconnected) throw new Error('a call has events');
    world.ring(call, [disconnected, again(answered, 400), again(setup, 500)]);
    await world.run(60);
    expect(await world.calls()).toMatchObject([
      { status: 'disconnected', ended_at: new Date(call.endedAt), recording_status: 'stored' },
    ]);
    expect(world.requests(/call_log/)).toHaveLength(1);
    await expectOneOfEach();
  });

  it('R20 Disconnected before anything else: found all the same', async () => {
    const call = aCall();
    world.ring(
      call,
      call.events.toReversed().map((event, n) => again(event, n * 300)),
    );
    await world.run(90);
    expect(await world.calls()).toMatchObject([{ status: 'disconnected', recording_status: 'stored' }]);
    await expectOneOfEach();
  });
});

describe('R21 duplicates', () => {
  it('R21 by two subscriptions: one of each', async () => {
    const call = aCall();
    const doubles = call.events.map((event) =>
      again(event, 1, { uuid: `2${event.uuid}`, subscriptionId: 'second' }),
    );
    world.ring(call, [...call.events, ...doubles]);
    await world.run(60);
    expect(world.requests(/call_log/)).toHaveLength(1);
    await expectOneOfEach();
  });

  it('R21 the same body hours later: no request', async () => {
    const call = aCall();
    world.ring(call, [...call.events, ...call.events.map((event) => again(event, 7200))]);
    await world.run(150);
    expect(world.requests(/call_log/)).toHaveLength(1);
    expect(world.requests(/recording_content/)).toHaveLength(1);
    await expectOneOfEach();
  });
});

it.each([
  ['a name alone', { name: 'Anonymous' }],
  ['nothing', {}],
  ['a number that is none', { phoneNumber: 'Anonymous' }],
])('R24 a caller who shows %s: recorded and transcribed, a contact of nobody', async (_, from) => {
  for (const number of [7, 8])
    world.ring(withShortAudio(answeredCall({ ...options, number, from, recordingDelaySeconds: 0 })));
  world.startSweep();
  await world.settle(60);
  expect(await world.calls()).toMatchObject(
    [7, 8].map(() => ({ contact_phone: null, from_number: null, recording_status: 'stored' })),
  );
  expect(await transcripts()).toHaveLength(2);
  expect(await world.database.query('select 1 from contact_timeline')).toEqual([]);
});

describe('R31 403 kinds', () => {
  const forbid = (surface: 'account_call_log' | 'recording_content', fault: object) =>
    world.simulator.faults.add({ surface, fault: { kind: 'status', status: 403, ...fault }, times: 99 });

  it.each([
    ['CMN-408', { errorCode: 'CMN-408', permissionName: 'FullCompanyCallLog' }],
    ['CMN-402', { errorCode: 'CMN-402' }],
    ['CMN-404', { errorCode: 'CMN-404' }],
    ['CMN-109', { errorCode: 'CMN-109' }],
    ['a code of the future', { errorCode: 'XYZ-999' }],
    ['a proxy`s page', { body: '<html>403</html>' }],
  ])('R31 %s on the account`s call log: the party`s extension is asked', async (_, fault) => {
    forbid('account_call_log', fault);
    world.ring(aCall());
    world.startSweep();
    await world.settle(60);
    expect(paths(/extension_call_log/)).toEqual(['/restapi/v1.0/account/~/extension/900412201/call-log']);
    await expectOneOfEach();
  });

  it('R31 of a queue call: the extension of the party that hung up, not the first one', async () => {
    forbid('account_call_log', { errorCode: 'CMN-408' });
    const call = withShortAudio(queueCall({ ...options, recordingDelaySeconds: 0 }));
    const loser = call.events.find(({ body }) => body.parties[0]?.status.reason === 'Timeout');
    if (!loser) throw new Error('nobody lost');
    call.endedAt = Date.parse(loser.timestamp);
    world.ring(call, [loser]);
    await world.run(4);
    expect(paths(/extension_call_log/)).toEqual(['/restapi/v1.0/account/~/extension/900412204/call-log']);
  });

  it.each(['CMN-401', 'CMN-419'])(
    'R31 %s is a fault of the configuration: no fallback, a dead letter',
    async (errorCode) => {
      forbid('account_call_log', { errorCode });
      world.ring(aCall());
      await world.run(90);
      expect(paths(/extension_call_log/)).toEqual([]);
      expect(world.requests(/account_call_log/)).toHaveLength(3);
      expect(world.queue.deadLetters).toHaveLength(1);
      expect(world.logged('call.processing_failed')).toMatchObject(
        Array(3).fill({ reason: 'app_permission' }),
      );
    },
  );

  it('R31 on the recording itself: no look at any call log for that', async () => {
    forbid('recording_content', { errorCode: 'CMN-408' });
    world.ring(aCall());
    await world.run(90);
    expect(paths(/call_log/)).toEqual(['/restapi/v1.0/account/~/call-log']);
    expect(world.queue.deadLetters).toHaveLength(1);
    expect(await world.calls()).toMatchObject([{ recording_status: 'available' }]);
  });

  it('R31 an empty list of the extension is not "no recording"', async () => {
    forbid('account_call_log', { errorCode: 'CMN-408' });
    const call = aCall();
    for (const record of call.records) record.visibleAt = call.endedAt + 200_000;
    world.ring(call);
    await world.run(6);
    expect(await world.calls()).toMatchObject([{ call_log_status: 'pending', recording_status: 'expected' }]);
    world.startSweep();
    await world.settle(60);
    expect(await world.calls()).toMatchObject([{ recording_status: 'stored' }]);
  });

  it('R31 what one extension saw of a missed call does not settle the session', async () => {
    forbid('account_call_log', { errorCode: 'CMN-408' });
    world.ring(missedCall(options));
    await world.run(30);
    expect(await world.calls()).toMatchObject([{ call_log_status: 'found', recording_status: 'pending' }]);
  });
});

it('R33 two voicemails of one minute, from callers without a number: each its own', async () => {
  const spoken = ['About the swim class.', 'It is about my invoice.'];
  for (const [index, transcript] of spoken.entries()) {
    const call = voicemailCall({
      ...options,
      number: 7 + index,
      startedAt: new Date(startedAt.getTime() + index * 20_000),
      transcript,
    });
    for (const leg of call.records.flatMap((record) => [record, ...record.legs]))
      leg.from = { name: 'Anonymous' };
    world.ring(call);
  }
  world.startSweep();
  await world.settle(60);
  expect(await transcripts()).toEqual([
    { source: 'voicemail', source_id: '66000070', text: spoken[0] },
    { source: 'voicemail', source_id: '66000080', text: spoken[1] },
  ]);
  expect(world.requests(/message_store_search/)).toEqual([]);
  expect(await world.calls()).toMatchObject(
    Array(2).fill({ voicemail_status: 'stored', recording_status: 'none' }),
  );
});

describe('R36 neither finished nor a call', () => {
  it.each(['In Progress', 'in progress'])('R36 %s is pending, and looked at again', async (result) => {
    const call = aCall();
    const [record] = call.records;
    if (record) record.overrides = { result };
    world.ring(call);
    await world.run(6);
    expect(await world.calls()).toMatchObject([{ call_log_status: 'pending', snapshot: null }]);
    if (record) record.overrides = {};
    await world.run(60);
    expect(await world.calls()).toMatchObject([{ call_log_status: 'found', recording_status: 'stored' }]);
    await expectOneOfEach();
  });

  it('R36 a fax: its webhooks leave no row, its record no recording', async () => {
    const fax = aCall({ number: 8 });
    for (const event of fax.events) for (const { status } of event.body.parties) status.code = 'FaxReceive';
    world.ring(fax);
    const call = aCall();
    for (const leg of call.records.flatMap((one) => [one, ...one.legs])) leg.type = 'Fax';
    world.ring(call, call.events.slice(-1));
    await world.run(60);
    expect(await world.calls()).toMatchObject([
      { telephony_session_id: call.telephonySessionId, recording_status: 'none', recording_reason: 'fax' },
    ]);
    expect(world.objects.uploads.size).toBe(0);
    expect(world.queue.deadLetters).toEqual([]);
  });
});

describe('R39 handshake and reminder', () => {
  const post = (headers: Record<string, string>, body: unknown) => {
    const { clock, queue, log, meter } = world;
    const receiver = { accounts: simulatedAccounts(world.simulator.url), queue, clock, log, meter };
    return receiveWebhook(receiver, aRequest({ accountId: riverside.accountId, headers, body }));
  };

  it('R39 nothing of them comes to the processor', async () => {
    const reminder = { event: '/restapi/v1.0/subscription/~?threshold=60&interval=15', body: {} };
    expect(await post({ 'validation-token': 'abc' }, '')).toMatchObject({ statusCode: 200 });
    expect(await post({ 'verification-token': webhookSecret }, reminder)).toMatchObject({ statusCode: 200 });
    await world.run(60);
    expect([world.queue.sent, world.invocations, world.queue.deadLetters]).toEqual([[], [], []]);
  });

  it('R39 an event with both tokens is worked on to its end', async () => {
    const call = aCall();
    world.ring(call, []);
    await world.run(5);
    const headers = { 'verification-token': webhookSecret, 'validation-token': 'abc' };
    expect(await post(headers, call.events.at(-1))).toMatchObject({ statusCode: 200 });
    await world.run(60);
    await expectOneOfEach();
  });
});

it('R42 a clone is out and the process dies: both run, and nothing is doubled', async () => {
  const headers = { 'retry-after': '60' };
  const fault = { kind: 'status', status: 429, errorCode: 'CMN-301', headers } as const;
  const limited = async (crashAt?: WorldOptions['crashAt']) => {
    world = await startCallWorld(crashAt ? { crashAt } : {});
    world.simulator.faults.add({ surface: 'account_call_log', fault });
    world.ring(aCall());
    await world.run(60);
  };
  await limited();
  const dying = world.invocations.findIndex(({ names }) => names.includes('send'));
  const call = (world.invocations[dying]?.names.indexOf('send') ?? -1) + 1;
  await limited((invocation) => (invocation === dying + 1 ? { call, when: 'after' } : undefined));

  const redrives = world.queue.sent.map(({ body }): unknown => JSON.parse(body).redriveCount);
  expect(redrives.filter((count) => count === 1)).toHaveLength(1);
  expect(world.invocations[dying]?.dead).toBe(true);
  expect(await world.calls()).toMatchObject([{ recording_status: 'stored' }]);
  await expectOneOfEach();
});
