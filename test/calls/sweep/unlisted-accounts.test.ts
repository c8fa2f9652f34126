import { afterEach, expect, it } from 'vitest';
import { missedCall } from '../../../local/ringcentral/sample-calls.ts';
import { runSweep } from '../../../src/calls/sweep/sweep.ts';
import { lakeside, riverside } from '../../simulation/call-accounts.ts';
import { sessionOf } from '../../simulation/call-samples.ts';
import { type CallWorld, startCallWorld, stopCallWorlds } from '../call-world.ts';
import { seedParked, sweepEachMinute, sweepNow, sweepOf } from './sweeping.ts';

afterEach(stopCallWorlds);

const { accountId } = lakeside;
const minute = 60_000;
const named = (world: CallWorld) => world.logged('call_sweep.unlisted_account');

/** Recorded calls of an account that the sweep isn't configured for. */
function ringBurst(world: CallWorld, count: number, firstNumber = 1): void {
  for (let number = firstNumber; number < firstNumber + count; number += 1) {
    const startedAt = new Date(world.now() + 10_000);
    const call = sessionOf({ accountId, startedAt, number, disconnects: [120], readyAfter: 140 });
    world.ring(call, call.events.slice(-1));
  }
}

const stored = (world: CallWorld) =>
  world.database.query('select 1 from call_recordings where stored_at is not null');

it('calls that an account without configuration has parked are found within an hour and stored', async () => {
  const world = await startCallWorld();
  sweepEachMinute(world);
  await world.run(1);
  ringBurst(world, 30);
  await world.run(59);
  expect((await stored(world)).length).toBeLessThan(30);
  await world.run(20);
  expect(await stored(world)).toHaveLength(30);
  expect(named(world)).toEqual([{ account_id: accountId, served: true }]);
  // And from then on each minute, as any other account.
  ringBurst(world, 30, 31);
  await world.run(15);
  expect(await stored(world)).toHaveLength(60);
  const [open] = await world.database.query(
    'select count(*)::int from calls where next_attempt_at is not null',
  );
  expect([open, world.queue.deadLetters]).toEqual([{ count: 0 }, []]);
  // Its subscription is none of ours.
  const watched = world.meter.totals.SubscriptionNotActive;
  expect([watched, world.requests(/subscription/)]).toEqual([0, []]);
});

it('an account is left when it has had nothing to do for a day', async () => {
  const world = await startCallWorld();
  await seedParked(
    world,
    missedCall({ accountId, number: 1, startedAt: new Date(world.now() - 20 * minute) }),
  );
  await sweepNow(world);
  expect(world.logged('call_sweep.finished').at(-1)).toMatchObject({ accounts: 2 });
  sweepEachMinute(world, sweepOf(world), 30);
  await world.run(23 * 60);
  expect(world.logged('call_sweep.finished').at(-1)).toMatchObject({ accounts: 2 });
  await world.run(3 * 60);
  expect(world.logged('call_sweep.finished').at(-1)).toMatchObject({ accounts: 1 });
  expect(Object.keys(world.state.items.get('sweep#unlisted') ?? {})).not.toContain(`seen_${accountId}`);
});

it('one without a parameter is told of each hour, and asked for nothing', async () => {
  const world = await startCallWorld();
  await seedParked(world, missedCall({ accountId, number: 1, startedAt: world.clock.now() }));
  const { accounts } = sweepOf(world);
  const deps = sweepOf(world, {
    accounts: { find: async (id) => (id === accountId ? undefined : accounts.find(id)) },
  });
  sweepEachMinute(world, deps);
  await world.run(61);
  expect(named(world)).toEqual(Array(2).fill({ account_id: accountId, served: false }));
  expect(world.logged('call_sweep.finished').at(-1)).toMatchObject({ accounts: 1, failures: 0 });
});

it('a database that can`t be asked for them fails the run after the accounts are served', async () => {
  const world = await startCallWorld();
  const deps = sweepOf(world);
  let asked = 0;
  const failing = sweepOf(world, {
    neon: {
      run: async (work, deadline) => {
        asked += 1;
        if (asked === 1) throw Object.assign(new Error('asleep'), { code: 'neon_asleep' });
        return deps.neon.run(work, deadline);
      },
    },
  });
  const run = runSweep(failing, [riverside.accountId], new Date(world.now() + 105_000));
  await expect(run).rejects.toMatchObject({ code: 'unlisted accounts neon_asleep' });
  expect(world.logged('call_sweep.pass_finished')).toHaveLength(1);
});
