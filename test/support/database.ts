import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, inject } from 'vitest';
import { type NeonEndpoint, startNeonEndpoint } from '../../local/neon-endpoint.ts';
import { createDatabase, type Database, type DatabaseOptions } from '../../src/db/client.ts';
import { type TestServer, templateDatabase } from './global-setup.ts';

/** A database of a test's own, as PostgreSQL itself offers it. */
export interface SqlDatabase {
  /** The connection string, as an SSM parameter would hold it. */
  url: string;
  /** Plain SQL past the Neon endpoint, to arrange and to look. */
  query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
}

/** The same behind a Neon endpoint of the test file's own. */
export interface TestDatabase extends SqlDatabase {
  db: Database;
  /** Its `onRequest` hook makes requests fail. */
  endpoint: NeonEndpoint;
  /** Another client of the same database. */
  connect(options: DatabaseOptions): Database;
}

let server: Promise<TestServer> | undefined;

/** What a test file has open. Files may share this module, one after the other. */
interface FileResources {
  testPath: string | undefined;
  endpoint: Promise<NeonEndpoint> | undefined;
  pools: pg.Pool[];
  database: Promise<TestDatabase> | undefined;
}
const nothing = { endpoint: undefined, database: undefined };
let open: FileResources = { testPath: undefined, pools: [], ...nothing };

/** Those of the file that runs; what the one before has left open is closed. */
async function ofThisFile(): Promise<FileResources> {
  const { testPath } = expect.getState();
  if (open.testPath !== testPath) {
    const before = open;
    open = { testPath, pools: [], ...nothing };
    await close(before);
  }
  return open;
}

async function close({ pools, endpoint }: FileResources): Promise<void> {
  await Promise.all(pools.map((pool) => pool.end()));
  await (await endpoint)?.close();
}

/**
 * Makes a migrated, empty database (about 30 ms) and points the Neon driver at it; both last as long as the
 * file's tests. Databases of one test file share one endpoint, so a stage and its mirror can be two of them.
 */
export async function freshDatabase(): Promise<TestDatabase> {
  const database = await createSqlDatabase(`template ${templateDatabase} strategy file_copy`);
  const file = await ofThisFile();
  file.endpoint ??= testServer().then(startNeonEndpoint);
  const neon = await file.endpoint;
  process.env.NEON_HTTP_ENDPOINT = neon.url;
  return {
    ...database,
    db: createDatabase(database.url),
    endpoint: neon,
    connect: (options) => createDatabase(database.url, options),
  };
}

/** One database for all tests of a file, made by the first. */
export async function fileDatabase(): Promise<TestDatabase> {
  const file = await ofThisFile();
  file.database ??= freshDatabase();
  return file.database;
}

/** Makes a database without any table, for the migrator. */
export async function emptyDatabase(): Promise<SqlDatabase> {
  return createSqlDatabase('template template0 strategy file_copy');
}

async function createSqlDatabase(clauses: string): Promise<SqlDatabase> {
  const address = await testServer();
  const name = `test_${randomBytes(8).toString('hex')}`;
  const admin = new pg.Client({ ...address, database: 'postgres' });
  await admin.connect();
  await admin.query(`create database ${name} ${clauses}`);
  await admin.end();

  const url = `postgres://${address.user}:${address.password}@${address.host}:${address.port}/${name}`;
  const pool = new pg.Pool({ connectionString: url, max: 4, allowExitOnIdle: true });
  (await ofThisFile()).pools.push(pool);
  return { url, query: async (text, values) => (await pool.query(text, values)).rows };
}

/** The run's server; the first request of a run starts it. */
function testServer(): Promise<TestServer> {
  server ??= fetch(inject('testServerUrl')).then(async (response) => {
    if (!response.ok) throw new Error(await response.text());
    const address: unknown = await response.json();
    return address as TestServer;
  });
  return server;
}
