import { createHash, timingSafeEqual } from 'node:crypto';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';

/** A webhook request without API Gateway's wrapping. */
export interface WebhookRequest {
  /** As the path has it. */
  accountId: string;
  validationToken: string | undefined;
  /** What may be our secret: RingCentral's documents name either header. */
  presentedTokens: string[];
  /** Undefined: too large. */
  body: string | undefined;
}

/** A conference's event has a party of some 800 bytes for everybody; SQS would take 1 MiB. */
const maximumBodyBytes = 256 * 1024;

/** Header names without regard to case, the body as text. */
export function readWebhookRequest(event: APIGatewayProxyEventV2): WebhookRequest {
  const headers = new Map(
    Object.entries(event.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const validationToken = headers.get('validation-token');
  return {
    accountId: event.pathParameters?.accountId ?? '',
    validationToken,
    presentedTokens: [headers.get('verification-token'), validationToken].filter(
      (token) => token !== undefined,
    ),
    body: bodyOf(event),
  };
}

function bodyOf({ body = '', isBase64Encoded }: APIGatewayProxyEventV2): string | undefined {
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  return bytes.length > maximumBodyBytes ? undefined : bytes.toString('utf8');
}

/**
 * Whether any presented token is an accepted one. The time it takes tells nothing of the accepted ones: digests
 * are of one length, and each is compared whatever the others said.
 */
export function isAccepted(presented: readonly string[], accepted: readonly string[]): boolean {
  let found = false;
  for (const token of presented.map(digest)) {
    for (const secret of accepted.map(digest)) found = timingSafeEqual(token, secret) || found;
  }
  return found;
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
