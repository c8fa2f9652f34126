import { runSweep, type SweepDependencies } from '../../../src/calls/sweep/sweep.ts';
import { createStoreDirectory } from '../../../src/leads/store-directory.ts';
import { createRingCentral } from '../../../src/ringcentral/ringcentral.ts';
import { callStores, riverside, simulatedAccounts } from '../../simulation/call-accounts.ts';
import type { CallWorld } from '../call-world.ts';

export const webhookUrl = 'https://calls.example/ringcentral';

/** The sweep's own container in a simulated world. */
export function sweepOf(world: CallWorld, overrides: Partial<SweepDependencies> = {}): SweepDependencies {
  const { clock, log, meter, state, queue, database } = world;
  const accounts = simulatedAccounts(world.simulator.url);
  const reportCapacity = () => {};
  const ringCentral = createRingCentral({ accounts, state, clock, log, meter, reportCapacity });
  return {
    neon: { run: (work) => work(database.db) },
    stores: createStoreDirectory(async () => callStores, clock, log),
    state,
    queue,
    accounts,
    ...ringCentral,
    webhookUrl,
    checkTranscriptions: async () => {},
    clock,
    log,
    meter,
    ...overrides,
  };
}

/** One sweep, now. */
export async function sweepNow(world: CallWorld, deps = sweepOf(world)): Promise<void> {
  await runSweep(deps, [riverside.accountId], new Date(world.now() + 105_000));
}

/** A sweep at the start of each of the coming minutes. */
export function sweepEachMinute(world: CallWorld, minutes: number, deps = sweepOf(world)): void {
  const first = Math.ceil(world.now() / 60_000) * 60_000;
  for (let minute = 0; minute < minutes; minute += 1) {
    world.timetable.add(first + minute * 60_000, () => sweepNow(world, deps), { endless: true });
  }
}
