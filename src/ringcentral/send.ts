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

/**
 * Exactly one HTTP request by the SDK: `retry` turns off its own second request after 401 and 429 (and its
 * sleeping), `skipAuthCheck` its own token handling; redirects aren't followed. Logs the request, and tells the
 * gate what the answer says of the limit.
 */
export function createSend({ gate, clock, log, reportCapacity }: SendPorts): Send {
  return async (account, slot, context, { method, url, headers, body, timeoutMs }) => {
    const { surface } = context;
    const fields = {
      api_surface: surface,
      account_id: context.accountId,
      telephony_session_id: context.telephonySessionId,
    };
    const { server, clientId, clientSecret } = account;
    const platform = new SDK({ server, clientId, clientSecret, ...ownFetch }).platform();
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

    log.info(logEvents.ringcentralRequestStarted, fields);
    const startedAt = clock.now().getTime();
    const sent = await platform.send(options).then(
      (response) => ({ response, error: undefined }),
      (error: unknown) => ({ response: responseOf(error), error }),
    );
    const durationMs = clock.now().getTime() - startedAt;
    const { response } = sent;
    if (!response) {
      const reason = signal.aborted ? 'timeout' : 'network';
      log.warn(logEvents.ringcentralRequestCompleted, {
        ...fields,
        duration_ms: durationMs,
        error_code: signal.aborted ? 'Timeout' : errorCode(sent.error),
        client_error_action: surfaces[surface].onError,
      });
      return { kind: 'retry', surface, reason };
    }

    const limits = readRateLimit(response.headers);
    log[response.status >= 400 ? 'warn' : 'info'](logEvents.ringcentralRequestCompleted, {
      ...fields,
      http_status: response.status,
      duration_ms: durationMs,
      rate_limit_group: limits.group,
      rate_limit_limit: limits.limit,
      rate_limit_remaining: limits.remaining,
      rate_limit_window: limits.windowSeconds,
      ...(response.status >= 400 ? { client_error_action: actionOf(surface, response.status) } : {}),
    });
    if (response.status === 429) {
      const retryAfterSeconds = readRetryAfter(response.headers);
      const group = limits.group ?? slot.key.group;
      log.warn(logEvents.ringcentralRateLimited, {
        ...fields,
        retry_after_seconds: retryAfterSeconds,
        rate_limit_group: group,
        client_error_action: 'throw',
      });
      await tellGate(() => closeGates(slot, limits, retryAfterSeconds));
      return { kind: 'rate_limited', surface, group, retryAfterSeconds };
    }
    const { limit, remaining } = limits;
    if (limit !== undefined && remaining !== undefined) {
      reportCapacity({ accountId: context.accountId, source: surface, limit, remaining });
    }
    if ((limits.group ?? slot.key.group) === slot.key.group) await tellGate(() => gate.learn(slot, limits));
    return { kind: 'answer', response };
  };

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

/** The answer behind the SDK's ApiError; none for network errors and time-outs. */
function responseOf(error: unknown): Response | undefined {
  if (!(error instanceof Error) || !('response' in error)) return undefined;
  return error.response instanceof Response ? error.response : undefined;
}

const actionOf = (surface: ApiSurface, status: number): ClientErrorAction =>
  status === 429 ? 'throw' : surfaces[surface].onError;

const groups: readonly string[] = ['light', 'medium', 'heavy', 'auth'] satisfies RateLimitGroup[];
const isGroup = (group: string | undefined): group is RateLimitGroup =>
  group !== undefined && groups.includes(group);
