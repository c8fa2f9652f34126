import type { z } from 'zod';
import type { Accounts, RingCentralAccount } from './account.ts';
import { type Failure, failureOf, type Outcome } from './errors.ts';
import type { Gate } from './gate.ts';
import { allowedUrl } from './hosts.ts';
import type { RequestContext, Send } from './send.ts';
import { type RateLimitGroup, surfaces } from './surfaces.ts';
import type { Tokens } from './tokens.ts';
import { StateUnavailableError } from './versioned-item.ts';

/** One call to the API: where, and what is logged with it. */
export interface ApiCall extends RequestContext {
  method?: 'GET' | 'POST' | 'DELETE';
  /** A path of the account's server, or an absolute URI that RingCentral returned. */
  uri: string;
  query?: Record<string, string>;
  accept?: string;
  body?: Record<string, unknown>;
  /** The rate-limit group where the surface has several. */
  group?: RateLimitGroup;
  /** For the answer including its body; default 15 s. */
  timeoutMs?: number;
}

/**
 * Calls RingCentral: host check, token, slot, one HTTP request; after a 401 once more with a token from the
 * shared path (and a slot of its own). `read` gets a 2xx answer.
 */
export type CallApi = <T>(
  call: ApiCall,
  read: (response: Response) => Promise<Outcome<T>>,
) => Promise<Outcome<T>>;

export interface ClientPorts {
  accounts: Accounts;
  tokens: Tokens;
  gate: Gate;
  send: Send;
}

const defaultTimeoutMs = 15_000;

export function createCallApi({ accounts, tokens, gate, send }: ClientPorts): CallApi {
  async function request(account: RingCentralAccount, url: URL, call: ApiCall): Promise<Response | Failure> {
    const { surface } = call;
    const group = call.group ?? surfaces[surface].group;
    let rejected: string | undefined;
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const token = await tokens.get(account, rejected);
      if (token.kind !== 'token') return token;
      const taken = await gate.take({ owner: account.accountId, group });
      if (!('slot' in taken)) return { kind: 'no_slot', surface, group, waitSeconds: taken.waitSeconds };
      const answer = await send(account, taken.slot, call, {
        method: call.method ?? 'GET',
        url,
        headers: {
          authorization: `Bearer ${token.accessToken}`,
          ...(call.accept === undefined ? {} : { accept: call.accept }),
        },
        ...(call.body === undefined ? {} : { body: call.body }),
        timeoutMs: call.timeoutMs ?? defaultTimeoutMs,
      });
      if (answer.kind !== 'answer') return answer;
      if (answer.response.status !== 401) return answer.response;
      rejected = token.accessToken;
    }
    return { kind: 'retry', surface, reason: 'unauthorized', status: 401 };
  }

  return async (call, read) => {
    const { surface, accountId } = call;
    const account = await accounts.find(accountId);
    if (!account) return { kind: 'configuration', surface, reason: 'unknown_account' };
    const url = urlOf(call, account.server);
    if (!url) return { kind: 'configuration', surface, reason: 'host_not_allowed' };
    try {
      const answer = await request(account, url, call);
      if (!(answer instanceof Response)) return answer;
      return answer.ok ? await read(answer) : failureOf(surface, answer.status, await jsonOf(answer));
    } catch (error) {
      if (error instanceof StateUnavailableError)
        return { kind: 'retry', surface, reason: 'state_unavailable' };
      throw error;
    }
  };
}

/** Before a token is anywhere near the request. */
function urlOf({ uri, query }: ApiCall, server: string): URL | undefined {
  if (!URL.canParse(uri, server)) return undefined;
  const url = allowedUrl(new URL(uri, server).href, server);
  for (const [name, value] of Object.entries(query ?? {})) url?.searchParams.set(name, value);
  return url;
}

/** Reads a 2xx answer as JSON of a shape. A cut or foreign body is worth another try. */
export function readAs<T>(
  surface: ApiCall['surface'],
  schema: z.ZodType<T>,
): (response: Response) => Promise<Outcome<T>> {
  return async (response) => {
    const parsed = schema.safeParse(await jsonOf(response));
    if (parsed.success) return { kind: 'ok', value: parsed.data };
    return { kind: 'retry', surface, reason: 'unreadable_answer', status: response.status };
  };
}

/** The body's JSON, or undefined where there is none: cut, hanging, HTML. */
async function jsonOf(response: Response): Promise<unknown> {
  try {
    return JSON.parse(await response.text());
  } catch {
    return undefined;
  }
}
