import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, inject } from 'vitest';
import { type NeonEndpoint, startNeonEndpoint } from '../../local/neon-endpoint.ts';
import { createDatabase, type Database, type DatabaseOptions } from '../../src/db/client.ts';
import { type TestServer, templateDatabase } from './global-setup.ts';

/** A migrated, empty database of a test's own, behind a Neon endpoint of the test file's own. */
export interface TestDatabase {
  /** The connection string, as an SSM parameter would hold it. */
  url: string;
  db: Database;
  /** Its `onRequest` hook makes requests fail. */
  endpoint: NeonEndpoint;
  /** Another client of the same database. */
  connect(options: DatabaseOptions): Database;
  /** Plain SQL past the endpoint, to arrange and to look. */
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
}

let server: Promise<TestServer> | undefined;
let endpoint: Promise<NeonEndpoint> | undefined;

/**
 * Makes a database (about 30 ms) and points the Neon driver at it; both are closed after the file's tests.
 * Databases of one test file share one endpoint, so a stage and its mirror can be two of them.
 */
export async function freshDatabase(): Promise<TestDatabase> {
  server ??= requestServer();
  const address = await server;
  endpoint ??= startNeonEndpoint(address);
  const neon = await endpoint;
  process.env.NEON_HTTP_ENDPOINT = neon.url;

  const name = `test_${randomBytes(8).toString('hex')}`;
  await asAdmin(address, `create database ${name} template ${templateDatabase} strategy file_copy`);
  const url = `postgres://${address.user}:${address.password}@${address.host}:${address.port}/${name}`;
  const pool = new pg.Pool({ connectionString: url, max: 4, allowExitOnIdle: true });
  closers.push(() => pool.end());
  return {
    url,
    db: createDatabase(url),
    endpoint: neon,
    connect: (options) => createDatabase(url, options),
    query: async (text, values) => (await pool.query(text, values)).rows,
  };
}

const closers: (() => Promise<void>)[] = [];
afterAll(async () => {
  await Promise.all(closers.map((close) => close()));
  await (await endpoint)?.close();
});

async function requestServer(): Promise<TestServer> {
  const response = await fetch(inject('testServerUrl'));
  if (!response.ok) throw new Error(await response.text());
  const address: unknown = await response.json();
  return address as TestServer;
}

async function asAdmin(address: TestServer, statement: string): Promise<void> {
  const client = new pg.Client({ ...address, database: 'postgres' });
  await client.connect();
  await client.query(statement);
  await client.end();
}
