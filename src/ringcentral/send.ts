import { SDK, type SendOptions } from '@ringcentral/sdk';
import type { Clock } from '../platform/clock.ts';
import { errorCode } from '../platform/errors.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Log } from '../platform/logger.ts';
import type { RingCentralAccount } from './account.ts';
import type { ReportCapacity } from './capacity-metrics.ts';
import type { Failure } from './errors.ts';
import type { Gate, Slot } from './gate.ts';
import { type RateLimitHeaders, readRateLimit, readRetryAfter } from './rate-limit-headers.ts';
import { type ApiSurface, type ClientErrorAction, type RateLimitGroup, surfaces } from './surfaces.ts';

/** What is logged with every line of one request. */
export interface RequestContext {
  surface: ApiSurface;
  accountId: string;
  telephonySessionId?: string;
}

export interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Absolute, and checked by `allowedUrl`. */
  url: URL;
  headers: Record<string, string>;
  body?: Record<string, unknown>;
  /** For the answer including its body. */
  timeoutMs: number;
}

/** An answer with any status but 429, or what came instead of one. */
export type Answer =
  | { kind: 'answer'; response: Response }
  | Extract<Failure, { kind: 'rate_limited' | 'retry' }>;

export type Send = (
  account: RingCentralAccount,
  slot: Slot,
  context: RequestContext,
  request: HttpRequest,
) => Promise<Answer>;

export interface SendPorts {
  gate: Gate;
  clock: Clock;
  log: Log;
  reportCapacity: ReportCapacity;
}

/** Node's own fetch instead of node-fetch 2, which ends the process when an error answer's body is aborted. */
const ownFetch = { fetch, Request, Response, Headers };

/** Makes one request, logs it, and tells the gate what its answer says of the limit. */
export function createSend({ gate, clock, log, reportCapacity }: SendPorts): Send {
  return async (account, slot, context, request) => {
    const { surface, accountId, telephonySessionId } = context;
    const { onError } = surfaces[surface];
    const fields = { api_surface: surface, account_id: accountId, telephony_session_id: telephonySessionId };
    log.info(logEvents.ringcentralRequestStarted, fields);
    const startedAt = clock.now().getTime();
    const sent = await sendOnce(account, request);
    const timed = { ...fields, duration_ms: clock.now().getTime() - startedAt };
    if (sent.kind === 'unanswered') {
      const failed = { ...timed, error_code: sent.errorCode, client_error_action: onError };
      log.warn(logEvents.ringcentralRequestCompleted, failed);
      return { kind: 'retry', surface, reason: sent.reason };
    }

    const { response } = sent;
    const { status } = response;
    const limits = readRateLimit(response.headers);
    const answered = {
      ...timed,
      http_status: status,
      rate_limit_group: limits.group,
      rate_limit_limit: limits.limit,
      rate_limit_remaining: limits.remaining,
      rate_limit_window: limits.windowSeconds,
    };
    if (status < 400) log.info(logEvents.ringcentralRequestCompleted, answered);
    else {
      const client_error_action: ClientErrorAction = status === 429 ? 'throw' : onError;
      log.warn(logEvents.ringcentralRequestCompleted, { ...answered, client_error_action });
    }
    if (status === 429) return limited(slot, context, response.headers);

    const { limit, remaining } = limits;
    if (limit !== undefined && remaining !== undefined) {
      reportCapacity({ accountId, source: surface, limit, remaining });
    }
    if ((limits.group ?? slot.key.group) === slot.key.group) await tellGate(() => gate.learn(slot, limits));
    return { kind: 'answer', response };
  };

  async function limited(
    slot: Slot,
    { surface, accountId, telephonySessionId }: RequestContext,
    headers: Headers,
  ): Promise<Answer> {
    const named = readRateLimit(headers);
    const retryAfterSeconds = readRetryAfter(headers);
    const group = named.group ?? slot.key.group;
    log.warn(logEvents.ringcentralRateLimited, {
      api_surface: surface,
      account_id: accountId,
      telephony_session_id: telephonySessionId,
      retry_after_seconds: retryAfterSeconds,
      rate_limit_group: group,
      client_error_action: 'throw',
    });
    await tellGate(() => closeGates(slot, named, retryAfterSeconds));
    return { kind: 'rate_limited', surface, group, retryAfterSeconds };
  }

  /** The bucket that was asked, and the one that the answer names if that is another. */
  async function closeGates({ key }: Slot, { group }: RateLimitHeaders, seconds: number): Promise<void> {
    await gate.close(key, seconds);
    if (group !== key.group && isGroup(group)) await gate.close({ ...key, group }, seconds);
  }

  /** The request is made; that the gate can't be told must not lose its answer. */
  async function tellGate(tell: () => Promise<void>): Promise<void> {
    try {
      await tell();
    } catch (error) {
      log.warn(logEvents.stateUnreadable, { state: 'gate', error_code: errorCode(error) });
    }
  }
}

type Sent =
  | { kind: 'answered'; response: Response }
  | { kind: 'unanswered'; reason: 'timeout' | 'network'; errorCode: string };

/**
 * Exactly one HTTP request by the SDK: `retry` turns off its own second request after 401 and 429 (and its
 * sleeping), `skipAuthCheck` its own token handling; redirects aren't followed.
 */
async function sendOnce(
  { server, clientId, clientSecret }: RingCentralAccount,
  { method, url, headers, body, timeoutMs }: HttpRequest,
): Promise<Sent> {
  const signal = AbortSignal.timeout(timeoutMs);
  const options: SendOptions & { signal: AbortSignal; redirect: 'manual' } = {
    method,
    url: url.href,
    headers: { ...headers },
    body,
    skipAuthCheck: true,
    retry: true,
    redirect: 'manual',
    signal,
  };
  try {
    const platform = new SDK({ server, clientId, clientSecret, ...ownFetch }).platform();
    return { kind: 'answered', response: await platform.send(options) };
  } catch (error) {
    const response = responseOf(error);
    if (response) return { kind: 'answered', response };
    // The SDK drops the name of an aborted request's error, so the signal is asked.
    if (signal.aborted) return { kind: 'unanswered', reason: 'timeout', errorCode: 'Timeout' };
    return { kind: 'unanswered', reason: 'network', errorCode: errorCode(error) };
  }
}

/** The answer behind the SDK's ApiError; none for network errors and time-outs. */
function responseOf(error: unknown): Response | undefined {
  if (!(error instanceof Error) || !('response' in error)) return undefined;
  return error.response instanceof Response ? error.response : undefined;
}

const groups: readonly string[] = ['light', 'medium', 'heavy', 'auth'] satisfies RateLimitGroup[];
const isGroup = (group: string | undefined): group is RateLimitGroup =>
  group !== undefined && groups.includes(group);
