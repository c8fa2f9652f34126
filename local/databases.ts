import { fileURLToPath } from 'node:url';
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { migrate } from '../src/db/migrator.ts';
import { startNeonEndpoint } from './neon-endpoint.ts';
import type { PostgresServer } from './postgres.ts';

const migrations = fileURLToPath(new URL('../drizzle', import.meta.url));
const own = 'callytics';
const mirror = 'callytics_mirror';

/** The stage's Neon database and the mirror, behind one Neon endpoint. */
export interface Databases {
  /** For NEON_HTTP_ENDPOINT. */
  endpoint: string;
  /** Connection strings, as the SSM parameters hold them. */
  ownUrl: string;
  mirrorUrl: string;
  /** The stage's own database past the endpoint, to look into it. */
  own: NodePgDatabase;
  close(): Promise<void>;
}

/** Makes both databases on the server, migrated and empty. The server stays the caller's. */
export async function createDatabases(server: PostgresServer): Promise<Databases> {
  await query(server.url('postgres'), (client) => client.query(`create database ${own}`));
  await query(server.url(own), (client) => migrate(client, migrations));
  await query(server.url('postgres'), (client) =>
    client.query(`create database ${mirror} template ${own} strategy file_copy`),
  );
  const endpoint = await startNeonEndpoint(server);
  const pool = new pg.Pool({ connectionString: server.url(own), max: 2, allowExitOnIdle: true });
  pool.on('error', () => undefined);
  return {
    endpoint: endpoint.url,
    ownUrl: server.url(own),
    mirrorUrl: server.url(mirror),
    own: drizzle(pool),
    async close() {
      await Promise.all([endpoint.close(), pool.end()]);
    },
  };
}

async function query(url: string, run: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await run(client);
  } finally {
    await client.end();
  }
}
