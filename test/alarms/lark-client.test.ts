import { describe, expect, it } from 'vitest';
import { createLarkBot, isWebhookRefused, LarkError } from '../../src/alarms/lark-client.ts';
import { card } from '../../src/alarms/lark-message.ts';
import { answer, delivered, fakeLark, hangUp, refused, silence } from './fake-lark.ts';

const message = card('red', 'ALARM: somethingÜ', []);
const soon = (milliseconds = 20_000) => new Date(Date.now() + milliseconds);

/** Sends to a bot whose pauses take no time, and tells them, and the error if there was one. */
async function send(url: string, deadline = soon(), attemptLimitMs = 5_000) {
  const pauses: number[] = [];
  const sleep = async (milliseconds: number) => pauses.push(milliseconds);
  const error: unknown = await createLarkBot(url, { sleep, attemptLimitMs })
    .send(message, deadline)
    .catch((reason: unknown) => reason);
  if (error !== undefined && !(error instanceof LarkError)) throw error;
  return { code: error?.code, error, pauses };
}

describe('a message to Lark', () => {
  it('is posted as it is', async () => {
    const lark = await fakeLark();
    expect(await send(lark.url)).toMatchObject({ code: undefined, pauses: [] });
    expect(lark.got).toEqual([
      {
        path: '/open-apis/bot/v2/hook/the-secret',
        contentType: 'application/json; charset=utf-8',
        body: { msg_type: 'interactive', card: message.card },
      },
    ]);
  });

  it.each([
    ['new', { code: 0, msg: 'success', data: {} }],
    ['older', { StatusCode: 0, StatusMessage: 'success', Extra: null }],
  ])('has arrived by the %s form of the answer', async (_form, body) => {
    const lark = await fakeLark(answer(200, body));
    expect((await send(lark.url)).code).toBeUndefined();
    expect(lark.got).toHaveLength(1);
  });

  it.each([
    ['a missing keyword', refused(19_024, 'Key Words Not Found'), 'lark_19024'],
    [
      'an unknown hook',
      refused(19_001, 'param invalid: incoming webhook access token invalid'),
      'lark_19001',
    ],
    ['a refusal with status 400', refused(19_036, 'exceeds the size limit', 400), 'lark_19036'],
    [
      'a refusal in the older form',
      answer(200, { StatusCode: 19_022, StatusMessage: 'Ip Not Allowed' }),
      'lark_19022',
    ],
    ['a web page', answer(200, '<html>Sign in</html>', { 'content-type': 'text/html' }), 'unreadable_answer'],
    ['JSON without a code', answer(200, { ok: true }), 'unreadable_answer'],
    ['nothing', answer(200, ''), 'unreadable_answer'],
    ['a redirect', answer(302, '', { location: 'http://127.0.0.1:9/elsewhere' }), 'http_302'],
    ['a page not found', answer(404, '<html>404</html>'), 'http_404'],
    ['success with a failing status', answer(403, { code: 0 }), 'http_403'],
  ])('has not arrived, and is not sent again, after %s', async (_what, given, code) => {
    const lark = await fakeLark(given);
    expect(await send(lark.url)).toMatchObject({ code, pauses: [] });
    expect(lark.got).toHaveLength(1);
  });

  it.each([
    ['limit of the bot, status 200', refused(11_232, 'frequency limited psm[lark.oapi.app_platform]')],
    ['too many requests, which Lark sends with status 400', refused(9_499, 'too many request', 400)],
    ['limit of the gateway', refused(99_991_400, 'request trigger frequency limit', 400)],
    ['internal error', refused(2_200, 'internal error')],
    ['429', answer(429, 'slow down')],
    ['500', answer(500, '<html>oops</html>')],
    ['503', answer(503, '')],
    ['a connection that breaks', hangUp],
  ])('is sent again after: %s', async (_what, given) => {
    const lark = await fakeLark(given, given, delivered);
    const { code, pauses } = await send(lark.url);
    expect(code).toBeUndefined();
    expect(lark.got).toHaveLength(3);
    expect(pauses).toHaveLength(2);
    expect(pauses[0]).toBeGreaterThanOrEqual(250);
    expect(pauses[0]).toBeLessThanOrEqual(750);
    expect(pauses[1]).toBeGreaterThanOrEqual(500);
    expect(pauses[1]).toBeLessThanOrEqual(1_500);
  });

  it.each([
    ['retry-after', '7', 7_000],
    ['x-ogw-ratelimit-reset', '2.5', 2_500],
  ])('waits as long as %s says', async (header, seconds, pause) => {
    const lark = await fakeLark(answer(429, { code: 99_991_400 }, { [header]: seconds }));
    expect(await send(lark.url)).toMatchObject({ code: undefined, pauses: [pause] });
  });

  it('gives up at once when the wait is longer than the time left', async () => {
    const lark = await fakeLark(answer(429, 'slow down', { 'retry-after': '60' }));
    expect(await send(lark.url)).toMatchObject({ code: 'http_429', pauses: [] });
    expect(lark.got).toHaveLength(1);
  });

  it('is given up after the fifth attempt', async () => {
    const lark = await fakeLark(...Array.from({ length: 9 }, () => refused(11_232, 'frequency limited')));
    expect((await send(lark.url)).code).toBe('lark_11232');
    expect(lark.got).toHaveLength(5);
  });

  it('is sent again when no answer comes', async () => {
    const lark = await fakeLark(silence, delivered);
    expect((await send(lark.url, soon(), 500)).code).toBeUndefined();
    expect(lark.got.length).toBeGreaterThanOrEqual(2);
  });

  it('is given up at its deadline, in the middle of an answer too', async () => {
    for (const hang of [silence, (response: Parameters<typeof silence>[0]) => void response.write('{"co')]) {
      const lark = await fakeLark(hang);
      const startedAt = Date.now();
      expect((await send(lark.url, soon(300))).code).toBe('timeout');
      expect(Date.now() - startedAt).toBeLessThan(3_000);
    }
  });

  it('tells the network`s own code when nobody listens', async () => {
    const lark = await fakeLark();
    await lark.close();
    expect((await send(lark.url)).code).toBe('ECONNREFUSED');
  });
});

describe('the webhook`s URL', () => {
  it.each([
    '',
    'not a url the-secret',
    'http://open.larksuite.com/open-apis/bot/v2/hook/the-secret',
    'ftp://open.larksuite.com/the-secret',
    '{"url":"https://open.larksuite.com/the-secret"}',
  ])('must be https: %s', (url) => {
    const build = () => createLarkBot(url);
    expect(build).toThrow(new LarkError('webhook_url_invalid'));
  });

  it('may have a line break behind it, as editors leave one', () => {
    expect(() => createLarkBot('https://open.larksuite.com/open-apis/bot/v2/hook/x\n')).not.toThrow();
  });

  it('is in no error', async () => {
    const lark = await fakeLark(refused(19_001, 'invalid'), hangUp);
    const errors = [(await send(lark.url)).error, (await send(lark.url, soon(100))).error];
    for (const error of errors) {
      expect(error).toBeInstanceOf(LarkError);
      expect(`${error?.stack} ${JSON.stringify(error)} ${error?.cause}`).not.toContain('the-secret');
    }
  });

  it('is read again only after a refusal of the hook itself', () => {
    const codes = ['lark_19001', 'http_404', 'webhook_url_invalid', 'lark_19024', 'lark_11232', 'timeout'];
    expect(codes.filter((code) => isWebhookRefused(new LarkError(code)))).toEqual(codes.slice(0, 3));
    expect(isWebhookRefused(new Error('other'))).toBe(false);
  });
});
