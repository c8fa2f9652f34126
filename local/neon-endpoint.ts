import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import pg from 'pg';

/** How to reach the PostgreSQL server behind the endpoint. */
export interface PostgresAddress {
  host: string;
  port: number;
  user: string;
  password: string;
}

/** What the fault hook sees of a request. */
interface NeonRequest {
  database: string;
  /** SQL texts, in order; one for a single query, several for a batch. */
  queries: readonly string[];
}

/**
 * What may go wrong with a request: an HTTP error in place of an answer, no answer at all, or a connection
 * dropped before the statements ran or after their COMMIT (the client can't tell these two apart).
 */
export type NeonFault =
  | { kind: 'fail'; status: number; message: string }
  | { kind: 'hang' }
  | { kind: 'drop'; when: 'before' | 'after' };

export interface NeonEndpoint {
  /** For `NEON_HTTP_ENDPOINT`. */
  url: string;
  /** Asked before each request; `undefined` lets it through. */
  onRequest: ((request: NeonRequest) => NeonFault | undefined) | undefined;
  close(): Promise<void>;
}

interface Query {
  query: string;
  params?: unknown[];
}

/** An error with an HTTP status and Neon's error body. */
class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Results as text: the driver parses them by type OID itself. */
const textTypes = { getTypeParser: () => (value: string) => value };
/** The Neon proxy's pool has 20 connections an endpoint. */
const poolSize = 20;
const isolationLevels: Record<string, string> = {
  ReadUncommitted: 'READ UNCOMMITTED',
  ReadCommitted: 'READ COMMITTED',
  RepeatableRead: 'REPEATABLE READ',
  Serializable: 'SERIALIZABLE',
};

/**
 * Neon's SQL over HTTP (`POST /sql`) in front of a PostgreSQL server, as the unchanged
 * @neondatabase/serverless driver speaks it: single queries and batches, parameters and results as text,
 * Neon's error bodies, cancel when the client goes away, no session state between requests.
 * The database is the one that the connection string names. Listens on 127.0.0.1 only.
 */
export async function startNeonEndpoint(postgres: PostgresAddress): Promise<NeonEndpoint> {
  const pools = new Map<string, pg.Pool>();
  const poolOf = (database: string) => {
    const pool =
      pools.get(database) ??
      new pg.Pool({ ...postgres, database, max: poolSize, idleTimeoutMillis: 2_000, allowExitOnIdle: true });
    // An idle connection that ends (a database dropped under it) is no error of any request.
    if (!pools.has(database)) pool.on('error', () => undefined);
    pools.set(database, pool);
    return pool;
  };

  const endpoint: NeonEndpoint = { url: '', onRequest: undefined, close };
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => sendError(response, error));
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readText(request);
    if (request.method !== 'POST' || request.url !== '/sql') throw new Refusal(400, 'query is not supported');
    const database = authorize(request.headers['neon-connection-string'], postgres);
    const { queries, batch } = parseBody(body);
    const fault = endpoint.onRequest?.({ database, queries: queries.map(({ query }) => query) });
    if (fault?.kind === 'hang') return;
    if (fault?.kind === 'fail') throw new Refusal(fault.status, fault.message);
    if (fault?.kind === 'drop' && fault.when === 'before') return void request.socket.destroy();

    const client = await poolOf(database).connect();
    const cancel = () => cancelQuery(poolOf('postgres'), client);
    response.once('close', cancel);
    let broken = true;
    try {
      const results = batch
        ? await runBatch(client, queries, beginStatement(request.headers), () => response.destroyed)
        : await Promise.all(queries.map((query) => run(client, query)));
      broken = response.destroyed;
      if (fault?.kind === 'drop') request.socket.destroy();
      else send(response, 200, batch ? { results } : results[0]);
    } catch (error) {
      broken = response.destroyed;
      throw error;
    } finally {
      response.removeListener('close', cancel);
      await release(client, broken);
    }
  }

  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await Promise.all([...pools.values()].map((pool) => pool.end()));
  }

  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The endpoint has no port');
  endpoint.url = `http://127.0.0.1:${address.port}/sql`;
  return endpoint;
}

/** The database's name, once user and password are right. Neon's proxy refuses these without SQLSTATE. */
function authorize(header: string | string[] | undefined, postgres: PostgresAddress): string {
  if (typeof header !== 'string' || !URL.canParse(header)) {
    throw new Refusal(400, 'missing connection string');
  }
  const { username, password, pathname } = new URL(header);
  const user = decodeURIComponent(username);
  if (user !== postgres.user || decodeURIComponent(password) !== postgres.password) {
    throw new Refusal(400, `password authentication failed for user '${user}'`);
  }
  const database = decodeURIComponent(pathname.slice(1));
  if (database === '') throw new Refusal(400, 'missing database name');
  return database;
}

function parseBody(body: string): { queries: Query[]; batch: boolean } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    throw new Refusal(400, 'could not parse the request body as JSON');
  }
  if (isQuery(parsed)) return { queries: [parsed], batch: false };
  const queries: unknown =
    typeof parsed === 'object' && parsed !== null && 'queries' in parsed && parsed.queries;
  if (Array.isArray(queries) && queries.every(isQuery)) return { queries, batch: true };
  throw new Refusal(400, 'data did not match any variant of untagged enum Payload');
}

function isQuery(value: unknown): value is Query {
  return typeof value === 'object' && value !== null && 'query' in value && typeof value.query === 'string';
}

function beginStatement(headers: IncomingMessage['headers']): string {
  const level = headers['neon-batch-isolation-level'];
  const isolation = typeof level === 'string' ? isolationLevels[level] : undefined;
  if (level !== undefined && isolation === undefined) throw new Refusal(400, 'invalid isolation level');
  const modes = [
    isolation && `ISOLATION LEVEL ${isolation}`,
    headers['neon-batch-read-only'] === 'true' && 'READ ONLY',
    headers['neon-batch-deferrable'] === 'true' && 'DEFERRABLE',
  ].filter(Boolean);
  return `START TRANSACTION ${modes.join(', ')}`;
}

/** All or nothing: the first error rolls back and is the answer. */
async function runBatch(client: pg.PoolClient, queries: Query[], begin: string, gone: () => boolean) {
  await client.query(begin);
  try {
    const results = [];
    for (const query of queries) {
      if (gone()) throw new Refusal(400, 'Query cancelled, connection was terminated');
      results.push(await run(client, query));
    }
    await client.query('COMMIT');
    return results;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** One statement by the extended protocol (two in one text are refused, 42601), in Neon's answer form. */
async function run(client: pg.PoolClient, { query, params = [] }: Query) {
  const config = {
    text: query,
    values: params,
    rowMode: 'array',
    types: textTypes,
    queryMode: 'extended',
  } satisfies pg.QueryArrayConfig & { queryMode: string };
  const { fields, rows, command, rowCount } = await client.query(config);
  return {
    fields: fields.map((field) => ({ ...field, format: 'text' })),
    rows,
    command,
    rowCount,
    rowAsArray: true,
  };
}

/** Ends what a client that went away was waiting for, so that it holds no locks. */
function cancelQuery(admin: pg.Pool, client: pg.PoolClient): void {
  const pid = 'processID' in client ? client.processID : undefined;
  admin.query('select pg_cancel_backend($1)', [pid]).catch(() => undefined);
}

/** Gives the connection back without the session's settings, locks and temporary tables. */
async function release(client: pg.PoolClient, broken: boolean): Promise<void> {
  if (!broken) {
    try {
      await client.query('DISCARD ALL');
      return client.release();
    } catch {
      // The connection is gone: it is thrown away below.
    }
  }
  client.release(true);
}

function sendError(response: ServerResponse, error: unknown): void {
  if (error instanceof pg.DatabaseError) {
    send(response, 400, postgresErrorBody(error));
  } else {
    // Neon's own errors have empty strings where PostgreSQL's have SQLSTATE and severity.
    const message = error instanceof Error ? error.message : String(error);
    send(response, error instanceof Refusal ? error.status : 500, { message, code: '', severity: '' });
  }
}

function postgresErrorBody(error: pg.DatabaseError) {
  return {
    message: error.message,
    code: error.code ?? null,
    detail: error.detail ?? null,
    hint: error.hint ?? null,
    position: error.position ?? null,
    internalPosition: error.internalPosition ?? null,
    internalQuery: error.internalQuery ?? null,
    severity: error.severity ?? null,
    where: error.where ?? null,
    table: error.table ?? null,
    column: error.column ?? null,
    schema: error.schema ?? null,
    dataType: error.dataType ?? null,
    constraint: error.constraint ?? null,
    file: error.file ?? null,
    line: error.line ?? null,
    routine: error.routine ?? null,
  };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return;
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Access-Control-Allow-Origin': '*',
    'neon-request-id': randomUUID(),
  });
  response.end(JSON.stringify(body));
}
