import { afterEach, describe, expect, it } from 'vitest';
import { answeredCall, missedCall } from '../../../local/ringcentral/sample-calls.ts';
import { riverside } from '../../simulation/call-accounts.ts';
import { sessionOf, withShortAudio } from '../../simulation/call-samples.ts';
import { type CallWorld, startCallWorld, stopCallWorlds } from '../call-world.ts';
import { noPasses, seedParked, sweepEachMinute } from './sweeping.ts';

afterEach(stopCallWorlds);

const { accountId } = riverside;
const minute = 60_000;
const hour = 60 * minute;

function endedCall(world: CallWorld, number: number, agoMs = 3 * minute) {
  const startedAt = new Date(world.now() - agoMs - 68_000);
  return withShortAudio(
    answeredCall({ accountId, number, startedAt, talkSeconds: 60, recordingDelaySeconds: 1 }),
  );
}

/** A recorded call of so many hours on an account with so many calls an hour beside it. */
function callAmongMany(world: CallWorld, { hours, perHour }: { hours: number; perHour: number }) {
  const start = world.now() - hours * hour - 3 * minute;
  for (let at = start - hour / 2, number = 10; at < start + hours * hour; at += hour / perHour, number += 1) {
    world.simulator.calls.push(missedCall({ accountId, startedAt: new Date(at), number }));
  }
  return sessionOf({
    accountId,
    number: 1,
    startedAt: new Date(start),
    disconnects: [hours * 3600],
    readyAfter: hours * 3600 + 60,
  });
}

const isList = ({ path }: { path: string }) => path.includes('perPage') || path.includes('page=');
const lists = (world: CallWorld) => world.requests(/account_call_log/).filter(isList);
const single = (world: CallWorld) => world.requests(/account_call_log/).filter((entry) => !isList(entry));
const rows = async (world: CallWorld) =>
  (await world.calls()).map(({ recording_status, next_attempt_at }) => [recording_status, next_attempt_at]);

describe('a long call on an account with more calls beside it than a list gets pages for', () => {
  it.each([[[]], [[2, 3, 4]]])('is asked for alone after one list, beside %j', async (others) => {
    const world = await startCallWorld();
    await noPasses(world);
    const long = callAmongMany(world, { hours: 1.5, perHour: 1500 });
    await seedParked(world, long);
    for (const number of others) await seedParked(world, endedCall(world, 90_000 + number));
    sweepEachMinute(world);
    await world.run(6);
    expect(await rows(world)).toEqual([long, ...others].map(() => ['stored', null]));
    // One list, which broke off after the pages that had slots.
    expect(lists(world)).toHaveLength(2);
    expect(single(world).map(({ path, status }) => [path.includes(long.telephonySessionId), status])).toEqual(
      [[true, 200]],
    );
    expect(world.logged('call_sweep.pump_finished').map(({ sent_alone }) => sent_alone)).toContain(1);
    expect(world.state.items.get(`parked#${accountId}`)?.parked_at).toBeUndefined();
  });

  it('is asked for again when its message has found no slot, without another list', async () => {
    const world = await startCallWorld();
    await noPasses(world);
    const long = callAmongMany(world, { hours: 1.5, perHour: 1500 });
    await seedParked(world, long);
    sweepEachMinute(world);
    await world.run(1);
    await seedParkedAgain(world);
    await world.run(3);
    expect(await rows(world)).toEqual([['stored', null]]);
    expect(lists(world)).toHaveLength(2);
  });
});

/** As a message does that has found no slot. */
const seedParkedAgain = (world: CallWorld) =>
  Promise.all([
    world.database.query("update calls set next_step = 'call_log', next_attempt_at = $1", [
      world.clock.now(),
    ]),
    world.state.update(`parked#${accountId}`, {
      update: 'SET parked_at = :now ADD announcements :one',
      values: { ':now': world.now(), ':one': 1 },
    }),
  ]);

it('R31 a forbidden call log is asked for a list once in a quarter of an hour, however often sessions park', async () => {
  const world = await startCallWorld();
  await noPasses(world);
  const fault = { kind: 'status', status: 403, errorCode: 'CMN-408' } as const;
  world.simulator.faults.add({ surface: 'account_call_log', fault, times: 99 });
  sweepEachMinute(world);
  for (let number = 1; number <= 14; number += 1) {
    await seedParked(world, endedCall(world, number));
    await world.run(1);
  }
  expect(lists(world)).toHaveLength(1);
  await world.run(3);
  await seedParked(world, endedCall(world, 15));
  await world.run(3);
  expect(lists(world)).toHaveLength(2);
  expect(world.requests(/extension_call_log/)).toHaveLength(15);
  expect(await rows(world)).toEqual(Array(15).fill(['stored', null]));
});

it('R31 a pass that is refused spares the pump its list, and one that isn`t gives it back', async () => {
  const world = await startCallWorld();
  const fault = { kind: 'status', status: 403, errorCode: 'CMN-408' } as const;
  world.simulator.faults.add({ surface: 'account_call_log', fault });
  await seedParked(world, endedCall(world, 1));
  sweepEachMinute(world);
  await world.run(4);
  expect(lists(world)).toHaveLength(1);
  expect(world.state.items.get(`sweep#${accountId}`)?.forbidden_until).toBeDefined();
  await seedParked(world, endedCall(world, 2, minute));
  await world.run(59);
  expect(world.state.items.get(`sweep#${accountId}`)?.forbidden_until).toBeUndefined();
  expect(await rows(world)).toEqual(Array(2).fill(['stored', null]));
});
