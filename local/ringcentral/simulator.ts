import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { type Fault, Faults } from './faults.ts';
import { type Admission, type RateLimit, type RateLimitGroup, SlidingWindowLimiter } from './limiter.ts';
import { OAuth, type SimulatedAccount } from './oauth.ts';
import { apiError, type Reply } from './replies.ts';
import { routeOf } from './routes.ts';
import { type Delivery, Subscriptions } from './subscriptions.ts';
import type { JournalEntry, SimulatedSurface } from './surfaces.ts';
import type { SimulatedCall, TelephonyEvent } from './world.ts';

export interface SimulatorOptions {
  accounts: SimulatedAccount[];
  clock?: { now(): Date };
  /** Default: any free one. */
  port?: number;
  limits?: Partial<Record<RateLimitGroup, Partial<RateLimit>>>;
  /** `X-Rate-Limit-*` and `Retry-After` on answers; default true. */
  rateLimitHeaders?: boolean;
  /** Life of an access token; default 3600. */
  tokenSeconds?: number;
}

export interface Simulator {
  /** `server` of the RingCentral parameter: `http://127.0.0.1:{port}`. */
  url: string;
  /** Every request, oldest first. */
  journal: JournalEntry[];
  calls: SimulatedCall[];
  faults: Faults;
  limiter: SlidingWindowLimiter;
  oauth: OAuth;
  subscriptions: Subscriptions;
  /** Posts one of a call's events to the account's active webhook subscriptions. */
  deliver(event: TelephonyEvent): Promise<Delivery[]>;
  stop(): Promise<void>;
}

/** RingCentral on 127.0.0.1: what its API answers, limits and delays, with a clock that a test can move. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const clock = options.clock ?? { now: () => new Date() };
  const now = () => clock.now().getTime();
  const journal: JournalEntry[] = [];
  const calls: SimulatedCall[] = [];
  const faults = new Faults();
  const limiter = new SlidingWindowLimiter(options.limits);
  const oauth = new OAuth(options.accounts, options.tokenSeconds ?? 3600);
  const subscriptions = new Subscriptions();
  let url = '';

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? 'GET';
    const path = request.url ?? '/';
    const target = new URL(path, url);
    const body = await text(request);
    const { authorization } = request.headers;
    const tokenRequest = method === 'POST' && target.pathname === '/restapi/oauth/token';
    const route = tokenRequest ? undefined : routeOf(method, target.pathname);
    if (!tokenRequest && !route) return send(response, apiError(404, 'CMN-101'));

    const surface: SimulatedSurface = route?.surface ?? 'oauth_token';
    const group: RateLimitGroup = route?.group ?? 'auth';
    const account = route && oauth.accountOf(authorization, now());
    const owner = route ? (account?.accountId ?? '') : oauth.clientOf(authorization).clientId;
    const admission = owner === '' ? undefined : limiter.admit(owner, group, now());
    const entry = {
      at: now(),
      surface,
      group,
      owner,
      method,
      path,
      status: 0,
      insidePenalty: admission?.insidePenalty ?? false,
    };
    journal.push(entry);

    const answer = async (): Promise<Reply> => {
      if (admission && !admission.allowed) return rateExceeded();
      if (!route) return oauth.token(authorization, body, now());
      if (!account) return apiError(401, 'OAU-213');
      return route.answer(
        calls,
        {
          method,
          url: target,
          accept: request.headers.accept ?? '*/*',
          body,
          accountId: account.accountId,
          ownerExtensionId: account.ownerExtensionId,
          now: now(),
          platform: url,
          media: `${url}/media`,
        },
        subscriptions,
      );
    };
    const fault = admission?.allowed === false ? undefined : faults.next(surface, path);
    if (fault?.kind === 'hang') return;
    if (fault?.kind === 'reset') return void request.socket.destroy();
    const reply = fault?.kind === 'status' ? faultReply(fault) : await answer();
    entry.status = reply.status;
    const limitHeaders =
      admission && options.rateLimitHeaders !== false ? headersOf(group, admission, reply.status) : {};
    await send(
      response,
      { ...reply, headers: { ...limitHeaders, ...reply.headers } },
      fault?.kind === 'truncate',
    );
  }

  const server = createServer((request, response) => {
    // A client that hangs up is part of the game; anything else is a fault of the simulator's own.
    handle(request, response).catch((error) => {
      if (!response.headersSent) response.writeHead(500).end(String(error));
      else response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('The RingCentral simulator has no port');
  url = `http://127.0.0.1:${address.port}`;

  return {
    url,
    journal,
    calls,
    faults,
    limiter,
    oauth,
    subscriptions,
    deliver: (event) => subscriptions.deliver(event.body.parties[0]?.accountId ?? '', event, now()),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const rateExceeded = () => apiError(429, 'CMN-301');

function faultReply(fault: Extract<Fault, { kind: 'status' }>): Reply {
  const { status, errorCode = 'CMN-201', permissionName, headers, body, contentType } = fault;
  const reply =
    body === undefined
      ? apiError(status, errorCode, permissionName === undefined ? {} : { permissionName })
      : { status, headers: { 'content-type': contentType ?? 'text/html' }, body };
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

function headersOf(
  group: RateLimitGroup,
  { rule, remaining }: Admission,
  status: number,
): Record<string, string> {
  return {
    'x-rate-limit-group': group,
    'x-rate-limit-limit': String(rule.limit),
    'x-rate-limit-remaining': String(remaining),
    'x-rate-limit-window': String(rule.windowSeconds),
    ...(status === 429 ? { 'retry-after': String(rule.penaltySeconds) } : {}),
  };
}

/** With `cut`, the whole length is announced, half of it sent, and the connection ended. */
async function send(response: ServerResponse, reply: Reply, cut = false): Promise<void> {
  const { status, headers, body = '' } = reply;
  const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.bytes;
  response.writeHead(status, { ...headers, ...(status === 204 ? {} : { 'content-length': String(bytes) }) });
  if (typeof body === 'string') {
    if (!cut) return void response.end(body);
    response.write(Buffer.from(body).subarray(0, Math.floor(bytes / 2)));
  } else {
    if (!cut) return pipeline(body.stream, response);
    let sent = 0;
    for await (const chunk of body.stream) {
      if (sent + chunk.length > bytes / 2) break;
      // What the socket hasn't taken would be lost with it.
      if (!response.write(chunk)) await once(response, 'drain');
      sent += chunk.length;
    }
  }
  // Long enough for the client to read what was sent before the end of the connection.
  setTimeout(() => response.destroy(), 20);
}
