import { describe, expect, it } from 'vitest';
import { receiveWebhook, type WebhookReceiver } from '../../src/calls/receive-webhook.ts';
import { accountId, aNotification } from './events.ts';
import { account, aRequest, type RequestOptions, receiverWith } from './webhooks.ts';

describe('an event with the secret', () => {
  it('becomes one message, at once', async () => {
    const { receiver, sent, log, meter } = receiverWith();
    const answer = await receiveWebhook(receiver, aRequest());
    expect(answer).toMatchObject({ statusCode: 200, headers: { 'Content-Type': 'application/json' } });
    expect(sent).toEqual([
      {
        delaySeconds: 0,
        body: {
          version: 1,
          kind: 'telephony',
          accountId,
          telephonySessionId: 's-77aa',
          event: expect.objectContaining({ body: expect.objectContaining({ sequence: 1 }) }),
          redriveCount: 0,
          sentAt: '2026-03-04T15:23:15.200Z',
        },
      },
    ]);
    expect(log.lines).toEqual([
      {
        level: 'info',
        event: 'webhook.accepted',
        fields: {
          account_id: accountId,
          telephony_session_id: 's-77aa',
          sequence: 1,
          statuses: ['Setup'],
          delay_seconds: 0,
        },
      },
    ]);
    expect(meter.totals).toEqual({ WebhookAccepted: 1, WebhookUnauthorized: 0, WebhookFailed: 0 });
  });

  it.each(['Disconnected', 'disconnected'])('waits 90 s when a party is %s', async (code) => {
    const { receiver, sent } = receiverWith();
    await receiveWebhook(receiver, aRequest({ body: aNotification({ code }) }));
    expect(sent).toMatchObject([{ delaySeconds: 90 }]);
  });

  it('waits 90 s when any of its parties has hung up', async () => {
    const { receiver, sent } = receiverWith();
    const { body } = aNotification({ code: 'Answered' });
    const left = aNotification({ code: 'Disconnected', partyId: 'p-77aa-2' }).body.parties;
    const event = aNotification({ body: { parties: [...body.parties, ...left] } });
    await receiveWebhook(receiver, aRequest({ body: event }));
    expect(sent).toMatchObject([{ delaySeconds: 90 }]);
  });

  it.each(['Setup', 'Proceeding', 'Answered', 'Hold', 'VoiceMail', 'Gone', 'Parked'])(
    'does not wait for %s',
    async (code) => {
      const { receiver, sent } = receiverWith();
      await receiveWebhook(receiver, aRequest({ body: aNotification({ code }) }));
      expect(sent).toMatchObject([{ delaySeconds: 0 }]);
    },
  );

  it.each([
    ['in Verification-Token', { 'Verification-Token': 'new-secret' }],
    ['in Validation-Token', { 'Validation-Token': 'new-secret' }],
    ['in any case of the header`s name', { 'VERIFICATION-TOKEN': 'new-secret' }],
    ['that is the old one', { 'verification-token': 'old-secret' }],
    ['beside another token', { 'verification-token': 'new-secret', 'validation-token': 'c0ffee' }],
    ['in the second header only', { 'verification-token': 'c0ffee', 'validation-token': 'old-secret' }],
  ])('is taken with the secret %s', async (_, headers) => {
    const { receiver, sent } = receiverWith();
    expect(await receiveWebhook(receiver, aRequest({ headers }))).toMatchObject({ statusCode: 200 });
    expect(sent).toHaveLength(1);
  });

  it('may come in base64', async () => {
    const { receiver, sent } = receiverWith();
    await receiveWebhook(receiver, aRequest({ base64: true }));
    expect(sent).toHaveLength(1);
  });

  it('is taken with a secret that was added since the parameter was read', async () => {
    const { receiver, sent } = receiverWith({
      accounts: {
        find: async () => account,
        refresh: async () => ({ ...account, webhookVerificationTokens: ['newest-secret'] }),
      },
    });
    const headers = { 'verification-token': 'newest-secret' };
    expect(await receiveWebhook(receiver, aRequest({ headers }))).toMatchObject({ statusCode: 200 });
    expect(sent).toHaveLength(1);
  });
});

describe('a request that is refused', () => {
  const otherAccount = aNotification({ party: { accountId: '900999' } });
  const noAccount = aNotification({ party: { accountId: undefined } });
  const second = aNotification({ party: { accountId: '900999', id: 'p-2' } }).body.parties;
  const mixed = aNotification({ body: { parties: [...aNotification().body.parties, ...second] } });

  it.each<[string, number, RequestOptions]>([
    ['no secret', 401, { headers: {} }],
    ['a wrong secret', 401, { headers: { 'verification-token': 'guess' } }],
    ['an empty secret', 401, { headers: { 'verification-token': '' } }],
    ['the secret`s beginning', 401, { headers: { 'verification-token': 'new-secre' } }],
    ['a party of another account', 401, { body: otherAccount }],
    ['one of two parties of another account', 401, { body: mixed }],
    ['a party that names no account', 401, { body: noAccount }],
    ['an unknown account', 404, { accountId: '900999' }],
    ['an account that is no number', 404, { accountId: 'abc' }],
    ['a path that climbs', 404, { accountId: '../900412' }],
    ['no JSON', 400, { body: 'not JSON' }],
    ['an empty body', 400, { body: '' }],
    ['an array', 400, { body: '[]' }],
    ['no event name', 400, { body: {} }],
    ['no parties', 400, { body: aNotification({ body: { parties: [] } }) }],
    ['no sequence', 400, { body: aNotification({ body: { sequence: undefined } }) }],
    ['an unreadable time', 400, { body: aNotification({ body: { eventTime: 'yesterday' } }) }],
    [
      'a time that is far ahead',
      400,
      { body: aNotification({ body: { eventTime: '9999-12-31T23:59:59Z' } }) },
    ],
    ['a text that no row can hold', 400, { body: aNotification({ telephonySessionId: 's-\u0000' }) }],
    [
      'an id that no index can hold',
      400,
      { body: aNotification({ telephonySessionId: `s-${'x'.repeat(300)}` }) },
    ],
    ['a body over 256 KiB', 413, { body: JSON.stringify({ ...aNotification(), fill: 'x'.repeat(262_144) }) }],
    ['the same in base64', 413, { base64: true, body: 'x'.repeat(262_145) }],
  ])('with %s: %i, and nothing is sent', async (_, statusCode, options) => {
    const { receiver, sent, meter } = receiverWith();
    expect(await receiveWebhook(receiver, aRequest(options))).toMatchObject({ statusCode });
    expect(sent).toEqual([]);
    expect(meter.totals).toMatchObject({
      WebhookUnauthorized: statusCode === 401 ? 1 : 0,
      WebhookAccepted: 0,
    });
  });

  it('logs neither secret nor body nor path', async () => {
    const { receiver, log } = receiverWith();
    await receiveWebhook(receiver, aRequest({ headers: { 'verification-token': 'guess' } }));
    await receiveWebhook(receiver, aRequest({ body: '{"event":1,"phone":"+14155550111"}' }));
    await receiveWebhook(receiver, aRequest({ accountId: 'dana@x.example' }));
    expect(log.lines.map(({ fields }) => fields)).toEqual([
      { account_id: accountId, http_status: 401, reason: 'wrong_secret', fields: undefined },
      { account_id: accountId, http_status: 400, reason: 'malformed', fields: ['event'] },
      { account_id: undefined, http_status: 404, reason: 'unknown_account', fields: undefined },
    ]);
  });

  it('with no secret at all does not make us read the parameter again', async () => {
    const { receiver, refreshes } = receiverWith();
    await receiveWebhook(receiver, aRequest({ headers: {} }));
    expect(refreshes).toEqual([]);
  });
});

describe('what RingCentral shall send again', () => {
  const failing = () => Promise.reject(Object.assign(new Error('secret text'), { name: 'ParameterError' }));

  it.each<[string, string, Partial<WebhookReceiver>]>([
    ['SSM is down', 'account_unreadable', { accounts: { find: failing, refresh: failing } }],
    ['the queue is', 'queue_unavailable', { queue: { send: failing } }],
    ['an answer doesn`t come', 'timeout', { queue: { send: () => new Promise(() => {}) }, limitMs: 20 }],
  ])('when %s: 503', async (_, reason, overrides) => {
    const { receiver, log, meter } = receiverWith(overrides);
    expect(await receiveWebhook(receiver, aRequest())).toMatchObject({ statusCode: 503 });
    expect(log.lines).toMatchObject([{ level: 'error', event: 'webhook.failed', fields: { reason } }]);
    expect(JSON.stringify(log.lines)).not.toContain('secret text');
    expect(meter.totals).toMatchObject({ WebhookFailed: 1 });
  });

  it('when a secret is unknown and SSM cannot say whether it is new: 503, not 401', async () => {
    const { receiver } = receiverWith({ accounts: { find: async () => account, refresh: failing } });
    const headers = { 'verification-token': 'newest-secret' };
    expect(await receiveWebhook(receiver, aRequest({ headers }))).toMatchObject({ statusCode: 503 });
  });
});
