import { startSimulator } from '../../local/ringcentral/simulator.ts';
import { lakeside, riverside } from '../simulation/call-accounts.ts';
import { CallWorld, type WorldOptions } from '../simulation/call-world.ts';
import { freshDatabase } from '../support/database.ts';
import { FakeClock } from '../support/fakes.ts';

export type { CallWorld, WorldOptions } from '../simulation/call-world.ts';

const worlds: CallWorld[] = [];

/** A simulated world of the test's own: its database, its RingCentral, its clock. */
export async function startCallWorld(options: WorldOptions & { clock?: FakeClock } = {}): Promise<CallWorld> {
  const clock = options.clock ?? new FakeClock('2026-03-04T15:00:00.000Z');
  const simulator = await startSimulator({ accounts: [riverside, lakeside], ...options, clock });
  const world = new CallWorld(clock, simulator, await freshDatabase(), options);
  worlds.push(world);
  return world;
}

/** For `afterEach`. */
export async function stopCallWorlds(): Promise<void> {
  await Promise.all(worlds.splice(0).map(({ simulator }) => simulator.stop()));
}
