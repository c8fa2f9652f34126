import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Journal } from './journal.ts';
import { logText, renderPage, renderTables } from './page.ts';
import type { Run } from './run.ts';

export interface PageServer {
  url: string;
  close(): Promise<void>;
}

const shownLines = 300;
/** Also without a log line: messages come back, or reach a dead-letter queue, in silence. */
const silentRefreshes = 5;

const htmlHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/**
 * The run's web page, on 127.0.0.1 and for this machine's browser only.
 *
 * @param refreshMs tables are shown anew at most this often
 */
export async function startPageServer(
  stageName: string,
  run: Run,
  journal: Journal,
  refreshMs = 1_000,
): Promise<PageServer> {
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
    if (request.method === 'GET' && pathname === '/tables') return sendTables(response);
    if (request.method === 'GET' && pathname === '/events') return listen(response);
    if (request.method === 'POST' && pathname === '/redrive') return redrive(request, response);
    response.writeHead(404).end();
  }

  async function sendPage(response: ServerResponse, notice?: string): Promise<void> {
    const nonce = randomBytes(16).toString('base64');
    const html = renderPage({
      stage: stageName,
      ...(await tablesContent()),
      lines: journal.lines.slice(-shownLines),
      nonce,
      ...(notice ? { notice } : {}),
    });
    response.writeHead(200, {
      ...htmlHeaders,
      'content-security-policy': `default-src 'none'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'`,
      // With no-referrer the redrive form would say `Origin: null`, as another site's could.
      'referrer-policy': 'same-origin',
    });
    response.end(html);
  }

  async function sendTables(response: ServerResponse): Promise<void> {
    response.writeHead(200, htmlHeaders).end(renderTables(await tablesContent()));
  }

  async function tablesContent() {
    return {
      snapshot: await run.snapshot(),
      names: run.names,
      redrivable: new Set(redrivable.keys()),
    };
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
  let silent = 0;
  const unsubscribe = journal.onLine((line) => {
    tell('line', logText(line));
    moved = true;
  });
  const timer = setInterval(() => {
    silent = moved ? 0 : silent + 1;
    if (silent % silentRefreshes === 0) tell('moved', '');
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
