import type { ApiSurface, RateLimitGroup } from './surfaces.ts';

/** Why a request is worth another try by SQS. */
export type RetryReason =
  | 'server_error'
  | 'network'
  | 'timeout'
  /** 401 even with a token that was just made. */
  | 'unauthorized'
  | 'unexpected_status'
  /** A 200 whose body isn't JSON, or not of the shape that we read. */
  | 'unreadable_answer'
  /** A 200 without content, or 206. */
  | 'incomplete_content'
  | 'not_audio'
  /** Gate or tokens can't be read, so no call was made. */
  | 'state_unavailable';

/** Every way in which a call to RingCentral can end other than well. Each says what its caller has to do. */
export type Failure =
  /** No request was made: park the work. */
  | { kind: 'no_slot'; surface: ApiSurface; group: RateLimitGroup; waitSeconds: number }
  /** RingCentral refuses our credentials; no more logins until then. Park, and a person has to act. */
  | { kind: 'login_refused'; waitSeconds: number }
  /** 429: redrive. The gate is closed already. */
  | { kind: 'rate_limited'; surface: ApiSurface; group: string; retryAfterSeconds: number }
  | { kind: 'not_found'; surface: ApiSurface; errorCode?: string }
  | { kind: 'forbidden'; surface: ApiSurface; errorCode?: string }
  /** A retry can't help: application, parameter or data are wrong. Fail the message; a person has to act. */
  | {
      kind: 'configuration';
      surface: ApiSurface;
      reason: 'app_permission' | 'host_not_allowed' | 'unknown_account';
      errorCode?: string;
    }
  | { kind: 'retry'; surface: ApiSurface; reason: RetryReason; status?: number; errorCode?: string };

/** What a call to RingCentral answers. Exceptions are left for SSM and for faults of our own: keep the message. */
export type Outcome<T> = { kind: 'ok'; value: T } | Failure;

/** The application itself lacks a scope: nothing that another user, extension or try could change. */
const appPermissionCodes = new Set(['CMN-401', 'CMN-419']);

/**
 * RingCentral's code of an error body: the top-level one can be textual ("InsufficientPermissions") while
 * `errors[0]` holds the CMN/OAU code, so `errors` is read first. OAuth answers may have `error` alone.
 */
export function errorCodeOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { errors, errorCode, error } = body as Record<string, unknown>;
  const inner: unknown = Array.isArray(errors) ? errors[0]?.errorCode : undefined;
  return [inner, errorCode, error].find((code): code is string => typeof code === 'string' && code !== '');
}

/** The failure of an HTTP status other than 2xx, 401 and 429. */
export function failureOf(surface: ApiSurface, status: number, body: unknown): Failure {
  const code = errorCodeOf(body);
  const found = code === undefined ? {} : { errorCode: code };
  if (status === 404) return { kind: 'not_found', surface, ...found };
  if (status === 403) {
    return code !== undefined && appPermissionCodes.has(code)
      ? { kind: 'configuration', surface, reason: 'app_permission', ...found }
      : { kind: 'forbidden', surface, ...found };
  }
  return {
    kind: 'retry',
    surface,
    reason: status >= 500 ? 'server_error' : 'unexpected_status',
    status,
    ...found,
  };
}
