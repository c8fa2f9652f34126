import { startSimulator } from '../../local/ringcentral/simulator.ts';
import { lakeside, riverside } from '../simulation/call-accounts.ts';
import { CallWorld, type WorldOptions } from '../simulation/call-world.ts';
import { fileDatabase } from '../support/database.ts';
import { FakeClock } from '../support/fakes.ts';

export type { CallWorld, WorldOptions } from '../simulation/call-world.ts';

const worlds: CallWorld[] = [];

/** A simulated world of the test's own: its RingCentral, its clock, and the file's database, emptied. */
export async function startCallWorld(options: WorldOptions & { clock?: FakeClock } = {}): Promise<CallWorld> {
  const clock = options.clock ?? new FakeClock('2026-03-04T15:00:00.000Z');
  const simulator = await startSimulator({ accounts: [riverside, lakeside], ...options, clock });
  // To make a database takes longer than most runs.
  const { db, query } = await fileDatabase();
  for (const table of ['calls', 'call_recordings', 'voicemails', 'transcripts', 'contact_timeline']) {
    await query(`delete from ${table}`);
  }
  const world = new CallWorld(clock, simulator, { db, query }, options);
  worlds.push(world);
  return world;
}

/** For `afterEach`. */
export async function stopCallWorlds(): Promise<void> {
  await Promise.all(worlds.splice(0).map(({ simulator }) => simulator.stop()));
}
