import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** How an invocation ended. `errorType` and `errorMessage` as Lambda reports them. */
export type InvocationResult =
  | { ok: true; payload: unknown }
  | { ok: false; errorType: string; errorMessage: string };

/** The server side of Lambda's Runtime API for one process, on 127.0.0.1. */
export interface RuntimeApi {
  /** For AWS_LAMBDA_RUNTIME_API. */
  address: string;
  /** Hands an event to the process as soon as it asks for one; the function's time runs from then on. */
  invoke(event: string): Promise<InvocationResult>;
  /** Ends the invocation under way from outside: a crash. */
  fail(errorType: string, errorMessage: string): void;
  /** The process reported that it could not load its handler: it is of no more use. */
  readonly broken: boolean;
  close(): void;
}

interface Invocation {
  id: string;
  event: string;
  resolve: (result: InvocationResult) => void;
}

export interface RuntimeLimits {
  timeoutMs: number;
  /** The process has used up its time and must be killed. */
  onTimeout(): void;
}

/** Lambda gives ten seconds to load the handler, on a machine of its own; a busy laptop may need more. */
const initMs = 60_000;

export async function startRuntimeApi(
  functionArn: string,
  { timeoutMs, onTimeout }: RuntimeLimits,
): Promise<RuntimeApi> {
  let current: Invocation | undefined;
  let waiting: ServerResponse | undefined;
  let broken = false;
  let timer = limit('Init', initMs);

  function limit(what: string, milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => {
      const errorMessage = `${what} timed out after ${(milliseconds / 1000).toFixed(2)} seconds`;
      settle({ ok: false, errorType: 'Sandbox.Timedout', errorMessage });
      onTimeout();
    }, milliseconds);
  }

  /** Gives the waiting process the invocation; one comes before the other, or the other way round. */
  function handOver(): void {
    if (!current || !waiting) return;
    timer = limit('Task', timeoutMs);
    waiting.writeHead(200, {
      'content-type': 'application/json',
      'lambda-runtime-aws-request-id': current.id,
      'lambda-runtime-deadline-ms': String(Date.now() + timeoutMs),
      'lambda-runtime-invoked-function-arn': functionArn,
      'lambda-runtime-trace-id': traceId(),
    });
    waiting.end(current.event);
    waiting = undefined;
  }

  function settle(result: InvocationResult): void {
    clearTimeout(timer);
    current?.resolve(result);
    current = undefined;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, kind, id, verb] =
      /runtime\/(invocation|init)\/([^/]+)(?:\/(\w+))?$/.exec(request.url ?? '') ?? [];
    if (kind === 'invocation' && id === 'next') {
      clearTimeout(timer);
      waiting = response;
      handOver();
      return;
    }
    const body = await text(request);
    if (kind === 'init') {
      broken = true;
      settle(errorFrom(body));
    } else if (current && id === current.id) {
      settle(verb === 'response' ? { ok: true, payload: JSON.parse(body) } : errorFrom(body));
    }
    response.writeHead(202).end();
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  // A process may wait for its next event for as long as it likes.
  server.requestTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    invoke: (event) =>
      new Promise((resolve) => {
        current = { id: randomUUID(), event, resolve };
        handOver();
      }),
    fail: (errorType, errorMessage) => settle({ ok: false, errorType, errorMessage }),
    get broken() {
      return broken;
    },
    close() {
      clearTimeout(timer);
      server.closeAllConnections();
      server.close();
    },
  };
}

function errorFrom(body: string): InvocationResult {
  const { errorType, errorMessage } = JSON.parse(body);
  return { ok: false, errorType, errorMessage };
}

function traceId(): string {
  const hex = randomUUID().replaceAll('-', '');
  const seconds = Math.floor(Date.now() / 1000).toString(16);
  return `Root=1-${seconds}-${hex.slice(0, 24)};Parent=${hex.slice(0, 16)};Sampled=0`;
}
