import { NeonDbError } from '@neondatabase/serverless';
import { DrizzleQueryError } from 'drizzle-orm/errors';
import { describe, expect, it } from 'vitest';
import {
  DatabaseError,
  databaseState,
  isAuthenticationFailure,
  toDatabaseError,
} from '../../src/db/errors.ts';
import { errorCode } from '../../src/platform/errors.ts';

const sqlError = (code: string) =>
  Object.assign(new NeonDbError('says what it did to ana@x.example'), { code });
const proxyError = (message: string) => Object.assign(new NeonDbError(message), { code: '', severity: '' });
const httpError = (status: number, text = '') =>
  new NeonDbError(`Server error (HTTP status ${status}): ${text}`);
/** As the driver wraps what fetch rejected with. */
const networkError = (sourceError: Error) =>
  Object.assign(new NeonDbError(`Error connecting to database: ${sourceError}`), { sourceError });
const fetchFailed = (code: string) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error('socket'), { code }) });

describe('toDatabaseError', () => {
  it.each([
    ['40001', 'transient', 'backoff'],
    ['40P01', 'transient', 'backoff'],
    ['55P03', 'transient', 'backoff'],
    ['21000', 'data', 'never'],
    ['22021', 'data', 'never'],
    ['22P02', 'data', 'never'],
    ['23505', 'data', 'never'],
    ['42P01', 'data', 'never'],
    ['54000', 'data', 'never'],
    ['57P01', 'infrastructure', 'backoff'],
    ['57P03', 'infrastructure', 'backoff'],
    ['53300', 'infrastructure', 'backoff'],
    ['08006', 'infrastructure', 'backoff'],
    ['08P01', 'infrastructure', 'backoff'],
    ['57014', 'infrastructure', 'once'],
    ['3D000', 'infrastructure', 'never'],
  ])('SQLSTATE %s is %s, retry %s', (code, kind, retry) => {
    expect(toDatabaseError(sqlError(code))).toMatchObject({ code, kind, retry });
  });

  it.each([
    [
      'a socket closed by the other side',
      networkError(fetchFailed('UND_ERR_SOCKET')),
      'connection_dropped',
      'at-once',
    ],
    ['a reset connection', networkError(fetchFailed('ECONNRESET')), 'connection_dropped', 'at-once'],
    ['an unknown host', networkError(fetchFailed('ENOTFOUND')), 'unreachable', 'backoff'],
    ['a refused connection', networkError(fetchFailed('ECONNREFUSED')), 'unreachable', 'backoff'],
    ['a network failure without code', networkError(new TypeError('fetch failed')), 'unreachable', 'backoff'],
    ['our time limit', networkError(new DOMException('x', 'TimeoutError')), 'timeout', 'backoff'],
    ['our time limit while the answer is read', new DOMException('x', 'TimeoutError'), 'timeout', 'backoff'],
    ['500', httpError(500, 'Control plane request failed'), 'http_500', 'backoff'],
    ['too many connections', httpError(500, 'Too many connections attempts'), 'http_500', 'backoff'],
    ['429', httpError(429), 'http_429', 'backoff'],
    ['503', httpError(503), 'http_503', 'backoff'],
    ['530', httpError(530), 'http_530', 'backoff'],
    [
      'a disabled endpoint as 400',
      proxyError('Control plane request failed: endpoint is disabled'),
      'configuration',
      'never',
    ],
    [
      'a disabled endpoint as 500',
      httpError(500, 'Control plane request failed: endpoint is disabled'),
      'configuration',
      'never',
    ],
    [
      'a used-up quota',
      proxyError('Your account or project has exceeded the compute time quota.'),
      'quota',
      'never',
    ],
    [
      'a wrong password',
      proxyError("password authentication failed for user 'x'"),
      'authentication',
      'never',
    ],
    ['a refusal of another kind', proxyError('missing database name'), 'refused', 'never'],
  ])('%s counts as infrastructure', (_what, error, code, retry) => {
    expect(toDatabaseError(error)).toMatchObject({ kind: 'infrastructure', code, retry });
    expect(databaseState(error)).toBe('down');
  });

  it.each([413, 507])('HTTP %d: too much data, the database is up', (status) => {
    expect(toDatabaseError(httpError(status))).toMatchObject({
      kind: 'data',
      code: 'too_large',
      retry: 'never',
    });
  });

  it('finds the error inside Drizzle’s, and keeps no word of either', () => {
    const inner = Object.assign(sqlError('23505'), {
      constraint: 'contacts_phone_store_id_pk',
      detail: 'Key (phone)=(+12125550147) already exists.',
    });
    const failure = toDatabaseError(new DrizzleQueryError('insert …', ['ana@x.example'], inner));
    expect(failure).toMatchObject({
      code: '23505',
      constraint: 'contacts_phone_store_id_pk',
    });
    expect(failure?.cause).toBeUndefined();
    expect(JSON.stringify({ ...failure, message: failure?.message, stack: failure?.stack })).not.toMatch(
      /ana@x\.example|2125550147|insert/,
    );
    expect(errorCode(failure)).toBe('23505');
  });

  it('is undefined for what is no database error', () => {
    expect(toDatabaseError(new RangeError('Invalid time value'))).toBeUndefined();
    expect(toDatabaseError('no error')).toBeUndefined();
    expect(databaseState(new TypeError('bug'))).toBe('unknown');
  });

  it('gives back what is classified already', () => {
    const failure = new DatabaseError({ kind: 'transient', retry: 'backoff' }, '40001');
    expect(toDatabaseError(failure)).toBe(failure);
  });

  it('only a refused password is an authentication failure', () => {
    expect(isAuthenticationFailure(proxyError("password authentication failed for user 'x'"))).toBe(true);
    expect(isAuthenticationFailure(httpError(500, "password authentication failed for user 'x'"))).toBe(true);
    expect(isAuthenticationFailure(sqlError('3D000'))).toBe(false);
    expect(isAuthenticationFailure(httpError(503))).toBe(false);
  });
});
