import { createHash } from 'node:crypto';
import type { Clock } from '../platform/clock.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Log } from '../platform/logger.ts';
import type { Meter } from '../platform/metrics.ts';
import type { StateTable } from '../platform/state-table.ts';
import type { Accounts, RingCentralAccount } from './account.ts';
import type { Failure } from './errors.ts';
import type { Gate, Slot } from './gate.ts';
import { readItem, type VersionedItem, writeItem } from './versioned-item.ts';

/** The answer to one token request. */
export type Login =
  | { kind: 'granted'; accessToken: string; expiresInSeconds: number }
  /** RingCentral doesn't accept client or JWT. */
  | { kind: 'refused'; errorCode?: string }
  | Extract<Failure, { kind: 'rate_limited' | 'retry' }>;

export type TokenOutcome = { kind: 'token'; accessToken: string } | Failure;

/**
 * One access token for all containers, in the state table: RingCentral allows about five sessions a user and
 * five token requests a minute. Who finds it at 80 % of its life takes a lease and logs in anew by the JWT; the
 * others use the old one meanwhile. A login that fails leaves the token alone.
 *
 * Rejects with StateUnavailableError, or ParameterError from the look for rotated credentials.
 */
export interface Tokens {
  /** @param rejected the token that just got a 401: only another one will do, a sibling's or by a login */
  get(account: RingCentralAccount, rejected?: string): Promise<TokenOutcome>;
}

export interface TokenPorts {
  state: StateTable;
  gate: Gate;
  accounts: Accounts;
  /** Makes the one token request, for which the slot was taken. */
  login: (account: RingCentralAccount, slot: Slot) => Promise<Login>;
  clock: Clock;
  log: Log;
  meter: Meter;
}

interface SharedToken {
  kind: 'token';
  accessToken: string;
  renewAt: number;
  expiresAt: number;
}

/** How long others leave the login to whoever holds the lease, also after it failed. */
const leaseMs = 30_000;
/** A login that goes well is over by then; one that failed is tried again when the lease ends. */
const loginMs = 5_000;
const renewAtShare = 0.8;
const firstBlockMs = 5 * 60_000;
const longestBlockMs = 60 * 60_000;

export function createTokens({ state, gate, accounts, login, clock, log, meter }: TokenPorts): Tokens {
  /** Saves a read per request. */
  const remembered = new Map<string, SharedToken>();
  const now = () => clock.now().getTime();

  async function get(account: RingCentralAccount, rejected?: string): Promise<TokenOutcome> {
    const pk = itemKey(account);
    const memory = remembered.get(pk);
    if (memory && memory.accessToken !== rejected && now() < memory.renewAt) return memory;

    const item = await readItem(state, pk);
    const shared = sharedToken(item);
    const usable = shared && shared.accessToken !== rejected && now() < shared.expiresAt ? shared : undefined;
    if (usable && now() < usable.renewAt) {
      remembered.set(pk, usable);
      return usable;
    }
    const renewed = await renew(account, item, rejected);
    // An early renewal may fail: the old token is good until it expires.
    return renewed.kind !== 'token' && usable ? usable : renewed;
  }

  async function renew(
    account: RingCentralAccount,
    seen: VersionedItem,
    rejected?: string,
  ): Promise<TokenOutcome> {
    const pk = itemKey(account);
    const at = now();
    const blockedMs = Number(seen.login_blocked_until ?? 0) - at;
    if (blockedMs > 0 && seen.refused_credential === fingerprint(account)) return loginRefused(blockedMs);
    const leasedMs = Number(seen.lease_until ?? 0) - at;
    if (leasedMs > 0) return noLogin(Math.min(leasedMs, loginMs) / 1000);
    const leased = await writeItem(state, pk, seen, { lease_until: at + leaseMs });
    if (!leased) {
      const token = sharedToken(await readItem(state, pk));
      return token && token.accessToken !== rejected && at < token.expiresAt
        ? token
        : noLogin(loginMs / 1000);
    }

    const taken = await gate.take({ owner: account.clientId, group: 'auth' });
    if (!('slot' in taken)) {
      await writeItem(state, pk, leased, { lease_until: undefined });
      return noLogin(taken.waitSeconds);
    }
    const answer = await login(account, taken.slot);
    if (answer.kind === 'granted') return share(pk, leased, answer, at);
    return answer.kind === 'refused' ? refuse(account, leased, answer) : answer;
  }

  /** Lays the new token down for all, unless the lease ran out and somebody else did. */
  async function share(
    pk: string,
    leased: VersionedItem,
    { accessToken, expiresInSeconds }: Extract<Login, { kind: 'granted' }>,
    requestedAt: number,
  ): Promise<TokenOutcome> {
    const token: SharedToken = {
      kind: 'token',
      accessToken,
      renewAt: requestedAt + Math.floor(renewAtShare * expiresInSeconds * 1000),
      expiresAt: requestedAt + expiresInSeconds * 1000,
    };
    const written = await writeItem(state, pk, leased, {
      access_token: accessToken,
      renew_at: token.renewAt,
      expires_at: token.expiresAt,
      lease_until: undefined,
      login_refusals: undefined,
      login_blocked_until: undefined,
      refused_credential: undefined,
    });
    if (written) remembered.set(pk, token);
    return token;
  }

  /** Blocks logins with these credentials; tries others at once if the parameter has been rotated. */
  async function refuse(
    account: RingCentralAccount,
    leased: VersionedItem,
    { errorCode }: Extract<Login, { kind: 'refused' }>,
  ): Promise<TokenOutcome> {
    const credential = fingerprint(account);
    const refusals = leased.refused_credential === credential ? Number(leased.login_refusals ?? 0) + 1 : 1;
    const blockMs = Math.min(firstBlockMs * 2 ** (refusals - 1), longestBlockMs);
    await writeItem(state, itemKey(account), leased, {
      login_refusals: refusals,
      login_blocked_until: now() + blockMs,
      refused_credential: credential,
      lease_until: undefined,
    });
    const fresh = await accounts.refresh(account.accountId);
    if (fresh && fingerprint(fresh) !== credential) return get(fresh);
    log.error(logEvents.ringcentralLoginRefused, {
      account_id: account.accountId,
      error_code: errorCode,
      refusals,
      blocked_seconds: blockMs / 1000,
    });
    meter.count('RingCentralLoginRefused');
    return loginRefused(blockMs);
  }

  return { get };
}

/** One item per application and account: a rotated client starts with an item of its own. */
const itemKey = ({ clientId, accountId }: RingCentralAccount) => `token#${clientId}#${accountId}`;

const noLogin = (seconds: number): Failure => ({
  kind: 'no_slot',
  surface: 'oauth_token',
  group: 'auth',
  waitSeconds: Math.ceil(seconds),
});

const loginRefused = (blockedMs: number): Failure => ({
  kind: 'login_refused',
  waitSeconds: Math.ceil(blockedMs / 1000),
});

function sharedToken(item: VersionedItem): SharedToken | undefined {
  if (typeof item.access_token !== 'string') return undefined;
  return {
    kind: 'token',
    accessToken: item.access_token,
    renewAt: Number(item.renew_at),
    expiresAt: Number(item.expires_at),
  };
}

/** Tells credentials apart without keeping them. */
function fingerprint({ clientId, clientSecret, jwt }: RingCentralAccount): string {
  return createHash('sha256').update([clientId, clientSecret, jwt].join('\n')).digest('hex').slice(0, 16);
}
