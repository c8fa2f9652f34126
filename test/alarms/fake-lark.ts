import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach } from 'vitest';

type Answer = (response: ServerResponse) => void;

/** An answer with a JSON body, as Lark gives it with any status. */
export function answer(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

export const delivered = answer(200, {
  StatusCode: 0,
  StatusMessage: 'success',
  code: 0,
  data: {},
  msg: 'success',
});
export const refused = (code: number, msg: string, status = 200) => answer(status, { code, data: {}, msg });
/** Takes the request and never answers. */
export const silence: Answer = () => {};
export const hangUp: Answer = (response) => response.destroy();

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()));
});

/**
 * A bot's webhook on this machine, until the test ends: gives the answers in turn, then `delivered`.
 *
 * @returns its URL, whose path holds the secret, what it got, and `close` to end it earlier
 */
export async function fakeLark(...answers: Answer[]) {
  const got: { path: string | undefined; contentType: string | undefined; body: unknown }[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const body = JSON.parse(await text(request));
    got.push({ path: request.url, contentType: request.headers['content-type'], body });
    (answers.shift() ?? delivered)(response);
  };
  const server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  open.push(close);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `http://127.0.0.1:${address.port}/open-apis/bot/v2/hook/the-secret`, got, close };
}
