import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { afterEach, describe, expect, it } from 'vitest';
import { answeredCall } from '../../local/ringcentral/sample-calls.ts';
import { startSimulator } from '../../local/ringcentral/simulator.ts';
import { receiveWebhook, type WebhookReceiver } from '../../src/calls/receive-webhook.ts';
import { accountId, aNotification } from '../calls/events.ts';
import { aRequest, type RequestOptions, receiverWith } from '../calls/webhooks.ts';

const reminder = {
  uuid: '5590000000000000009',
  event: '/restapi/v1.0/subscription/~?threshold=300&interval=100',
  timestamp: '2026-03-04T15:23:15.101Z',
  subscriptionId: 'b0a1c2d3-0000-4000-8000-000000000001',
  body: {},
};

/** Status line, headers and body, as they go over the wire. */
function sizeOf({ statusCode, headers = {}, body = '' }: APIGatewayProxyStructuredResultV2): number {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.byteLength(`HTTP/1.1 ${statusCode}\r\n${lines.join('')}\r\n${body}`);
}

describe('R39 handshake', () => {
  it('R39 echoes the token in the same header, as JSON, and sends nothing', async () => {
    const { receiver, sent } = receiverWith();
    const token = '0f8a4b1c-52b7-4c0e-9a5e-2f8f6f0a0777';
    const answer = await receiveWebhook(
      receiver,
      aRequest({ headers: { 'Validation-Token': token }, body: '' }),
    );
    expect(answer).toEqual({
      statusCode: 200,
      headers: { 'Content-Type': 'application/json', 'Validation-Token': token },
      body: '',
    });
    expect(sent).toEqual([]);
  });

  it('R39 is not answered for an account that is none of ours', async () => {
    const { receiver } = receiverWith();
    const request = aRequest({ accountId: '900999', headers: { 'validation-token': 'abc' }, body: '' });
    expect(await receiveWebhook(receiver, request)).toEqual({
      statusCode: 404,
      headers: { 'Content-Type': 'application/json' },
      body: '',
    });
  });

  it.each(['x'.repeat(2_000), 'a\r\nset-cookie: b', 'ü'])(
    'R39 does not echo what would not fit into a header of a small answer',
    async (token) => {
      const { receiver } = receiverWith();
      const answer = await receiveWebhook(
        receiver,
        aRequest({ headers: { 'validation-token': token }, body: '' }),
      );
      expect(answer).toMatchObject({ statusCode: 400 });
      expect(JSON.stringify(answer)).not.toContain(token);
    },
  );
});

describe('R39 events', () => {
  it('R39 a reminder is acknowledged, logged and ignored', async () => {
    const { receiver, sent, log } = receiverWith();
    expect(await receiveWebhook(receiver, aRequest({ body: reminder }))).toMatchObject({ statusCode: 200 });
    expect(sent).toEqual([]);
    expect(log.lines).toMatchObject([{ event: 'webhook.acknowledged', fields: { outcome: 'ignored' } }]);
  });

  it('R39 a reminder needs the secret too', async () => {
    const { receiver } = receiverWith();
    const request = aRequest({ body: reminder, headers: {} });
    expect(await receiveWebhook(receiver, request)).toMatchObject({ statusCode: 401 });
  });

  it('R39 an event with both tokens is an event, not a handshake', async () => {
    const { receiver, sent } = receiverWith();
    const headers = { 'verification-token': 'new-secret', 'validation-token': 'c0ffee' };
    const answer = await receiveWebhook(receiver, aRequest({ headers }));
    expect(answer.headers).toEqual({ 'Content-Type': 'application/json' });
    expect(sent).toHaveLength(1);
  });

  it('R39 an event with a Validation-Token that is not the secret gets neither echo nor message', async () => {
    const { receiver, sent } = receiverWith();
    const answer = await receiveWebhook(receiver, aRequest({ headers: { 'validation-token': 'guess' } }));
    expect(answer).toEqual({ statusCode: 401, headers: { 'Content-Type': 'application/json' }, body: '' });
    expect(sent).toEqual([]);
  });
});

it('R39 of 1,000 forged, malformed or oversized requests none is enqueued, and every answer is small', async () => {
  const { receiver, sent } = receiverWith();
  const event = aNotification({ code: 'Disconnected' });
  const json = JSON.stringify(event);
  const kinds: ((n: number) => RequestOptions)[] = [
    (n) => ({ headers: { 'verification-token': `new-secret${n}` } }),
    (n) => ({ headers: { 'validation-token': `old-secret ${n}` } }),
    () => ({ headers: {} }),
    (n) => ({ accountId: String(900_500 + n) }),
    (n) => ({ body: aNotification({ party: { accountId: String(900_500 + n) } }) }),
    (n) => ({ body: json.slice(0, 1 + (n % (json.length - 1))) }),
    (n) => ({ body: { ...event, event: n } }),
    (n) => ({ body: `${json}${' '.repeat(262_144)}${n}` }),
    (n) => ({ base64: true, body: Buffer.alloc(300_000 + n, 'x').toString() }),
    () => ({ headers: { 'validation-token': 'x'.repeat(4_000) }, body: '' }),
  ];
  const requests = Array.from({ length: 100 }, (_, n) => kinds.map((kind) => aRequest(kind(n)))).flat();
  expect(requests).toHaveLength(1_000);
  for (const request of requests) {
    const answer = await receiveWebhook(receiver, request);
    expect([400, 401, 404, 413]).toContain(answer.statusCode);
    expect(sizeOf(answer)).toBeLessThan(1_024);
  }
  expect(sent).toEqual([]);
});

describe('R39 with a RingCentral that checks the answers', () => {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    await Promise.all(closers.splice(0).map((close) => close()));
  });

  /** The receiver as an HTTP API shows it. */
  async function serve(receiver: WebhookReceiver): Promise<string> {
    const server = createServer((request, response) => {
      void answerOver(receiver, request).then(({ statusCode = 500, headers = {}, body = '' }) => {
        response.writeHead(statusCode, headers as Record<string, string>).end(body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => new Promise((resolve) => server.close(resolve)));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/ringcentral/${accountId}`;
  }

  async function answerOver(receiver: WebhookReceiver, request: IncomingMessage) {
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const path = request.url?.split('/').at(-1) ?? '';
    return receiveWebhook(receiver, aRequest({ accountId: path, headers, body: await text(request) }));
  }

  it('R39 a subscription is created, and its events come in', async () => {
    const { receiver, sent } = receiverWith();
    const address = await serve(receiver);
    const simulator = await startSimulator({
      accounts: [
        { accountId, clientId: 'client', clientSecret: 's', jwt: 'jwt', ownerExtensionId: '900412201' },
      ],
    });
    closers.push(() => simulator.stop());
    const login = await fetch(`${simulator.url}/restapi/oauth/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa('client:s')}` },
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: 'jwt',
      }),
    });
    const { access_token } = (await login.json()) as { access_token: string };
    const created = await fetch(`${simulator.url}/restapi/v1.0/subscription`, {
      method: 'POST',
      headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        eventFilters: ['/restapi/v1.0/account/~/telephony/sessions'],
        deliveryMode: { transportType: 'WebHook', address, verificationToken: 'new-secret' },
        expiresIn: 315_360_000,
      }),
    });
    expect(created.status).toBe(200);
    expect(await created.json()).toMatchObject({ status: 'Active' });

    const { events } = answeredCall({ accountId, startedAt: new Date('2026-03-04T15:20:00Z'), number: 1 });
    for (const event of events) {
      expect(await simulator.deliver(event)).toMatchObject([{ status: 200 }]);
    }
    expect(sent.map(({ delaySeconds }) => delaySeconds)).toEqual([0, 0, 0, 90]);
  });
});
