import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answeredCall } from '../../local/ringcentral/sample-calls.ts';
import { type Container, createWorld, type World } from '../ringcentral/client-under-test.ts';
import { account, startTestSimulator, type TestSimulator } from '../ringcentral/simulated-account.ts';

const { accountId } = account;
let simulator: TestSimulator;
let world: World;
let container: Container;

beforeEach(async () => {
  simulator = await startTestSimulator({ limits: { heavy: { limit: 1000 } } });
  world = createWorld(simulator);
  container = world.container();
});
afterEach(() => simulator.stop());

const attempt = (worker: Container = container) =>
  worker.callLog.fetchCallLog('s-1', accountId, { firstEventAt: simulator.clock.now() });
const requests = (surface: string) => simulator.journal.filter((entry) => entry.surface === surface);
const sharedToken = () => [...world.state.items].find(([pk]) => pk.startsWith('token#'))?.[1].access_token;
const oauthFault = (status: number, errorCode: string, headers = {}) =>
  simulator.faults.add({ surface: 'oauth_token', fault: { kind: 'status', status, errorCode, headers } });

describe('R10 429 at /oauth/token', () => {
  it('R10 with no token yet: redrive, and one token request in the invocation', async () => {
    oauthFault(429, 'CMN-301', { 'retry-after': '60' });
    expect(await attempt()).toEqual({
      kind: 'rate_limited',
      surface: 'oauth_token',
      group: 'auth',
      retryAfterSeconds: 60,
    });
    expect(simulator.journal).toHaveLength(1);
    expect(await attempt(world.container())).toMatchObject({ kind: 'no_slot', group: 'auth' });
    expect(simulator.journal).toHaveLength(1);
  });

  it('R10 while the shared token is still good: it is used and not erased', async () => {
    await attempt();
    const token = sharedToken();
    simulator.clock.advance(3000_000);
    oauthFault(429, 'CMN-301', { 'retry-after': '60' });
    expect((await attempt(world.container())).kind).toBe('ok');
    expect(sharedToken()).toBe(token);
    expect(requests('oauth_token')).toHaveLength(2);
  });

  it('R10 keeps the shared token after 5xx, a time-out and refused credentials too', async () => {
    await attempt();
    const token = sharedToken();
    simulator.clock.advance(3000_000);
    oauthFault(503, 'CMN-201');
    expect((await attempt(world.container())).kind).toBe('ok');
    simulator.clock.advance(31_000);
    simulator.faults.add({ surface: 'oauth_token', fault: { kind: 'reset' } });
    expect((await attempt(world.container())).kind).toBe('ok');
    simulator.clock.advance(31_000);
    oauthFault(401, 'OAU-153');
    expect((await attempt(world.container())).kind).toBe('ok');
    expect(sharedToken()).toBe(token);
    expect(requests('oauth_token')).toHaveLength(4);
  });
});

describe('R11 Auth per app and at most five sessions', () => {
  it('R11 six cold containers in parallel: one token request, no 401', async () => {
    const containers = Array.from({ length: 6 }, () => world.container());
    const outcomes = await Promise.all(containers.map((worker) => attempt(worker)));
    expect(requests('oauth_token')).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === 'ok').length).toBeGreaterThan(0);
    for (const outcome of outcomes) expect(['ok', 'no_slot']).toContain(outcome.kind);
    simulator.clock.advance(30_000);
    for (const worker of containers) expect((await attempt(worker)).kind).toBe('ok');
    expect(requests('oauth_token')).toHaveLength(1);
    expect(simulator.journal.filter(({ status }) => status === 401)).toEqual([]);
  });

  it('R11 a day of renewals by many containers stays within the sessions and the Auth limit', async () => {
    const containers = Array.from({ length: 6 }, () => world.container());
    for (let minute = 0; minute < 1440; minute += 10) {
      const [worker = container] = containers.splice(0, 1);
      containers.push(worker);
      expect((await attempt(worker)).kind).toBe('ok');
      simulator.clock.advance(600_000);
    }
    // 80 % of an hour is 48 minutes; at a request every ten, that is one renewal every fifty.
    expect(requests('oauth_token')).toHaveLength(29);
    expect(simulator.journal.filter(({ status }) => status !== 200)).toEqual([]);
  });
});

describe('R12 the token was rotated by a sibling', () => {
  it('R12 a 401 while the store already has another token: reload and one retry, no login', async () => {
    const sibling = world.container();
    await attempt();
    await attempt(sibling);
    simulator.oauth.revoke();
    simulator.clock.advance(60_000);
    expect((await attempt(sibling)).kind).toBe('ok');
    simulator.journal.length = 0;
    expect((await attempt()).kind).toBe('ok');
    expect(simulator.journal.map(({ surface, status }) => [surface, status])).toEqual([
      ['account_call_log', 401],
      ['account_call_log', 200],
    ]);
  });

  it('R12 a 401 with the shared token itself: one login, one retry, a slot for each', async () => {
    await attempt();
    simulator.oauth.revoke();
    simulator.clock.advance(60_000);
    simulator.journal.length = 0;
    expect((await attempt()).kind).toBe('ok');
    expect(simulator.journal.map(({ surface, status }) => [surface, status])).toEqual([
      ['account_call_log', 401],
      ['oauth_token', 200],
      ['account_call_log', 200],
    ]);
  });
});

describe('R30 401 on content', () => {
  const openRecording = () => {
    const call = answeredCall({ accountId, number: 1, startedAt: new Date(0) });
    simulator.calls.push(call);
    const uri = `${simulator.url}/media/restapi/v1.0/account/~/recording/${call.recordings[0]?.id}/content`;
    return container.media.openRecording(uri, { accountId, telephonySessionId: call.telephonySessionId });
  };
  const unauthorized = { kind: 'status', status: 401, errorCode: 'OAU-213' } as const;

  it('R30 one re-auth through the shared path, one retry', async () => {
    await attempt();
    simulator.clock.advance(60_000);
    simulator.faults.add({ surface: 'recording_content', fault: unauthorized });
    expect((await openRecording()).kind).toBe('ok');
    expect(requests('oauth_token')).toHaveLength(2);
    expect(requests('recording_content')).toHaveLength(2);
  });

  it('R30 still 401: SQS retry, not terminal', async () => {
    await attempt();
    simulator.clock.advance(60_000);
    simulator.faults.add({ surface: 'recording_content', fault: unauthorized, times: 5 });
    expect(await openRecording()).toEqual({
      kind: 'retry',
      surface: 'recording_content',
      reason: 'unauthorized',
      status: 401,
    });
    expect(requests('recording_content')).toHaveLength(2);
  });

  it('R30 the token stands in no query string and no log line', async () => {
    await openRecording();
    expect(simulator.journal.filter(({ path }) => path.includes('access_token'))).toEqual([]);
    expect(JSON.stringify(container.log.lines)).not.toContain(String(sharedToken()));
  });
});
