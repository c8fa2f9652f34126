import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { WebhookReceiver } from '../../src/calls/receive-webhook.ts';
import type { Accounts, RingCentralAccount } from '../../src/ringcentral/account.ts';
import { FakeClock, recordingLog, recordingMeter } from '../support/fakes.ts';
import { accountId, aNotification } from './events.ts';

export const account: RingCentralAccount = {
  accountId,
  server: 'https://platform.ringcentral.com',
  clientId: 'client',
  clientSecret: 'client-secret',
  jwt: 'jwt',
  webhookVerificationTokens: ['new-secret', 'old-secret'],
};

/** A receiver with one account, and what it sent. */
export function receiverWith(overrides: Partial<WebhookReceiver> = {}) {
  const sent: { body: unknown; delaySeconds: number | undefined }[] = [];
  const refreshes: string[] = [];
  const log = recordingLog();
  const meter = recordingMeter();
  const accounts: Accounts = {
    find: async (id) => (id === accountId ? account : undefined),
    refresh: async (id) => {
      refreshes.push(id);
      return account;
    },
  };
  const receiver: WebhookReceiver = {
    accounts,
    queue: { send: async (body, options) => void sent.push({ body, delaySeconds: options?.delaySeconds }) },
    clock: new FakeClock('2026-03-04T15:23:15.200Z'),
    log,
    meter,
    ...overrides,
  };
  return { receiver, sent, refreshes, log, meter };
}

export interface RequestOptions {
  accountId?: string;
  headers?: Record<string, string>;
  body?: unknown;
  base64?: boolean;
}

/** A request as an HTTP API hands it over; the right secret and a ringing call unless told otherwise. */
export function aRequest({
  accountId: account = accountId,
  headers = { 'verification-token': 'new-secret' },
  body = aNotification(),
  base64 = false,
}: RequestOptions = {}): APIGatewayProxyEventV2 {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    version: '2.0',
    routeKey: 'POST /ringcentral/{accountId}',
    rawPath: `/ringcentral/${account}`,
    rawQueryString: '',
    headers: { 'content-type': 'application/json', 'user-agent': 'RingCentral-Webhook/8.3', ...headers },
    requestContext: {} as APIGatewayProxyEventV2['requestContext'],
    pathParameters: { accountId: account },
    body: base64 ? Buffer.from(text).toString('base64') : text,
    isBase64Encoded: base64,
  };
}
