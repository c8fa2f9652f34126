import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answeredCall } from '../../local/ringcentral/sample-calls.ts';
import { brokenStateTable } from '../support/fakes.ts';
import { type Container, createWorld, type World } from './client-under-test.ts';
import { account, startTestSimulator, type TestSimulator } from './simulated-account.ts';

const { accountId } = account;
const telephonySessionId = 's-900100z00001';
let simulator: TestSimulator;
let world: World;
let container: Container;

beforeEach(async () => {
  simulator = await startTestSimulator();
  world = createWorld(simulator);
  container = world.container();
});
afterEach(() => simulator.stop());

const fetchCallLog = () =>
  container.callLog.fetchCallLog(telephonySessionId, accountId, { firstEventAt: simulator.clock.now() });
const requests = (surface: string) => simulator.journal.filter((entry) => entry.surface === surface);
const lines = (event: string, surface = 'account_call_log') =>
  container.log.lines.filter((line) => line.event === event && line.fields.api_surface === surface);

describe('one call', () => {
  it('is one HTTP request, logged with the fields of the contract', async () => {
    expect((await fetchCallLog()).kind).toBe('ok');
    expect(requests('account_call_log')).toHaveLength(1);
    const ids = {
      api_surface: 'account_call_log',
      account_id: accountId,
      telephony_session_id: telephonySessionId,
    };
    expect(lines('ringcentral.request_started')).toEqual([
      { level: 'info', event: 'ringcentral.request_started', fields: ids },
    ]);
    expect(lines('ringcentral.request_completed')).toEqual([
      {
        level: 'info',
        event: 'ringcentral.request_completed',
        fields: {
          ...ids,
          http_status: 200,
          duration_ms: 0,
          rate_limit_group: 'heavy',
          rate_limit_limit: 10,
          rate_limit_remaining: 9,
          rate_limit_window: 60,
        },
      },
    ]);
  });

  it('logs the token request by its own surface, and no secret anywhere', async () => {
    await fetchCallLog();
    expect(lines('ringcentral.request_completed', 'oauth_token')).toHaveLength(1);
    const text = JSON.stringify(container.log.lines);
    const [item] = [...world.state.items.entries()].filter(([pk]) => pk.startsWith('token#'));
    for (const secret of [account.jwt, account.clientSecret, String(item?.[1].access_token), '://']) {
      expect(text).not.toContain(secret);
    }
  });

  it.each([
    [429, 'rate_limited'],
    [503, 'retry'],
    [500, 'retry'],
    [400, 'retry'],
    [403, 'no_extension'],
    [404, 'not_found'],
  ])('is one HTTP request on %i too', async (status, kind) => {
    simulator.faults.add({ surface: 'account_call_log', fault: { kind: 'status', status }, times: 5 });
    expect((await fetchCallLog()).kind).toBe(kind);
    expect(requests('account_call_log')).toHaveLength(1);
    expect(lines('ringcentral.request_completed')[0]?.fields).toMatchObject({
      http_status: status,
      client_error_action: 'throw',
    });
  });

  it('does not follow a redirect', async () => {
    const fault = {
      kind: 'status',
      status: 302,
      headers: { location: '/restapi/v1.0/subscription' },
    } as const;
    simulator.faults.add({ surface: 'account_call_log', fault });
    expect(await fetchCallLog()).toMatchObject({ kind: 'retry', reason: 'unexpected_status', status: 302 });
    expect(requests('subscription')).toHaveLength(0);
  });

  it("reads the code behind a proxy's large error page, or none, without hanging", async () => {
    const fault = { kind: 'status', status: 502, body: `<html>${'x'.repeat(300_000)}</html>` } as const;
    simulator.faults.add({ surface: 'account_call_log', fault });
    expect(await fetchCallLog()).toEqual({
      kind: 'retry',
      surface: 'account_call_log',
      reason: 'server_error',
      status: 502,
    });
  });

  it.each([
    [{ kind: 'status', status: 200, body: '<html>maintenance</html>' } as const],
    [{ kind: 'status', status: 200, body: '{"records":{}}', contentType: 'application/json' } as const],
    [{ kind: 'truncate' } as const],
  ])('is retried when a 200 is not what it should be: %o', async (fault) => {
    simulator.faults.add({ surface: 'account_call_log', fault });
    expect(await fetchCallLog()).toMatchObject({ kind: 'retry', reason: 'unreadable_answer' });
  });

  it('ends at its deadline when RingCentral never answers', async () => {
    const call = answeredCall({ accountId, number: 1, startedAt: new Date(0) });
    simulator.calls.push(call);
    simulator.faults.add({ surface: 'recording_content', fault: { kind: 'hang' } });
    const uri = `${simulator.url}/media/restapi/v1.0/account/${accountId}/recording/${call.recordings[0]?.id}/content`;
    const outcome = await container.media.openRecording(uri, { accountId }, { deadlineMs: 150 });
    expect(outcome).toEqual({ kind: 'retry', surface: 'recording_content', reason: 'timeout' });
    const [line] = lines('ringcentral.request_completed', 'recording_content');
    expect(line?.fields).toMatchObject({ error_code: 'Timeout', client_error_action: 'throw' });
    expect(line?.fields).not.toHaveProperty('http_status');
  });

  it('is retried after a cut connection', async () => {
    simulator.faults.add({ surface: 'account_call_log', fault: { kind: 'reset' } });
    expect(await fetchCallLog()).toMatchObject({ kind: 'retry', reason: 'network' });
    expect(requests('account_call_log')).toHaveLength(1);
  });

  it('is not made for an account without a parameter', async () => {
    const outcome = await container.callLog.fetchCallLog(telephonySessionId, '900999', {
      firstEventAt: new Date(0),
    });
    expect(outcome).toMatchObject({ kind: 'configuration', reason: 'unknown_account' });
    expect(simulator.journal).toEqual([]);
  });

  it('is not made while the state table is out of reach', async () => {
    container = world.container(brokenStateTable);
    expect(await fetchCallLog()).toMatchObject({ kind: 'retry', reason: 'state_unavailable' });
    expect(simulator.journal).toEqual([]);
  });

  it('is not made without a slot', async () => {
    await fetchCallLog();
    await fetchCallLog();
    expect(await fetchCallLog()).toEqual({
      kind: 'no_slot',
      surface: 'account_call_log',
      group: 'heavy',
      waitSeconds: 8,
    });
    expect(requests('account_call_log')).toHaveLength(2);
  });
});

describe('after a 401', () => {
  const unauthorized = { kind: 'status', status: 401, errorCode: 'OAU-213' } as const;
  beforeEach(async () => {
    await fetchCallLog();
    simulator.clock.advance(60_000);
    simulator.faults.add({ surface: 'account_call_log', fault: unauthorized });
  });

  it('the second request takes a slot of its own', async () => {
    expect((await fetchCallLog()).kind).toBe('ok');
    expect(requests('account_call_log')).toHaveLength(3);
    expect(await fetchCallLog()).toMatchObject({ kind: 'no_slot', waitSeconds: 8 });
  });

  it('there is no second request without a slot', async () => {
    await container.gate.take({ owner: accountId, group: 'heavy' });
    expect(await fetchCallLog()).toMatchObject({ kind: 'no_slot', group: 'heavy', waitSeconds: 8 });
    expect(requests('account_call_log')).toHaveLength(2);
  });
});

describe('rate limits in log and metrics', () => {
  it('reports limit and remaining by account and surface', async () => {
    await fetchCallLog();
    expect(container.capacities).toContainEqual({
      accountId,
      source: 'account_call_log',
      limit: 10,
      remaining: 9,
    });
  });

  it.each([
    { 'x-rate-limit-limit': '' },
    { 'x-rate-limit-remaining': 'many' },
    { 'x-rate-limit-remaining': '-1' },
    { 'x-rate-limit-limit': '10.5' },
  ])('keeps unknown what a header does not say: %o', async (headers) => {
    const body = JSON.stringify({ records: [] });
    const fault = { kind: 'status', status: 200, body, contentType: 'application/json', headers } as const;
    simulator.faults.add({ surface: 'account_call_log', fault });
    await fetchCallLog();
    expect(container.capacities.filter(({ source }) => source === 'account_call_log')).toEqual([]);
    const { fields = {} } = lines('ringcentral.request_completed')[0] ?? {};
    expect([fields.rate_limit_limit, fields.rate_limit_remaining]).toContain(undefined);
  });

  it('knows nothing when all headers are missing, and goes on', async () => {
    await simulator.stop();
    simulator = await startTestSimulator({ rateLimitHeaders: false });
    world = createWorld(simulator);
    container = world.container();
    expect((await fetchCallLog()).kind).toBe('ok');
    expect(container.capacities).toEqual([]);
    expect((await container.gate.status({ owner: accountId, group: 'heavy' })).limit).toBe(10);
  });

  it('learns a custom limit from its first answer', async () => {
    simulator.limiter.setRule('heavy', { limit: 40 });
    await fetchCallLog();
    expect(await container.gate.status({ owner: accountId, group: 'heavy' })).toMatchObject({ limit: 40 });
  });
});

describe('an answer of another rate-limit group than expected', () => {
  const body = JSON.stringify({ records: [] });

  it('teaches our bucket nothing', async () => {
    const headers = { 'x-rate-limit-group': 'Medium', 'x-rate-limit-limit': '40' };
    const fault = { kind: 'status', status: 200, body, contentType: 'application/json', headers } as const;
    simulator.faults.add({ surface: 'account_call_log', fault });
    await fetchCallLog();
    expect((await container.gate.status({ owner: accountId, group: 'heavy' })).limit).toBe(10);
  });

  it('closes both when it is a 429', async () => {
    const headers = { 'x-rate-limit-group': 'Medium', 'retry-after': '90' };
    simulator.faults.add({ surface: 'account_call_log', fault: { kind: 'status', status: 429, headers } });
    expect(await fetchCallLog()).toMatchObject({ kind: 'rate_limited', group: 'medium' });
    for (const group of ['heavy', 'medium'] as const) {
      const { closedUntil } = await container.gate.status({ owner: accountId, group });
      expect(closedUntil).toEqual(new Date(simulator.clock.now().getTime() + 90_000));
    }
  });
});

describe('the token is sent', () => {
  it('to no host but those of the allow list, whatever an answer says: it is not even fetched', async () => {
    const uri = 'https://media.ringcentral.com.evil.example/recording/1/content';
    expect(await container.media.openRecording(uri, { accountId })).toEqual({
      kind: 'configuration',
      surface: 'recording_content',
      reason: 'host_not_allowed',
    });
    expect(simulator.journal).toEqual([]);
    expect(container.log.lines).toEqual([]);
  });

  it('in the header, never in the query', async () => {
    await fetchCallLog();
    expect(simulator.journal.filter(({ path }) => path.includes('token='))).toEqual([]);
  });
});
