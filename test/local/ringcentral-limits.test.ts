import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SlidingWindowLimiter } from '../../local/ringcentral/limiter.ts';
import { answeredCall, missedCall } from '../../local/ringcentral/sample-calls.ts';
import { schemaErrors } from '../ringcentral/schema-check.ts';
import {
  account,
  readJson,
  startTestSimulator,
  type TestSimulator,
} from '../ringcentral/simulated-account.ts';

let simulator: TestSimulator;
let token: string;
const root = '/restapi/v1.0/account/~';

async function start(options: Parameters<typeof startTestSimulator>[0] = {}) {
  simulator = await startTestSimulator({ tokenSeconds: 86_400, ...options });
  token = (await readJson(login())).access_token;
}
afterEach(() => simulator.stop());

const login = () =>
  fetch(`${simulator.url}/restapi/oauth/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${account.clientId}:${account.clientSecret}`).toString('base64')}`,
    },
    body: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: account.jwt,
    }),
  });

const request = (path: string, init: RequestInit = {}) =>
  fetch(`${simulator.url}${path}`, { headers: { authorization: `Bearer ${token}` }, ...init });

const wait = (seconds: number) => simulator.clock.advance(seconds * 1000);

describe('rate limits', () => {
  it('admits 10 heavy requests in any 60 s, whatever their surface', async () => {
    await start();
    for (let n = 0; n < 10; n += 1) {
      const answer = await request(
        n % 2 ? `${root}/call-log` : '/media/restapi/v1.0/account/~/recording/1/content',
      );
      expect(answer.headers.get('x-rate-limit-group')).toBe('heavy');
      expect(answer.headers.get('x-rate-limit-limit')).toBe('10');
      expect(answer.headers.get('x-rate-limit-window')).toBe('60');
      expect(answer.headers.get('x-rate-limit-remaining')).toBe(String(9 - n));
    }
    const refused = await request(`${root}/call-log`);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(schemaErrors('ApiErrorResponseModel', await readJson(refused))).toEqual([]);
    expect((await request('/restapi/v1.0/subscription')).status).toBe(200);
  });

  it('restarts the penalty on every request inside it', async () => {
    await start();
    for (let n = 0; n < 11; n += 1) await request(`${root}/call-log`);
    wait(59);
    expect((await request(`${root}/call-log`)).status).toBe(429);
    wait(59);
    expect((await request(`${root}/call-log`)).status).toBe(429);
    wait(60);
    expect((await request(`${root}/call-log`)).status).toBe(200);
    expect(simulator.journal.filter(({ insidePenalty }) => insidePenalty)).toHaveLength(2);
  });

  it('counts token requests per application, 5 a minute', async () => {
    await start();
    const statuses: number[] = [];
    for (let n = 0; n < 5; n += 1) statuses.push((await login()).status);
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
  });

  it('has custom limits, windows and penalties, also from one moment to the next', () => {
    const limiter = new SlidingWindowLimiter({
      heavy: { limit: 2, windowSeconds: 10, penaltySeconds: 1200 },
    });
    const admitted = [0, 1, 2].map((now) => limiter.admit('a', 'heavy', now).allowed);
    expect(admitted).toEqual([true, true, false]);
    expect(limiter.admit('b', 'heavy', 2).allowed).toBe(true);
    expect(limiter.admit('a', 'heavy', 1_200_001)).toMatchObject({ allowed: false, insidePenalty: true });
    limiter.setRule('heavy', { limit: 3 });
    expect(limiter.admit('a', 'heavy', 2_400_001)).toMatchObject({ allowed: true, remaining: 2 });
    limiter.penalise('a', 'heavy', 2_400_002);
    expect(limiter.admit('a', 'heavy', 2_400_003)).toMatchObject({ allowed: false, insidePenalty: true });
  });

  it('leaves the headers out on demand', async () => {
    await start({ rateLimitHeaders: false, limits: { heavy: { limit: 1 } } });
    expect((await request(`${root}/call-log`)).headers.get('x-rate-limit-limit')).toBeNull();
    const refused = await request(`${root}/call-log`);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, null]);
  });
});

describe('faults', () => {
  beforeEach(() => start({ limits: { heavy: { limit: 100 } } }));

  it('hits one surface so many times', async () => {
    simulator.faults.add({ surface: 'account_call_log', fault: { kind: 'status', status: 503 }, times: 2 });
    const statuses: number[] = [];
    for (let n = 0; n < 3; n += 1) statuses.push((await request(`${root}/call-log`)).status);
    expect(statuses).toEqual([503, 503, 200]);
    expect((await request(`${root}/extension/~/call-log`)).status).toBe(200);
  });

  it('answers the kinds of 403 with the textual code on top', async () => {
    simulator.faults.add({
      surface: 'account_call_log',
      fault: { kind: 'status', status: 403, errorCode: 'CMN-408', permissionName: 'FullCompanyCallLog' },
    });
    const body = await readJson(request(`${root}/call-log`));
    expect(schemaErrors('ApiErrorResponseModel', body)).toEqual([]);
    expect(body).toMatchObject({
      errorCode: 'InsufficientPermissions',
      permissionName: 'FullCompanyCallLog',
    });
    expect(body.errors[0].errorCode).toBe('CMN-408');
  });

  it('limits the media alone, with a Retry-After of its own', async () => {
    const fault = {
      kind: 'status',
      status: 429,
      errorCode: 'CMN-301',
      headers: { 'retry-after': '45' },
    } as const;
    simulator.faults.add({ surface: 'recording_content', fault });
    const media = await request('/media/restapi/v1.0/account/~/recording/1/content');
    expect([media.status, media.headers.get('retry-after')]).toEqual([429, '45']);
    expect((await request(`${root}/call-log`)).status).toBe(200);
  });

  it('hangs, resets and truncates', async () => {
    simulator.faults.add({ surface: 'account_call_log', fault: { kind: 'hang' } });
    await expect(request(`${root}/call-log`, { signal: AbortSignal.timeout(50) })).rejects.toThrow();
    simulator.faults.add({ surface: 'account_call_log', fault: { kind: 'reset' } });
    await expect(request(`${root}/call-log`)).rejects.toThrow();

    const call = answeredCall({ accountId: account.accountId, number: 1, startedAt: new Date(0) });
    simulator.calls.push(call);
    simulator.faults.add({ surface: 'recording_content', fault: { kind: 'truncate' } });
    const path = `/media/restapi/v1.0/account/~/recording/${call.recordings[0]?.id}/content`;
    const answer = await request(path);
    expect(answer.status).toBe(200);
    await expect(answer.arrayBuffer()).rejects.toThrow();
    expect(simulator.journal.map(({ status }) => status)).toEqual([200, 0, 0, 200]);
  });
});

describe('subscriptions', () => {
  let receiver: Server | undefined;
  const received: { headers: Record<string, unknown>; body: string }[] = [];
  beforeEach(() => start());
  afterEach(() => {
    receiver?.close();
    received.length = 0;
  });

  async function listen(listener: RequestListener): Promise<string> {
    receiver = createServer(listener);
    await new Promise<void>((resolve) => receiver?.listen(0, '127.0.0.1', resolve));
    const address = receiver.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/ringcentral/900100`;
  }

  const echo: RequestListener = (incoming, response) => {
    let body = '';
    incoming.on('data', (chunk) => {
      body += chunk;
    });
    incoming.on('end', () => {
      received.push({ headers: incoming.headers, body });
      const token = incoming.headers['validation-token'];
      response.writeHead(200, token ? { 'validation-token': token } : {}).end();
    });
  };

  const create = (address: string) =>
    request('/restapi/v1.0/subscription', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        eventFilters: ['/restapi/v1.0/account/~/telephony/sessions'],
        deliveryMode: { transportType: 'WebHook', address, verificationToken: 'v-secret' },
        expiresIn: 315_360_000,
      }),
    });

  it('are created by handshake, listed, renewed, blacklisted and deleted', async () => {
    const answer = await create(await listen(echo));
    const created = await readJson(answer);
    expect(schemaErrors('SubscriptionInfo', created)).toEqual([]);
    expect(created).toMatchObject({ status: 'Active', expirationTime: '2036-03-01T15:00:00.000Z' });
    wait(3600);
    const renewed = await readJson(
      request(`/restapi/v1.0/subscription/${created.id}/renew`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
      }),
    );
    expect(renewed.expirationTime).toBe('2036-03-01T16:00:00.000Z');
    simulator.subscriptions.blacklist(account.accountId, simulator.clock.now().getTime());
    const list = await readJson(request('/restapi/v1.0/subscription'));
    expect(schemaErrors('SubscriptionListResource', list)).toEqual([]);
    expect(list.records[0]).toMatchObject({ id: created.id, status: 'Blacklisted' });
    const one = await readJson(request(`/restapi/v1.0/subscription/${created.id}`));
    expect(one.status).toBe('Blacklisted');
    const gone = await request(`/restapi/v1.0/subscription/${created.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(gone.status).toBe(204);
    expect((await request(`/restapi/v1.0/subscription/${created.id}`)).status).toBe(404);
  });

  it('deliver events with the verification token, but not to a blacklisted address', async () => {
    const call = missedCall({ accountId: account.accountId, number: 1, startedAt: simulator.clock.now() });
    const [event] = call.events;
    if (!event) throw new Error('The call has no event');
    await create(await listen(echo));
    const [delivery] = await simulator.deliver(event);
    expect(delivery?.status).toBe(200);
    const posted = received.at(-1);
    expect(posted?.headers['verification-token']).toBe('v-secret');
    expect(schemaErrors('AccountTelephonySessionsEvent', JSON.parse(posted?.body ?? ''))).toEqual([]);
    simulator.subscriptions.blacklist(account.accountId, simulator.clock.now().getTime());
    expect(await simulator.deliver(event)).toEqual([]);
  });

  it.each([
    ['SUB-520', ((_, response) => response.end()) as RequestListener],
    ['SUB-521', ((_, response) => response.writeHead(500).end()) as RequestListener],
    [
      'SUB-525',
      ((incoming, response) =>
        response
          .writeHead(200, { 'validation-token': incoming.headers['validation-token'] ?? '' })
          .end('x'.repeat(1024))) as RequestListener,
    ],
  ])('are refused with %s when the receiver answers the handshake wrongly', async (code, listener) => {
    const answer = await create(await listen(listener));
    expect(answer.status).toBe(400);
    expect((await readJson(answer)).errors[0].errorCode).toBe(code);
  });

  it('are refused without https, but for this machine', async () => {
    const answer = await create('http://calls.example/ringcentral/900100');
    expect((await readJson(answer)).errors[0].errorCode).toBe('SUB-523');
  });
});
