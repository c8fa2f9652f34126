import { afterEach, describe, expect, it } from 'vitest';
import { answeredCall } from '../../../local/ringcentral/sample-calls.ts';
import { runSweep, SweepFailedError } from '../../../src/calls/sweep/sweep.ts';
import { lakeside, riverside } from '../../simulation/call-accounts.ts';
import { withShortAudio } from '../../simulation/call-samples.ts';
import { brokenStateTable } from '../../support/fakes.ts';
import { startCallWorld, stopCallWorlds } from '../call-world.ts';
import { noPasses, seedParked, sweepEachMinute, sweepNow, sweepOf } from './sweeping.ts';

afterEach(stopCallWorlds);

const { accountId } = riverside;
const always = { SweepRuns: 1, GateClosed: 0, ParkedCalls: 0, CallsWithoutWebhook: 0 };

describe('metrics', () => {
  it('come from every run, and the subscription`s only when it was looked at', async () => {
    const world = await startCallWorld();
    await noPasses(world);
    await sweepNow(world);
    expect(world.meter.totals).toEqual(always);
    expect(world.logged('call_sweep.finished')).toEqual([
      { accounts: 1, gates_closed: 0, parked: 0, without_webhook: 0, failures: 0 },
    ]);
    await world.run(61);
    await sweepNow(world);
    expect(world.meter.totals).toEqual({ ...always, SweepRuns: 2, SubscriptionNotActive: 0 });
  });

  it('come from a run without accounts, and from one that fails', async () => {
    const world = await startCallWorld();
    await runSweep(sweepOf(world), [], new Date(world.now() + 100_000));
    expect(world.meter.totals).toEqual(always);
    await expect(sweepNow(world, sweepOf(world, { state: brokenStateTable }))).rejects.toThrow(
      SweepFailedError,
    );
    expect(world.meter.totals).toEqual({ ...always, SweepRuns: 2 });
  });
});

describe('a part that fails', () => {
  it('stops neither the other parts nor the other accounts, and fails the run', async () => {
    const world = await startCallWorld();
    const startedAt = new Date(world.now() - 300_000);
    const call = withShortAudio(answeredCall({ accountId, number: 1, startedAt, talkSeconds: 60 }));
    await seedParked(world, call);
    const checked: string[] = [];
    const deps = sweepOf(world, {
      subscriptions: {
        ...sweepOf(world).subscriptions,
        list: async (account) => {
          if (account === lakeside.accountId)
            throw Object.assign(new Error('SSM'), { code: 'ParameterError' });
          return { kind: 'configuration', surface: 'subscription', reason: 'app_permission' };
        },
      },
      checkTranscriptions: async (account) => checked.push(account),
    });
    const run = runSweep(deps, [lakeside.accountId, accountId], new Date(world.now() + 100_000));
    await expect(run).rejects.toMatchObject({
      code: `${lakeside.accountId}: subscription ParameterError,${accountId}: subscription app_permission`,
    });
    expect(checked.sort()).toEqual([accountId, lakeside.accountId]);
    await world.run(1);
    expect(await world.calls()).toMatchObject([{ recording_status: 'stored' }]);
  });

  it('R31 a scope that is missing fails the run, and is asked about each five minutes only', async () => {
    const world = await startCallWorld();
    const fault = { kind: 'status', status: 403, errorCode: 'CMN-401' } as const;
    world.simulator.faults.add({ surface: 'account_call_log', fault, times: 99 });
    const failures: unknown[] = [];
    for (let minute = 0; minute < 11; minute += 1) {
      await sweepNow(world).catch((error: unknown) => failures.push(error));
      await world.run(1);
    }
    expect(failures).toHaveLength(3);
    expect(world.requests(/account_call_log/)).toHaveLength(3);
  });
});

it('a part doesn`t begin when the invocation is about to end', async () => {
  const world = await startCallWorld();
  await runSweep(sweepOf(world), [accountId], new Date(world.now() + 30_000));
  expect(world.requests()).toEqual([]);
  await sweepNow(world);
  expect(world.requests(/account_call_log/)).toHaveLength(1);
});

it('every account gets its turn, though a minute is never enough for all', async () => {
  const world = await startCallWorld();
  const accountIds = Array.from({ length: 9 }, (_, index) => String(900_001 + index));
  const listed = new Set<string>();
  const deps = sweepOf(world, {
    subscriptions: { ...sweepOf(world).subscriptions, list: async () => ({ kind: 'ok', value: [] }) },
    accounts: { find: async () => undefined },
    callLog: {
      ...sweepOf(world).callLog,
      // RingCentral takes its time, and fails in the end.
      listCallLog: async (account) => {
        listed.add(account);
        world.clock.advance(12_000);
        const failure = { kind: 'retry', surface: 'account_call_log', reason: 'timeout' } as const;
        return { snapshot: { fetchedAt: '', coverage: 'account', records: [] }, failure };
      },
    },
  });
  await runSweep(deps, accountIds, new Date(world.now() + 105_000));
  expect(listed.size).toBeLessThan(accountIds.length);
  for (let minute = 1; minute < accountIds.length; minute += 1) {
    world.clock.advance(60_000 - (world.now() % 60_000));
    await runSweep(deps, accountIds, new Date(world.now() + 105_000));
  }
  expect([...listed].sort()).toEqual(accountIds);
});

it('open transcription jobs are looked up each five minutes', async () => {
  const world = await startCallWorld();
  const start = world.now();
  const checks: number[] = [];
  sweepEachMinute(
    world,
    sweepOf(world, { checkTranscriptions: async () => checks.push((world.now() - start) / 60_000) }),
  );
  await world.run(12);
  expect(checks).toEqual([0, 5, 10]);
});
