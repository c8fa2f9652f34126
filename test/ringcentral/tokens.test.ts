import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { StateTable } from '../../src/platform/state-table.ts';
import type { Accounts, RingCentralAccount } from '../../src/ringcentral/account.ts';
import { createGate } from '../../src/ringcentral/gate.ts';
import { createTokens, type Login, type Tokens } from '../../src/ringcentral/tokens.ts';
import { StateUnavailableError } from '../../src/ringcentral/versioned-item.ts';
import { brokenStateTable, FakeClock, recordingLog, recordingMeter } from '../support/fakes.ts';
import { memoryStateTable } from './memory-state-table.ts';

const account: RingCentralAccount = {
  accountId: '900100',
  server: 'https://platform.ringcentral.com',
  clientId: 'client-a',
  clientSecret: 'secret-a',
  jwt: 'jwt-a',
  webhookVerificationTokens: [],
};
const key = 'token#client-a#900100';

let clock: FakeClock;
let state: ReturnType<typeof memoryStateTable>;
let log: ReturnType<typeof recordingLog>;
let meter: ReturnType<typeof recordingMeter>;
/** What RingCentral answers to the next token requests; granted with a new token when empty. */
let answers: Login[];
let logins: RingCentralAccount[];
let fresh: RingCentralAccount | undefined;

beforeEach(() => {
  clock = new FakeClock();
  state = memoryStateTable();
  log = recordingLog();
  meter = recordingMeter();
  answers = [];
  logins = [];
  fresh = undefined;
});

/** A cold container. */
function container(ownState: StateTable = state): Tokens {
  const accounts: Accounts = { find: async () => account, refresh: async () => fresh };
  return createTokens({
    state: ownState,
    gate: createGate(ownState, clock),
    accounts,
    login: async (used) => {
      logins.push(used);
      return (
        answers.shift() ?? { kind: 'granted', accessToken: `at-${logins.length}`, expiresInSeconds: 3600 }
      );
    },
    clock,
    log,
    meter,
  });
}

const wait = (seconds: number) => clock.advance(seconds * 1000);
const token = (accessToken: string) => expect.objectContaining({ kind: 'token', accessToken });
const refused: Login = { kind: 'refused', errorCode: 'OAU-251' };

describe('the shared token', () => {
  it('is made once and used by all containers until 80 % of its life', async () => {
    const [a, b] = [container(), container()];
    expect(await a.get(account)).toEqual(token('at-1'));
    wait(2879);
    expect(await b.get(account)).toEqual(token('at-1'));
    expect(await a.get(account)).toEqual(token('at-1'));
    wait(1);
    expect(await a.get(account)).toEqual(token('at-2'));
    expect(await b.get(account)).toEqual(token('at-2'));
    expect(logins).toHaveLength(2);
  });

  it('is renewed by one, while the others use the old one', async () => {
    await container().get(account);
    wait(3000);
    const outcomes = await Promise.all([1, 2, 3, 4, 5, 6].map(() => container().get(account)));
    expect(logins).toHaveLength(2);
    expect(outcomes.filter((outcome) => 'accessToken' in outcome)).toHaveLength(6);
  });

  it('can be renewed by another 30 s after whoever had the lease died', async () => {
    await state.update(key, {
      update: 'SET #lease_until = :lease_until, #version = :version',
      names: { '#lease_until': 'lease_until', '#version': 'version' },
      values: { ':lease_until': clock.now().getTime() + 30_000, ':version': 1 },
    });
    expect(await container().get(account)).toEqual({
      kind: 'no_slot',
      surface: 'oauth_token',
      group: 'auth',
      // A login that goes well is over long before its lease is.
      waitSeconds: 5,
    });
    wait(29);
    expect(await container().get(account)).toMatchObject({ kind: 'no_slot', waitSeconds: 1 });
    wait(1);
    expect(await container().get(account)).toEqual(token('at-1'));
  });

  it.each<[string, Login]>([
    ['429', { kind: 'rate_limited', surface: 'oauth_token', group: 'auth', retryAfterSeconds: 60 }],
    ['5xx', { kind: 'retry', surface: 'oauth_token', reason: 'server_error', status: 503 }],
    ['a time-out', { kind: 'retry', surface: 'oauth_token', reason: 'timeout' }],
    ['refused credentials', refused],
  ])('survives a renewal that ends with %s', async (_, answer) => {
    await container().get(account);
    wait(3000);
    answers = [answer];
    expect(await container().get(account)).toEqual(token('at-1'));
    expect(state.items.get(key)?.access_token).toBe('at-1');
    wait(20);
    expect(await container().get(account)).toEqual(token('at-1'));
    expect(logins).toHaveLength(2);
  });

  it('is not used any more once it has expired', async () => {
    await container().get(account);
    wait(3600);
    answers = [{ kind: 'retry', surface: 'oauth_token', reason: 'server_error', status: 503 }];
    expect(await container().get(account)).toEqual(
      expect.objectContaining({ kind: 'retry', reason: 'server_error' }),
    );
    wait(30);
    expect(await container().get(account)).toEqual(token('at-3'));
  });

  it('has one item per application and account', async () => {
    await container().get(account);
    await container().get({ ...account, accountId: '900200', jwt: 'jwt-b' });
    expect([...state.items.keys()].filter((pk) => pk.startsWith('token#'))).toEqual([
      key,
      'token#client-a#900200',
    ]);
  });

  it('waits for the Auth bucket of its client, which all accounts of that client share', async () => {
    await container().get(account);
    const other = { ...account, accountId: '900200', jwt: 'jwt-b' };
    const waits = { kind: 'no_slot', surface: 'oauth_token', group: 'auth', waitSeconds: 15 };
    expect(await container().get(other)).toEqual(waits);
    expect(logins).toHaveLength(1);
    wait(15);
    expect(await container().get(other)).toEqual(token('at-2'));
  });

  it('is not made while the state table is out of reach', async () => {
    await expect(container(brokenStateTable).get(account)).rejects.toThrow(StateUnavailableError);
    expect(logins).toEqual([]);
  });
});

describe('after a 401', () => {
  it('the shared token is read first, and a login made only if it is the rejected one', async () => {
    const [a, b] = [container(), container()];
    await a.get(account);
    await b.get(account);
    wait(60);
    expect(await a.get(account, 'at-1')).toEqual(token('at-2'));
    expect(await b.get(account, 'at-1')).toEqual(token('at-2'));
    expect(logins).toHaveLength(2);
  });

  it('of many containers at once, one logs in', async () => {
    await container().get(account);
    wait(60);
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => container().get(account, 'at-1')));
    expect(logins).toHaveLength(2);
    for (const outcome of outcomes) {
      expect(outcome.kind === 'no_slot' || (outcome.kind === 'token' && outcome.accessToken === 'at-2')).toBe(
        true,
      );
    }
  });
});

describe('a refused login', () => {
  it('blocks for 5 minutes, then twice as long each time, up to an hour, and alarms', async () => {
    answers = [refused, refused, refused, refused, refused, refused];
    const seconds: number[] = [];
    for (let n = 0; n < 6; n += 1) {
      const outcome = await container().get(account);
      if (outcome.kind !== 'login_refused') throw new Error(outcome.kind);
      expect(await container().get(account)).toEqual(outcome);
      seconds.push(outcome.waitSeconds);
      wait(outcome.waitSeconds);
    }
    expect(seconds).toEqual([300, 600, 1200, 2400, 3600, 3600]);
    expect(logins).toHaveLength(6);
    expect(meter.totals.RingCentralLoginRefused).toBe(6);
    expect(log.lines[0]).toEqual({
      level: 'error',
      event: 'ringcentral.login_refused',
      fields: { account_id: '900100', error_code: 'OAU-251', refusals: 1, blocked_seconds: 300 },
    });
    expect(await container().get(account)).toEqual(token('at-7'));
    expect(state.items.get(key)).not.toHaveProperty('login_blocked_until');
  });

  it('with credentials that were rotated meanwhile is repeated with the new ones', async () => {
    fresh = { ...account, jwt: 'jwt-new' };
    answers = [refused];
    const first = await container().get(account);
    // The Auth bucket had one slot; the next grows in 15 s.
    expect(first).toMatchObject({ kind: 'no_slot', group: 'auth', waitSeconds: 15 });
    wait(15);
    expect(await container().get(fresh)).toEqual(token('at-2'));
    expect(logins.map(({ jwt }) => jwt)).toEqual(['jwt-a', 'jwt-new']);
    expect(meter.totals.RingCentralLoginRefused).toBeUndefined();
  });

  it('does not block other credentials', async () => {
    answers = [refused];
    await container().get(account);
    wait(15);
    expect(await container().get({ ...account, jwt: 'jwt-new' })).toEqual(token('at-2'));
  });
});

describe('the token, whatever the order of things', () => {
  it('is requested once by any number of cold containers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 2, max: 6 }), async (scheduler, containers) => {
        state = memoryStateTable((access) => scheduler.schedule(Promise.resolve(), access));
        logins = [];
        const outcomes = await scheduler.waitFor(
          Promise.all(Array.from({ length: containers }, () => container().get(account))),
        );
        expect(logins).toHaveLength(1);
        const tokens = outcomes.filter(({ kind }) => kind === 'token');
        expect(tokens.length).toBeGreaterThan(0);
        for (const outcome of outcomes) expect(['token', 'no_slot']).toContain(outcome.kind);
        expect(state.items.get(key)?.access_token).toBe('at-1');
      }),
    );
  });
});
