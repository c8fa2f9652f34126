import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { HttpApiPlan } from './assembly/http-apis.ts';
import { localAccount } from './assembly/template.ts';

/** A request that a route takes. */
interface Matched {
  api: HttpApiPlan;
  routeKey: string;
  pathParameters: Record<string, string>;
  body: Buffer;
}

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html */
export function eventOf(
  request: IncomingMessage,
  url: URL,
  { api, routeKey, pathParameters, body }: Matched,
): APIGatewayProxyEventV2 {
  const now = new Date();
  const { method = 'GET', httpVersion, headers } = request;
  const domainName = `${api.id}.execute-api.${api.region}.amazonaws.com`;
  const isText = isTextual(headers['content-type']);
  const query = [...new Set(url.searchParams.keys())].map((name) => [
    name,
    url.searchParams.getAll(name).join(','),
  ]);
  return {
    version: '2.0',
    routeKey,
    rawPath: url.pathname,
    rawQueryString: url.search.slice(1),
    headers: headersOf(request, domainName),
    ...(query.length > 0 ? { queryStringParameters: Object.fromEntries(query) } : {}),
    ...(Object.keys(pathParameters).length > 0 ? { pathParameters } : {}),
    requestContext: {
      accountId: localAccount,
      apiId: api.id,
      domainName,
      domainPrefix: api.id,
      http: {
        method,
        path: url.pathname,
        protocol: `HTTP/${httpVersion}`,
        sourceIp: request.socket.remoteAddress ?? '',
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey,
      stage: '$default',
      time: now.toISOString(),
      timeEpoch: now.getTime(),
    },
    ...(body.length > 0 ? { body: body.toString(isText ? 'utf8' : 'base64') } : {}),
    isBase64Encoded: body.length > 0 && !isText,
  };
}

function isTextual(contentType = ''): boolean {
  return /^(text\/|application\/(json|javascript|xml|[\w.-]+\+(json|xml)))/i.test(contentType);
}

/** Names in lower case; several values of one are joined. */
function headersOf({ headers, socket }: IncomingMessage, domainName: string): Record<string, string> {
  const own = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(',') : value]],
  );
  return {
    ...Object.fromEntries(own),
    host: domainName,
    'x-forwarded-for': socket.remoteAddress ?? '',
    'x-forwarded-port': '443',
    'x-forwarded-proto': 'https',
  };
}
