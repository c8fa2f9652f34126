import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answeredCall, missedCall, queueCall, transferCall } from '../../local/ringcentral/sample-calls.ts';
import type { SimulatedCall, SimulatedRecord } from '../../local/ringcentral/world.ts';
import { type CallWorld, startCallWorld, stopCallWorlds } from '../calls/call-world.ts';
import { riverside } from '../simulation/call-accounts.ts';
import { withShortAudio } from '../simulation/call-samples.ts';

const startedAt = new Date('2026-03-04T15:00:10.000Z');
const options = { accountId: riverside.accountId, startedAt, number: 7 };
const never = Number.POSITIVE_INFINITY;

let world: CallWorld;
beforeEach(async () => {
  world = await startCallWorld();
});
afterEach(stopCallWorlds);

/** An answered call whose recording is there at once, its record changed. */
function aCall(change: Partial<SimulatedRecord> = {}, more: { talkSeconds?: number } = {}): SimulatedCall {
  const call = withShortAudio(answeredCall({ ...options, recordingDelaySeconds: 0, ...more }));
  const [record] = call.records;
  if (record) call.records = [changed(record, change)];
  return call;
}

/** The record and its one leg, which says the same. */
function changed(record: SimulatedRecord, change: Partial<SimulatedRecord>): SimulatedRecord {
  const { id: _id, visibleAt: _at, recordingVisibleAt: _then, ...leg } = change;
  return { ...record, ...change, legs: record.legs.map((one) => ({ ...one, ...leg })) };
}

const withoutNamedRecording = (call: SimulatedCall) =>
  call.events.map((event) => {
    const parties = event.body.parties.map(({ recordings: _, ...party }) => party);
    return { ...event, body: { ...event.body, parties } };
  });

/** Seconds after the end of the call at which the surface was asked. */
const looks = (call: SimulatedCall, surface = /account_call_log/) =>
  world.requests(surface).map(({ at }) => Math.round((at - call.endedAt) / 1000));

const theCall = async () => (await world.calls())[0];
const transcripts = () => world.database.query('select source, source_id, text from transcripts order by 2');

describe('R1 recording not there yet', () => {
  it('R1 an empty list is asked for again 5 min and 15 min 30 s after the end, then no more', async () => {
    const call = aCall({ visibleAt: never });
    world.ring(call);
    await world.run(60);
    expect(looks(call)).toEqual([90, 300, 930]);
    expect(world.requests(/message|voicemail/)).toEqual([]);
    expect(await theCall()).toMatchObject({ call_log_status: 'failed', recording_status: 'expected' });
    expect([world.queue.size, world.queue.deadLetters]).toEqual([0, []]);
  });

  it('R1 a 404 is an empty list', async () => {
    const fault = { kind: 'status', status: 404, errorCode: 'CMN-102' } as const;
    world.simulator.faults.add({ surface: 'account_call_log', fault, times: 2 });
    const call = aCall();
    world.ring(call);
    await world.run(60);
    expect(looks(call)).toEqual([90, 300, 930]);
    expect(await theCall()).toMatchObject({ call_log_status: 'found', recording_status: 'stored' });
    expect(await transcripts()).toHaveLength(1);
  });

  it.each([
    ['listed after 2 min', 120, [90, 300]],
    ['listed after 6 min', 360, [90, 300, 930]],
  ])('R1 %s: found at the next look', async (_, seconds, expected) => {
    const call = aCall();
    for (const record of call.records) record.visibleAt = call.endedAt + seconds * 1000;
    world.ring(call);
    await world.run(60);
    expect(looks(call)).toEqual(expected);
    expect(await theCall()).toMatchObject({ call_log_status: 'found', recording_status: 'stored' });
    expect(world.queue.deadLetters).toEqual([]);
  });

  it('R1 other faults have used up the receives: parked, not dead', async () => {
    const fault = { kind: 'status', status: 503 } as const;
    world.simulator.faults.add({ surface: 'account_call_log', fault, times: 2 });
    const call = aCall({ visibleAt: never });
    // A call log that is asked early in the life of the call: 15 minutes have not passed at the third receive.
    world.ring(call);
    await world.run(13);
    const [, second = 0] = looks(call);
    expect(second).toBeGreaterThan(90);
    await world.run(60);
    expect(world.queue.deadLetters).toEqual([]);
    expect(await theCall()).toMatchObject({ call_log_status: 'failed' });
  });

  it('R1 somebody hangs up after it was given up: looked for again, and found', async () => {
    const call = aCall();
    for (const record of call.records) record.visibleAt = call.endedAt + 20 * 60_000;
    const late = call.events.slice(-1).map((event) => {
      const at = new Date(call.endedAt + 25 * 60_000).toISOString();
      return { ...event, timestamp: at, body: { ...event.body, sequence: 9, eventTime: at } };
    });
    world.ring(call, [...call.events, ...late]);
    await world.run(25);
    expect(await theCall()).toMatchObject({ call_log_status: 'failed' });
    await world.run(60);
    expect(await theCall()).toMatchObject({ call_log_status: 'found', recording_status: 'stored' });
  });
});

describe('R2 the record is there, its recording comes later', () => {
  it.each(['Call connected', 'Accepted', 'A word that RingCentral may use some day'])(
    'R2 %s, 3 min of talk: waited for',
    async (result) => {
      const call = aCall({ result, recordingVisibleAt: never });
      world.ring(call, withoutNamedRecording(call));
      await world.run(30);
      expect(looks(call)).toEqual([90]);
      expect(await theCall()).toMatchObject({ recording_available: false, recording_status: 'pending' });
    },
  );

  it('R2 12 s of talk, but the webhook named a recording: waited for', async () => {
    const call = aCall({ recordingVisibleAt: never }, { talkSeconds: 12 });
    world.ring(call);
    await world.run(30);
    expect(await theCall()).toMatchObject({ recording_status: 'expected' });
  });

  it('R2 12 s of talk and no recording named: none, at the first look', async () => {
    const call = aCall({ recordingVisibleAt: never }, { talkSeconds: 12 });
    world.ring(call, withoutNamedRecording(call));
    await world.run(30);
    expect(looks(call)).toEqual([90]);
    expect(await theCall()).toMatchObject({ recording_status: 'none', recording_reason: 'short_call' });
  });

  it.each(['Missed', 'No Answer', 'Busy', 'Rejected', 'hang up', 'Call Failed', 'Wrong Number'])(
    'R2 %s: none, at the first look',
    async (result) => {
      const call = missedCall(options);
      call.records = call.records.map((record) => changed(record, { result }));
      world.ring(call);
      await world.run(30);
      expect(looks(call)).toEqual([90]);
      expect(await theCall()).toMatchObject({ recording_status: 'none', recording_reason: 'not_connected' });
    },
  );
});

it.each(['record', 'leg'])('R4 shortRecording on the %s: too short at once', async (place) => {
  const call = aCall({ recordingVisibleAt: never }, { talkSeconds: 12 });
  const [record] = call.records;
  const [leg] = record?.legs ?? [];
  const marked = place === 'record' ? record : leg;
  if (marked) marked.shortRecording = true;
  world.ring(call);
  await world.run(60);
  expect(looks(call)).toEqual([90]);
  expect(await theCall()).toMatchObject({
    recording_status: 'too_short',
    recording_reason: 'short_recording',
  });
  expect(world.queue.sent).toHaveLength(call.events.length);
  expect(world.logged('call.without_recording')).toHaveLength(1);
});

it('R7 429 on the recording: a redrive that goes on with the known address', async () => {
  const headers = { 'retry-after': '45', 'x-rate-limit-group': 'heavy' };
  const fault = { kind: 'status', status: 429, errorCode: 'CMN-301', headers } as const;
  world.simulator.faults.add({ surface: 'recording_content', fault });
  const call = aCall();
  world.ring(call);
  await world.run(60);
  // 45 s and half of the spread of 2 to 10 minutes.
  expect(world.logged('ringcentral.redrive_scheduled')).toMatchObject([
    { redrive_count: 1, delay_seconds: 405 },
  ]);
  const clones = world.queue.sent
    .map(({ body }) => JSON.parse(body))
    .filter(({ redriveCount }) => redriveCount > 0);
  expect(clones).toMatchObject([{ kind: 'session', redriveCount: 1 }]);
  expect(looks(call)).toEqual([90]);
  expect(looks(call, /recording_content/)).toEqual([90, 90 + 405]);
  expect(await theCall()).toMatchObject({ recording_status: 'stored' });
  expect(await transcripts()).toHaveLength(1);
});

describe('R10 429 at the token endpoint', () => {
  const refuse = () => {
    const headers = { 'retry-after': '60', 'x-rate-limit-group': 'auth' };
    const fault = { kind: 'status', status: 429, errorCode: 'CMN-301', headers } as const;
    world.simulator.faults.add({ surface: 'oauth_token', fault });
  };

  it('R10 is a redrive, after one token request', async () => {
    refuse();
    const call = aCall();
    world.ring(call);
    await world.run(5);
    expect(world.requests().map(({ surface }) => surface)).toEqual(['oauth_token']);
    expect(world.logged('ringcentral.redrive_scheduled')).toMatchObject([
      { redrive_count: 1, delay_seconds: 420, rate_limit_group: 'auth' },
    ]);
    await world.run(55);
    expect(await theCall()).toMatchObject({ recording_status: 'stored' });
  });

  it('R10 at an early renewal leaves the shared token in use', async () => {
    world.ring(aCall());
    await world.run(10);
    refuse();
    // 80 % of the token's hour have passed.
    const later = { ...options, number: 8, startedAt: new Date('2026-03-04T15:51:00.000Z') };
    world.ring(withShortAudio(answeredCall({ ...later, recordingDelaySeconds: 0 })));
    await world.run(50);
    expect(world.requests(/oauth/).map(({ status }) => status)).toEqual([200, 429]);
    expect((await world.calls()).map(({ recording_status }) => recording_status)).toEqual([
      'stored',
      'stored',
    ]);
    expect(world.logged('ringcentral.redrive_scheduled')).toEqual([]);
  });
});

describe('R14 several Disconnected of one session', () => {
  const disconnected = (call: SimulatedCall, afterSeconds: number, partyId: string) =>
    call.events.slice(-1).map((event) => {
      const at = new Date(call.endedAt + afterSeconds * 1000).toISOString();
      const parties = event.body.parties.map((party) => ({ ...party, id: partyId }));
      return {
        ...event,
        uuid: `${event.uuid}${partyId}`,
        timestamp: at,
        body: { ...event.body, sequence: 9, eventTime: at, parties },
      };
    });

  it('R14 of the same moment: the second is a no-op', async () => {
    const call = aCall();
    world.ring(call, [...call.events, ...disconnected(call, 0, 'p-other')]);
    await world.run(60);
    expect(looks(call)).toEqual([90]);
    expect(looks(call, /recording_content/)).toEqual([90]);
    expect(await transcripts()).toHaveLength(1);
  });

  it('R14 minutes later: one look more, no second download or transcript', async () => {
    const call = aCall();
    world.ring(call, [...call.events, ...disconnected(call, 120, 'p-other')]);
    await world.run(60);
    expect(looks(call)).toEqual([90, 210]);
    expect(looks(call, /recording_content/)).toEqual([90]);
    expect([...world.objects.uploads.values()]).toEqual([1]);
    expect(await transcripts()).toHaveLength(1);
  });
});

it('R15 blind transfer: the first Disconnected ends nothing, the last one finds both recordings', async () => {
  const call = withShortAudio(transferCall({ ...options, talkSeconds: 400, recordingDelaySeconds: 60 }));
  world.ring(call);
  world.startSweep();
  // The first party is gone, the call goes on: the log says In Progress.
  await world.run(5);
  expect(await theCall()).toMatchObject({ status: 'answered', ended_at: null, call_log_status: 'pending' });
  expect(world.objects.uploads.size).toBe(0);
  await world.run(55);
  expect(await theCall()).toMatchObject({
    status: 'disconnected',
    ended_at: new Date(call.endedAt),
    recording_status: 'stored',
  });
  expect([...world.objects.uploads.values()]).toEqual([1, 1]);
  expect((await transcripts()).map(({ source_id }) => source_id)).toEqual(['55000070', '56000070']);
  expect(world.queue.deadLetters).toEqual([]);
});

it('R16 queue call: one call of the agent who answered; nobody`s voicemail is looked for', async () => {
  const call = withShortAudio(queueCall({ ...options, recordingDelaySeconds: 30 }));
  world.ring(call);
  world.startSweep();
  await world.run(60);
  expect(await world.calls()).toMatchObject([
    { extension_id: '900412201', recording_status: 'stored', voicemail_status: 'none', result: 'Accepted' },
  ]);
  expect(looks(call, /recording_content/)).toHaveLength(1);
  expect(await transcripts()).toHaveLength(1);
  expect(world.requests(/message|voicemail/)).toEqual([]);
});
