import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { HttpApiPlan, RoutePlan } from './assembly/http-apis.ts';
import { arnMatches } from './assembly/iam.ts';
import type { PermissionPlan } from './assembly/rules.ts';
import { localAccount } from './assembly/template.ts';
import { eventOf } from './http-api-event.ts';
import type { Journal } from './journal.ts';
import type { LocalFunction } from './runtime/function.ts';

/** HTTP APIs on this machine, each at an address of its own; they serve once they have been told what. */
export interface HttpApis {
  /** `http://127.0.0.1:…`, instead of `https://{id}.execute-api.{region}.amazonaws.com`. */
  origin(apiId: string): string;
  serve(apis: readonly HttpApiPlan[], served: Served): void;
  close(): Promise<void>;
}

interface Served {
  permissions: readonly PermissionPlan[];
  functionNamed(name: string): LocalFunction;
}

/** @param names of the APIs, which are their ids */
export async function startHttpApis(names: readonly string[], journal: Journal): Promise<HttpApis> {
  const started = await Promise.all(names.map(async (name) => [name, await startHttpApi(journal)] as const));
  const servers = new Map(started);
  const find = (name: string) => {
    const server = servers.get(name);
    if (!server) throw new Error(`no HTTP API ${name}`);
    return server;
  };
  return {
    origin: (name) => find(name).origin,
    serve(apis, served) {
      for (const api of apis) find(api.id).serve(api, served);
    },
    async close() {
      await Promise.all([...servers.values()].map((server) => server.close()));
    },
  };
}

interface HttpApiServer {
  origin: string;
  serve(api: HttpApiPlan, served: Served): void;
  close(): Promise<void>;
}

/** Of an HTTP API's request (https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html). */
const maximumBodyBytes = 10 * 1024 * 1024;
const integrationMs = 30_000;

interface Route extends RoutePlan {
  bucket: { tokens: number; at: number };
}

/** API Gateway's HTTP API with Lambda integrations of payload format 2.0. */
async function startHttpApi(journal: Journal): Promise<HttpApiServer> {
  let origin = '';
  let api: HttpApiPlan | undefined;
  let served: Served | undefined;
  let routes: Route[] = [];

  async function answer(request: IncomingMessage): Promise<APIGatewayProxyStructuredResultV2> {
    const url = new URL(request.url ?? '/', origin);
    const found = find(request.method ?? 'GET', url.pathname);
    if (!api || !served || !found) return refusal(404, 'Not Found');
    const { route, pathParameters } = found;
    if (!takeToken(route)) return refusal(429, 'Too Many Requests');
    const body = await bodyOf(request);
    if (!body) return refusal(413, 'Request Entity Too Large');
    const routeKey = `${route.method} ${route.path}`;
    if (!mayInvoke(served.permissions, api, route)) {
      journal.fail('access_denied', route.functionName, `the HTTP API may not invoke it for ${routeKey}`);
      return refusal(500, 'Internal Server Error');
    }
    const event = eventOf(request, url, { api, routeKey, pathParameters, body });
    const result = await inTime(served.functionNamed(route.functionName).invoke(event));
    if (!result) return refusal(503, 'Service Unavailable');
    return result.ok ? asResponse(result.payload) : refusal(500, 'Internal Server Error');
  }

  function find(method: string, path: string) {
    for (const route of routes) {
      const pathParameters =
        route.method === method || route.method === 'ANY' ? match(route.path, path) : undefined;
      if (pathParameters) return { route, pathParameters };
    }
    return undefined;
  }

  const server = createServer((request, response) => {
    answer(request)
      .catch((error: unknown) => {
        journal.fail('handler_error', 'http-api', String(error));
        return refusal(500, 'Internal Server Error');
      })
      .then((result) => send(request, response, result))
      .catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    serve(plan, what) {
      api = plan;
      served = what;
      routes = plan.routes.map((route) => ({
        ...route,
        bucket: { tokens: route.throttle?.burst ?? 0, at: Date.now() },
      }));
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** @returns the path's parameters, decoded; undefined when it isn't this route's */
function match(routePath: string, path: string): Record<string, string> | undefined {
  const [pattern, parts] = [routePath.split('/'), path.split('/')];
  if (pattern.length !== parts.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, segment] of pattern.entries()) {
    const part = parts[index] ?? '';
    const [, name] = /^\{(\w+)\}$/.exec(segment) ?? [];
    if (name && part !== '') parameters[name] = decodeURIComponent(part);
    else if (segment !== part) return undefined;
  }
  return parameters;
}

function takeToken({ throttle, bucket }: Route): boolean {
  if (!throttle) return true;
  const now = Date.now();
  const gained = ((now - bucket.at) / 1000) * throttle.rate;
  bucket.tokens = Math.min(throttle.burst, bucket.tokens + gained);
  bucket.at = now;
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}

/** Undefined when it is too large. The rest is read all the same, so that the client gets its answer. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= maximumBodyBytes) chunks.push(chunk);
  }
  return bytes > maximumBodyBytes ? undefined : Buffer.concat(chunks);
}

/** The function's resource policy, for exactly this route. */
function mayInvoke(
  permissions: readonly PermissionPlan[],
  { id, region }: HttpApiPlan,
  route: RoutePlan,
): boolean {
  const source = `arn:aws:execute-api:${region}:${localAccount}:${id}/$default/${route.method}${route.path}`;
  return permissions.some(
    ({ functionName, principal, sourceArn }) =>
      functionName === route.functionName &&
      principal === 'apigateway.amazonaws.com' &&
      (sourceArn === undefined || arnMatches(sourceArn, source)),
  );
}

async function inTime<T>(invocation: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, integrationMs, undefined);
  });
  return Promise.race([invocation, late]).finally(() => clearTimeout(timer));
}

/** An answer without a status code is a body of its own. */
function asResponse(payload: unknown): APIGatewayProxyStructuredResultV2 {
  if (isStructured(payload)) return payload;
  return {
    statusCode: 200,
    headers: { 'content-type': 'application/json' },
    body: typeof payload === 'string' ? payload : JSON.stringify(payload ?? null),
  };
}

function isStructured(payload: unknown): payload is APIGatewayProxyStructuredResultV2 {
  return typeof payload === 'object' && payload !== null && 'statusCode' in payload;
}

const refusal = (statusCode: number, message: string): APIGatewayProxyStructuredResultV2 => ({
  statusCode,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ message }),
});

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { statusCode = 200, headers = {}, body = '', isBase64Encoded = false }: APIGatewayProxyStructuredResultV2,
): void {
  request.resume();
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
  response.writeHead(statusCode, {
    ...Object.fromEntries(lowered),
    'apigw-requestid': randomUUID().slice(0, 16),
    'content-length': bytes.length,
  });
  response.end(bytes);
}
