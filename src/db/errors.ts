import { NeonDbError } from '@neondatabase/serverless';

/**
 * `transient` — rolled back because of others (deadlock, serialization, lock wait): the database is up.
 * `infrastructure` — Neon or the way to it: counts for the breaker.
 * `data` — the statement or its values are wrong: the database is up, and a retry ends the same.
 */
export type DatabaseErrorKind = 'transient' | 'infrastructure' | 'data';

/** When an idempotent batch may be run again. `at-once`: a keep-alive connection had died of old age. */
export type RetryAdvice = 'at-once' | 'backoff' | 'once' | 'never';

interface Verdict {
  kind: DatabaseErrorKind;
  retry: RetryAdvice;
}

/**
 * A database error with all that may be logged of it. The driver's message, detail and parameters hold
 * personal data and stay behind.
 */
export class DatabaseError extends Error implements Verdict {
  override name = 'DatabaseError';
  readonly kind: DatabaseErrorKind;
  readonly retry: RetryAdvice;
  /** SQLSTATE, or a word of this file's such as `timeout` or `http_503`. */
  readonly code: string;
  readonly constraint: string | undefined;
  constructor({ kind, retry }: Verdict, code: string, constraint?: string) {
    super(`Database ${kind} error ${code}${constraint ? ` (${constraint})` : ''}`);
    this.kind = kind;
    this.retry = retry;
    this.code = code;
    this.constraint = constraint;
  }
}

const contention = new Set(['40001', '40P01', '55P03']);
/** SQLSTATE classes of wrong statements and values: unsupported, cardinality, data, constraint, syntax, limit, raised. */
const dataClasses = new Set(['0A', '21', '22', '23', '42', '44', '54', 'P0']);
/** Wrong credentials, role or database name: nothing that time heals. */
const configurationClasses = new Set(['28', '3D']);
const droppedCodes = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
const unreachableCodes = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const infrastructure = (retry: RetryAdvice): Verdict => ({ kind: 'infrastructure', retry });

/**
 * What kind of database error this is, or undefined when it is none. Walks the chain of causes: Drizzle wraps
 * single queries in a DrizzleQueryError, batches throw the driver's NeonDbError bare, and the driver keeps
 * network errors in `sourceError`.
 */
export function toDatabaseError(error: unknown): DatabaseError | undefined {
  const chain = causes(error);
  for (const link of chain) {
    if (link instanceof DatabaseError) return link;
    if (link instanceof NeonDbError && isSqlState(link.code)) {
      return new DatabaseError(fromSqlState(link.code), link.code, link.constraint);
    }
  }
  for (const link of chain) {
    const network = fromNetworkError(link);
    if (network) return network;
  }
  const refused = chain.find((link) => link instanceof NeonDbError);
  return refused && fromProxyMessage(refused.message);
}

export type DatabaseState = 'up' | 'down' | 'unknown';

/** What an error tells of the database. Whatever it answered itself, a refusal included, means that it is up. */
export function databaseState(error: unknown): DatabaseState {
  const kind = toDatabaseError(error)?.kind;
  if (kind === undefined) return 'unknown';
  return kind === 'infrastructure' ? 'down' : 'up';
}

/** The password was refused: the connection string may have been rotated. */
export function isAuthenticationFailure(error: unknown): boolean {
  return toDatabaseError(error)?.code === 'authentication';
}

function causes(error: unknown): Error[] {
  const chain: Error[] = [];
  let link = error;
  while (link instanceof Error && chain.length < 8) {
    chain.push(link);
    link = link.cause ?? ('sourceError' in link ? link.sourceError : undefined);
  }
  return chain;
}

/** Neon's own errors have an empty code, not a missing one. */
function isSqlState(code: string | undefined): code is string {
  return /^[0-9A-Z]{5}$/.test(code ?? '');
}

function fromSqlState(code: string): Verdict {
  const sqlClass = code.slice(0, 2);
  if (contention.has(code)) return { kind: 'transient', retry: 'backoff' };
  if (dataClasses.has(sqlClass)) return { kind: 'data', retry: 'never' };
  if (configurationClasses.has(sqlClass)) return infrastructure('never');
  // statement_timeout: the work was too slow once and may not be again; more often would only add load.
  if (code === '57014') return infrastructure('once');
  return infrastructure('backoff');
}

function fromNetworkError(error: Error): DatabaseError | undefined {
  if (error.name === 'TimeoutError' || error.name === 'AbortError') {
    return new DatabaseError(infrastructure('backoff'), 'timeout');
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (droppedCodes.has(code)) return new DatabaseError(infrastructure('at-once'), 'connection_dropped');
  if (unreachableCodes.has(code)) return new DatabaseError(infrastructure('backoff'), 'unreachable');
  return undefined;
}

/**
 * Neon's proxy tells what went wrong in words only: the same fault comes as 400 or as 500
 * (neondatabase/neon, proxy/src/serverless/sql_over_http.rs).
 */
function fromProxyMessage(message: string): DatabaseError {
  const status = /HTTP status (\d{3})/.exec(message)?.[1];
  if (/password authentication failed/i.test(message)) {
    return new DatabaseError(infrastructure('never'), 'authentication');
  }
  if (/quota/i.test(message)) return new DatabaseError(infrastructure('never'), 'quota');
  if (/endpoint is disabled|not found|cannot be found/i.test(message)) {
    return new DatabaseError(infrastructure('never'), 'configuration');
  }
  if (status === '413' || status === '507') {
    return new DatabaseError({ kind: 'data', retry: 'never' }, 'too_large');
  }
  if (status) return new DatabaseError(infrastructure('backoff'), `http_${status}`);
  // The driver's own network failure, without a code that is known here.
  if (message.startsWith('Error connecting')) {
    return new DatabaseError(infrastructure('backoff'), 'unreachable');
  }
  return new DatabaseError(infrastructure('never'), 'refused');
}
