import type { Context } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { acquireLease } from '../src/platform/lease.ts';
import { createStateTable } from '../src/platform/state-table.ts';
import { startDynamoDb } from './support/dynamodb.ts';

const tableName = 'CallyticsState';
const lease = 'lease#call-sweep';
let dynamoDb: Awaited<ReturnType<typeof startDynamoDb>>;
const lines: string[] = [];

beforeAll(async () => {
  dynamoDb = await startDynamoDb();
  await dynamoDb.createTable({ TableName: tableName });
  const { hostname, port } = await endpointOf(dynamoDb.client);
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_DYNAMODB: `http://${hostname}:${port}`,
    STAGE: 'test',
    LOG_LEVEL: 'INFO',
    POWERTOOLS_SERVICE_NAME: 'call-sweep',
    POWERTOOLS_METRICS_NAMESPACE: 'Callytics',
    NEON_URL_PARAMETER: '/neon',
    STORES_TABLE_NAME: 'StoresV2',
    STATE_TABLE_NAME: tableName,
    TRANSCRIBE_QUEUE_URL: 'http://127.0.0.1:1/queue',
    RECORDINGS_BUCKET_NAME: 'recordings',
    RINGCENTRAL_PARAMETER_PREFIX: '/ringcentral',
    TRANSCRIBE_LANGUAGE: 'en-US',
    TRANSCRIBE_REDACTION: 'on',
    WEBHOOK_URL: 'https://calls.example/ringcentral',
    // Nobody's calls: what is swept is tested with the sweep.
    RINGCENTRAL_ACCOUNT_IDS: ' , ',
  });
});
afterAll(() => dynamoDb.stop());
beforeEach(() => {
  lines.length = 0;
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
});
afterEach(() => void vi.restoreAllMocks());

async function endpointOf(client: typeof dynamoDb.client) {
  const endpoint = await client.config.endpoint?.();
  if (!endpoint) throw new Error('The client has no endpoint');
  return endpoint;
}

const context = { awsRequestId: 'request-1', getRemainingTimeInMillis: () => 110_000 } as Context;

it('sweeps under a lease, which it gives back, and flushes its metrics', async () => {
  const { handler } = await import('../src/call-sweep.ts');
  await handler({}, context);
  expect(lines.join('\n')).toContain('call_sweep.finished');
  expect(lines.join('\n')).toContain('"SweepRuns":1');
  expect(lines.join('\n')).toContain('"RingCentralLoginRefused":0');
  const item = await createStateTable(tableName, dynamoDb.client).get(lease);
  expect(item).toEqual({ pk: lease });
});

it('leaves the work to who has the lease', async () => {
  const { handler } = await import('../src/call-sweep.ts');
  const now = new Date();
  const until = new Date(now.getTime() + 60_000);
  const state = createStateTable(tableName, dynamoDb.client);
  await acquireLease(state, lease, { owner: 'another', until, now });
  await handler({}, context);
  expect(lines.join('\n')).toContain('call_sweep.skipped');
  expect(lines.join('\n')).not.toContain('call_sweep.finished');
  expect(await state.get(lease)).toMatchObject({ owner: 'another' });
});
