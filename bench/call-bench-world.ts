import pg from 'pg';
import { createDatabases } from '../local/databases.ts';
import { startPostgres } from '../local/postgres.ts';
import { startSimulator } from '../local/ringcentral/simulator.ts';
import { createDatabase } from '../src/db/client.ts';
import { lakeside, riverside } from '../test/simulation/call-accounts.ts';
import { sessionOf } from '../test/simulation/call-samples.ts';
import { CallWorld } from '../test/simulation/call-world.ts';
import { FakeClock } from '../test/support/fakes.ts';

const startsAt = '2026-03-04T15:00:00.000Z';
/** When the calls of a burst hang up. */
export const hangUpAt = Date.parse('2026-03-04T15:02:00.000Z');

/** RingCentral with its default limits (10 Heavy requests a minute, the penalty restarted by each request in it). */
export async function startRingCentral(options: { tokenSeconds?: number } = {}) {
  const clock = new FakeClock(startsAt);
  const simulator = await startSimulator({ accounts: [riverside, lakeside], clock, ...options });
  return { clock, simulator };
}

/** Recorded calls of two minutes that hang up together, milliseconds apart; the recordings are there at once. */
export function burstOf(calls: number) {
  return Array.from({ length: calls }, (_, index) =>
    sessionOf({
      accountId: riverside.accountId,
      number: index + 1,
      startedAt: new Date(hangUpAt - 120_000 + index),
      disconnects: [120],
      readyAfter: 140,
    }),
  );
}

export interface BenchDatabases {
  /** The product's call flow over an empty database. */
  newWorld(): Promise<CallWorld>;
  stop(): Promise<void>;
}

/** PostgreSQL behind Neon's protocol. */
export async function startDatabases(): Promise<BenchDatabases> {
  const postgres = await startPostgres();
  const databases = await createDatabases(postgres);
  process.env.NEON_HTTP_ENDPOINT = databases.endpoint;
  const pool = new pg.Pool({ connectionString: databases.ownUrl, max: 2, allowExitOnIdle: true });
  const query = async (text: string, values?: unknown[]) => (await pool.query(text, values)).rows;
  const worlds: CallWorld[] = [];
  return {
    async newWorld() {
      await query('truncate calls, call_recordings, voicemails, transcripts, contact_timeline');
      const { clock, simulator } = await startRingCentral();
      const world = new CallWorld(clock, simulator, { db: createDatabase(databases.ownUrl), query }, {});
      worlds.push(world);
      return world;
    },
    async stop() {
      await Promise.all(worlds.map(({ simulator }) => simulator.stop()));
      await pool.end();
      await databases.close();
      await postgres.stop();
    },
  };
}
