import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answeredCall, missedCall, queueCall } from '../../local/ringcentral/sample-calls.ts';
import type { SimulatedCall } from '../../local/ringcentral/world.ts';
import { lakeside, lakesideNumber, riverside } from '../simulation/call-accounts.ts';
import { expectNoRefusals, expectOneOfEach } from '../simulation/call-checks.ts';
import { sessionOf, withShortAudio } from '../simulation/call-samples.ts';
import { type CallWorld, startCallWorld, stopCallWorlds } from './call-world.ts';

const { accountId } = riverside;
const startedAt = new Date('2026-03-04T15:00:10.000Z');
const options = { accountId, startedAt, number: 1 };
const minuteMs = 60_000;

let world: CallWorld;
beforeEach(async () => {
  world = await startCallWorld();
  world.startSweep();
});
afterEach(stopCallWorlds);

/** Minutes after the start of the call at which its recordings were stored. */
const storedAfter = async () =>
  (await world.database.query('select stored_at from call_recordings order by 1')).map(({ stored_at }) =>
    stored_at instanceof Date ? (stored_at.getTime() - startedAt.getTime()) / minuteMs : undefined,
  );

describe('a recording that is ready after the last webhook', () => {
  it.each([
    [1, 8],
    [2, 12],
    [3, 20],
    [1, 60],
  ])('%i webhooks, ready after %i min: the sweep finds it within 7 min', async (webhooks, ready) => {
    world.ring(
      sessionOf({ ...options, disconnects: [120, 180, 240].slice(0, webhooks), readyAfter: ready * 60 }),
    );
    await world.settle(180);
    const [stored = Number.NaN] = await storedAfter();
    expect(stored).toBeGreaterThanOrEqual(ready);
    expect(stored).toBeLessThanOrEqual(ready + 7);
    await expectOneOfEach(world, { recordings: 1 });
    expectNoRefusals(world);
  });

  it('over two hours later: within the hour', async () => {
    world = await startCallWorld();
    world.ring(sessionOf({ ...options, disconnects: [120], readyAfter: 150 * 60 }));
    await world.run(140);
    world.startSweep();
    await world.settle(90);
    const [stored = Number.NaN] = await storedAfter();
    expect(stored).toBeGreaterThanOrEqual(150);
    expect(stored).toBeLessThanOrEqual(150 + 62);
    await expectOneOfEach(world, { recordings: 1 });
  });

  it('never: given up a day after the end, with a reason', async () => {
    world = await startCallWorld();
    const never = Number.POSITIVE_INFINITY;
    world.ring(sessionOf({ ...options, disconnects: [120], readyAfter: never }));
    await world.run(23.5 * 60);
    world.startSweep();
    await world.run(20);
    expect(await world.calls()).toMatchObject([{ recording_status: 'pending' }]);
    await world.run(80);
    expect(await world.calls()).toMatchObject([{ recording_status: 'gave_up', next_attempt_at: null }]);
    const [row] = await world.calls();
    expect(row?.recording_reason).toBeTruthy();
    await expectOneOfEach(world, { recordings: 0 });
  });
});

it.each([
  ['in progress', true, 'pending'],
  ['not at all', false, 'failed'],
])(
  'a call of 90 minutes that is listed %s before its end: found hours later',
  async (_, isListed, meanwhile) => {
    const call = sessionOf({
      ...options,
      disconnects: [300, 5400],
      endsAfter: 5400,
      // RingCentral prepares it for about as long as it is.
      readyAfter: 2 * 5400,
    });
    if (!isListed) for (const record of call.records) record.visibleAt = call.endedAt + 20_000;
    world.ring(call);
    await world.run(60);
    // One has hung up, the other one talks on: nothing is stored or given up.
    expect(await world.calls()).toMatchObject([
      { call_log_status: meanwhile, recording_status: 'pending', snapshot: null, next_attempt_at: null },
    ]);
    expect([world.queue.size, world.queue.deadLetters]).toEqual([0, []]);
    await world.run(40);
    expect(await world.calls()).toMatchObject([
      { status: 'disconnected', ended_at: new Date(call.endedAt), call_log_status: 'found' },
    ]);
    await world.run(160);
    const [stored = Number.NaN] = await storedAfter();
    expect(stored).toBeGreaterThanOrEqual(180);
    expect(stored).toBeLessThanOrEqual(242);
    await expectOneOfEach(world, { recordings: 1 });
    expectNoRefusals(world);
  },
);

it('a queue call of half an hour that three agents missed costs few looks, and no 429', async () => {
  const call = withShortAudio(queueCall({ ...options, talkSeconds: 1800, recordingDelaySeconds: 600 }));
  world.ring(call);
  await world.settle(240);
  await expectOneOfEach(world, { recordings: 1 });
  expectNoRefusals(world);
  expect(await world.calls()).toMatchObject([{ extension_id: '900412201', recording_status: 'stored' }]);
  // Not a look for each of the four who hung up, again and again: the list of all is enough.
  const looks = world.requests(/call_log/).filter(({ path }) => path.includes('telephonySessionId'));
  expect(looks.length).toBeLessThanOrEqual(4);
});

describe('two accounts', () => {
  beforeEach(async () => {
    world = await startCallWorld();
    world.startSweep([accountId, lakeside.accountId]);
  });
  const theirs = { ...options, accountId: lakeside.accountId, businessNumber: lakesideNumber, number: 2 };
  const recordings = () =>
    world.database.query('select account_id, s3_key from call_recordings where stored_at is not null');

  it('the penalty of one does not stop the other', async () => {
    const timed = { disconnects: [120], readyAfter: 150 };
    world.ring(sessionOf({ ...options, ...timed }));
    world.ring(sessionOf({ ...theirs, ...timed }));
    await world.run(3);
    world.simulator.limiter.penalise(lakeside.accountId, 'heavy', world.now());
    await world.run(2);
    expect(await recordings()).toEqual([
      { account_id: accountId, s3_key: 'recordings/900412/2026/03/55000010.mp3' },
    ]);
    await world.settle(60);
    expect(await recordings()).toHaveLength(2);
    await expectOneOfEach(world, { recordings: 2 });
  });

  it('thirty calls of one do not hold up the other', async () => {
    const timed = { disconnects: [120], readyAfter: 150 };
    for (let number = 10; number < 40; number += 1) {
      const call = sessionOf({ ...theirs, ...timed, number });
      world.ring(call, call.events.slice(-1));
    }
    world.ring(sessionOf({ ...options, ...timed }));
    await world.run(5);
    expect((await recordings()).filter((row) => row.account_id === accountId)).toHaveLength(1);
    expectNoRefusals(world);
  });

  it('each is called with its own token', async () => {
    const timed = { disconnects: [120], readyAfter: 150 };
    world.ring(sessionOf({ ...options, ...timed }));
    world.ring(sessionOf({ ...theirs, ...timed }));
    await world.run(30);
    const owners = world
      .requests(/recording_content/)
      .map(({ owner, path }) => [owner, path.includes(owner)]);
    expect(owners.toSorted()).toEqual([
      [accountId, true],
      [lakeside.accountId, true],
    ]);
  });
});

describe('R41 events that never came', () => {
  const withoutEvents = async (call: SimulatedCall, events = call.events.slice(0, 0)) => {
    world.ring(call, events);
    await world.run(70);
  };
  const call = () => withShortAudio(answeredCall({ ...options, recordingDelaySeconds: 60 }));

  it('R41 only Setup: the call is closed, its recording stored', async () => {
    const { events } = call();
    await withoutEvents(call(), events.slice(0, 1));
    expect(await world.calls()).toMatchObject([{ status: 'disconnected', recording_status: 'stored' }]);
    await expectOneOfEach(world, { recordings: 1 });
  });

  it('R41 none at all: the call is found, counted and stored', async () => {
    await withoutEvents(call());
    expect(await world.calls()).toMatchObject([{ last_sequence: '-1', recording_status: 'stored' }]);
    expect(world.logged('call.without_webhook')).toHaveLength(1);
    await expectOneOfEach(world, { recordings: 1 });
  });

  it('R41 only Setup of a missed call: closed without a recording', async () => {
    const missed = missedCall(options);
    await withoutEvents(missed, missed.events.slice(0, 1));
    expect(await world.calls()).toMatchObject([
      { status: 'disconnected', recording_status: 'none', recording_reason: 'not_connected' },
    ]);
  });

  it('R41 a Disconnected that comes after all changes nothing more', async () => {
    const { events } = call();
    await withoutEvents(call(), events.slice(0, 1));
    for (const event of events.slice(-1)) await world.post(event);
    await world.run(30);
    expect(await world.calls()).toMatchObject([{ status: 'disconnected', last_sequence: '5' }]);
    await expectOneOfEach(world, { recordings: 1 });
  });
});
