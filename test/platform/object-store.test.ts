import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { CreateBucketCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { buildApp } from 'fauxqs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createObjectStore, type ObjectStore } from '../../src/platform/object-store.ts';

const bucket = 'recordings';
const app = buildApp({ logger: false });
let client: S3Client;
let store: ObjectStore;
/** What S3 was asked, with the bytes of its body. */
const requests: { method: string; url: string; bytes: number }[] = [];

const clientOf = (endpoint: string) =>
  new S3Client({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
  });

beforeAll(async () => {
  app.addHook(
    'onRequest',
    async ({ method, url, headers }: Pick<IncomingMessage, 'headers'> & { method: string; url: string }) => {
      const bytes = Number(headers['x-amz-decoded-content-length'] ?? headers['content-length'] ?? 0);
      requests.push({ method, url, bytes });
    },
  );
  const endpoint = await app.listen({ port: 0, host: '127.0.0.1' });
  client = clientOf(endpoint);
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  store = createObjectStore(bucket, client);
});
beforeEach(() => {
  requests.length = 0;
});
afterAll(() => app.close());

const megabyte = 2 ** 20;
/** So many chunks of 64 KB, made while they are read; an error instead of the end, if one is given. */
function* chunks(count: number, end?: Error): Generator<Buffer> {
  for (let index = 0; index < count; index += 1) yield Buffer.alloc(65_536, index % 251);
  if (end) throw end;
}
const stream = (megabytes: number, end?: Error) => Readable.from(chunks(megabytes * 16, end));
const sound = { contentType: 'audio/mpeg', metadata: { channels: '2', 'announced-bytes': '1' } };
const parts = () => requests.filter(({ method, url }) => method === 'PUT' && url.includes('partNumber'));

describe('upload', () => {
  it('of a small stream is one request, with type and metadata', async () => {
    expect(await store.upload('a/small.mp3', stream(1), sound)).toBe(megabyte);
    expect(requests.map(({ method }) => method)).toEqual(['PUT']);
    expect(await store.head('a/small.mp3')).toEqual({ bytes: megabyte, ...sound });
  });

  it('of 40 MB goes in parts of 8 MB, with type and metadata', async () => {
    expect(await store.upload('a/large.wav', stream(40), sound)).toBe(40 * megabyte);
    expect(parts().map(({ bytes }) => bytes)).toEqual(Array(5).fill(8 * megabyte));
    expect(await store.head('a/large.wav')).toEqual({ bytes: 40 * megabyte, ...sound });
  });

  it('reads no faster than it sends: about three parts are in memory', async () => {
    let read = 0;
    const counted = function* () {
      for (const chunk of chunks(40 * 16)) {
        read += chunk.length;
        yield chunk;
      }
    };
    let ahead = 0;
    const timer = setInterval(() => {
      ahead = Math.max(ahead, read - parts().reduce((sum, { bytes }) => sum + bytes, 0));
    }, 1);
    await store.upload('a/steady.wav', Readable.from(counted()), sound);
    clearInterval(timer);
    expect(ahead).toBeGreaterThan(0);
    expect(ahead).toBeLessThanOrEqual(17 * megabyte);
  });

  it.each([1, 20])('of a stream that fails after %i MB leaves nothing', async (megabytes) => {
    const key = `b/${megabytes}.mp3`;
    const error = new Error('cut off');
    await expect(store.upload(key, stream(megabytes, error), sound)).rejects.toBe(error);
    expect(await store.head(key)).toBeUndefined();
    const listed = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: 'b/' }));
    expect(listed.Contents ?? []).toEqual([]);
    const begun = requests.some(({ url }) => /[?&]uploads(=|&|$)/.test(url));
    expect(begun).toBe(megabytes === 20);
    expect(requests.filter(({ method }) => method === 'DELETE')).toHaveLength(begun ? 1 : 0);
  });
});

describe('reading', () => {
  it('knows what is not there', async () => {
    expect(await store.head('none')).toBeUndefined();
    expect(await store.getText('none')).toBeUndefined();
  });

  it('gives a text back', async () => {
    await store.upload('c/text.json', Readable.from([Buffer.from('{"a":"é"}')]), {
      contentType: 'application/json',
      metadata: {},
    });
    expect(await store.getText('c/text.json')).toBe('{"a":"é"}');
  });

  it('throws what isn`t an answer about the object', async () => {
    const elsewhere = createObjectStore('no-such-bucket-at-all', client);
    await expect(elsewhere.upload('x', stream(1), sound)).rejects.toThrow('bucket');
    const nowhere = clientOf('http://127.0.0.1:1');
    await expect(createObjectStore(bucket, nowhere).head('x')).rejects.toThrow('ECONNREFUSED');
  });
});
