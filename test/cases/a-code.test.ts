import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { afterEach, describe, expect, it } from 'vitest';
import { createEventBus, EventRefusedError } from '../../src/platform/events.ts';
import { processBatch } from '../../src/platform/sqs-batch.ts';

const record = (messageId: string) => ({ messageId, body: '{}', attributes: {} }) as SQSRecord;
const batch: SQSEvent = { Records: ['a', 'b', 'c'].map(record) };
const failuresOf = (ids: string[]) => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
});

describe('partial responses', () => {
  it('A7 when all records fail, all ids go back: an empty answer would delete them', async () => {
    const fail = () => Promise.reject(new Error('down'));
    expect(await processBatch(batch, fail)).toEqual(failuresOf(['a', 'b', 'c']));
  });

  it('A7 a throw before the first await, or of something that is no Error, fails its own record only', async () => {
    const handle = ({ messageId }: SQSRecord): Promise<void> => {
      if (messageId === 'a') throw 'a string';
      if (messageId === 'b') return Promise.reject(undefined);
      return Promise.resolve();
    };
    expect(await processBatch(batch, handle)).toEqual(failuresOf(['a', 'b']));
  });

  it('A7 when all succeed, nothing comes back', async () => {
    expect(await processBatch(batch, async () => {})).toEqual(failuresOf([]));
  });
});

describe('PutEvents', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  /** An EventBridge that answers every request with 200 and this body. */
  async function eventBridge(answer: object) {
    const requests: Record<string, unknown>[] = [];
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      requests.push(JSON.parse(Buffer.concat(chunks).toString()));
      response.setHeader('Content-Type', 'application/x-amz-json-1.1').end(JSON.stringify(answer));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = new EventBridgeClient({
      region: 'us-east-1',
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
    closing.push(() => {
      client.destroy();
      server.close();
    });
    return { requests, bus: createEventBus('default', client) };
  }

  const event = { source: 'lead-tracking', detailType: 'LeadCreated', detail: { stage: 'test' } };

  it('A16 a 200 with FailedEntryCount 1 is a failure, with the code of the entry', async () => {
    const { bus } = await eventBridge({
      FailedEntryCount: 1,
      Entries: [{ ErrorCode: 'InternalFailure', ErrorMessage: 'try again' }],
    });
    const refused = await bus.publish(event).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(EventRefusedError);
    expect(refused).toMatchObject({ code: 'InternalFailure' });
  });

  it('A16 a 200 with FailedEntryCount 1 and no entries is a failure too', async () => {
    const { bus } = await eventBridge({ FailedEntryCount: 1 });
    await expect(bus.publish(event)).rejects.toBeInstanceOf(EventRefusedError);
  });

  it('A16 an accepted event was sent as it is', async () => {
    const { bus, requests } = await eventBridge({ FailedEntryCount: 0, Entries: [{ EventId: '1' }] });
    await bus.publish(event);
    expect(requests).toEqual([
      {
        Entries: [
          {
            EventBusName: 'default',
            Source: 'lead-tracking',
            DetailType: 'LeadCreated',
            Detail: '{"stage":"test"}',
          },
        ],
      },
    ]);
  });
});

const src = path.join(import.meta.dirname, '../../src');
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, lines: readFileSync(path.join(src, file), 'utf8').split('\n') }));
const linesWith = (pattern: RegExp) =>
  sources.flatMap(({ file, lines }) =>
    lines.filter((line) => pattern.test(line)).map((line) => `${file}: ${line.trim()}`),
  );

describe('the code', () => {
  it('A16 calls that answer a batch with partial failures are made in src/platform only, where they are checked', () => {
    const calls = linesWith(
      /new (PutEvents|SendMessageBatch|DeleteMessageBatch|ChangeMessageVisibilityBatch|BatchWrite)/,
    );
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.filter((call) => !call.startsWith('platform/'))).toEqual([]);
  });

  it('A29 the id of an SQS message is used to answer the batch and to log, never as a key: a redrive changes it', () => {
    const handling = sources.filter(({ lines }) => lines.some((line) => line.includes('SQSRecord')));
    expect(handling.length).toBeGreaterThan(0);
    const uses = handling.flatMap(({ lines }) => lines.filter((line) => line.includes('messageId')));
    const allowed = /message_id: record\.messageId|itemIdentifier: messageId/;
    expect(uses.filter((line) => !allowed.test(line))).toEqual([]);
  });
});
