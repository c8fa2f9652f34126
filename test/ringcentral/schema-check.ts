import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';

/** RingCentral's own schemas (public OpenAPI document; source and date in each file's `x-source`). */
const documents = {
  CallLogResponse: 'call-log-response',
  CallLogRecord: 'call-log-record',
  GetCallRecordingResponse: 'recording',
  GetSingleMessageInfoResponse: 'message-info',
  GetMessageList: 'message-info',
  SubscriptionInfo: 'subscription',
  SubscriptionListResource: 'subscription',
  CreateWebhookSubscriptionRequest: 'subscription',
  AccountTelephonySessionsEvent: 'telephony-session-event',
  ApiErrorResponseModel: 'errors',
  TokenInfo: 'token',
} as const;

export type SchemaName = keyof typeof documents;

// Not strict: the document carries OpenAPI's own keywords (discriminator, x-…).
const ajv = new Ajv({ strict: false, allErrors: true });
formats.default(ajv);
for (const name of new Set(Object.values(documents))) {
  ajv.addSchema(JSON.parse(readFileSync(join(import.meta.dirname, 'schemas', `${name}.json`), 'utf8')), name);
}

/** What RingCentral's schema has against the value; empty when it is valid. */
export function schemaErrors(name: SchemaName, value: unknown): string[] {
  const validate = ajv.getSchema(`${documents[name]}#/components/schemas/${name}`);
  if (!validate) throw new Error(`No schema ${name}`);
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
