import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Journal } from './journal.ts';
import { logText, renderPage } from './page.ts';
import type { Run } from './run.ts';

export interface PageServer {
  url: string;
  close(): Promise<void>;
}

const shownLines = 300;
/** Tables are shown anew at most this often. */
const refreshMs = 1_000;

/** The run's web page, on 127.0.0.1 and for this machine's browser only. */
export async function startPageServer(stageName: string, run: Run, journal: Journal): Promise<PageServer> {
  const { queues } = run.stage;
  const redrivable = new Map(
    queues.plans.flatMap(({ redrive }) => {
      const deadLetters = redrive && queues.find(redrive.deadLetterArn);
      return deadLetters ? [[deadLetters.name, deadLetters.arn] as const] : [];
    }),
  );
  const listeners = new Set<ServerResponse>();
  let url = '';

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A page of another site must not reach this one through the browser, by name or by form.
    const { host, origin } = request.headers;
    if (`http://${host}` !== url || (origin !== undefined && origin !== url)) {
      response.writeHead(403).end();
      return;
    }
    const { pathname } = new URL(request.url ?? '/', url);
    if (request.method === 'GET' && pathname === '/') return sendPage(response);
    if (request.method === 'GET' && pathname === '/events') return listen(response);
    if (request.method === 'POST' && pathname === '/redrive') return redrive(request, response);
    response.writeHead(404).end();
  }

  async function sendPage(response: ServerResponse, notice?: string): Promise<void> {
    const nonce = randomBytes(16).toString('base64');
    const html = renderPage({
      stage: stageName,
      snapshot: await run.snapshot(),
      names: run.names,
      redrivable: new Set(redrivable.keys()),
      lines: journal.lines.slice(-shownLines),
      nonce,
      ...(notice ? { notice } : {}),
    });
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': `default-src 'none'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'`,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    response.end(html);
  }

  async function redrive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = new URLSearchParams(await text(request)).get('queue') ?? '';
    const arn = redrivable.get(name);
    if (!arn) {
      response.writeHead(404).end();
      return;
    }
    const moved = await queues.redrive(arn);
    await sendPage(response, `${moved} moved from ${name} to its source queue.`);
  }

  function listen(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.flushHeaders();
    listeners.add(response);
    response.once('close', () => listeners.delete(response));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end(error instanceof Error ? error.message : String(error));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const tell = (event: string, data: string) => {
    for (const response of listeners) response.write(`event: ${event}\ndata: ${data}\n\n`);
  };
  let moved = false;
  const unsubscribe = journal.onLine((line) => {
    tell('line', logText(line));
    moved = true;
  });
  const timer = setInterval(() => {
    if (moved) tell('moved', '');
    moved = false;
  }, refreshMs);

  return {
    url,
    async close() {
      clearInterval(timer);
      unsubscribe();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
