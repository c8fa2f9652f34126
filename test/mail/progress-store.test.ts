import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { firstProgress } from '../../src/mail/progress.ts';
import { createProgressStore, type ProgressStore } from '../../src/mail/progress-store.ts';
import { createStateTable, type StateTable } from '../../src/platform/state-table.ts';
import { startDynamoDb } from '../support/dynamodb.ts';
import { brokenStateTable } from '../support/fakes.ts';

let dynamoDb: Awaited<ReturnType<typeof startDynamoDb>>;
let state: StateTable;

beforeAll(async () => {
  dynamoDb = await startDynamoDb();
  await dynamoDb.createTable({ TableName: 'state' });
  state = createStateTable('state', dynamoDb.client);
});
afterAll(() => dynamoDb.stop());

let uidValidity = 0;
/** Two runs on one mailbox that nobody else in this file uses, started with UIDs 98 and 99 pending. */
async function twoRuns(): Promise<[ProgressStore, ProgressStore]> {
  const mailbox = { name: 'INBOX', uidValidity: ++uidValidity };
  const runs: [ProgressStore, ProgressStore] = [
    createProgressStore(state, mailbox),
    createProgressStore(state, mailbox),
  ];
  await runs[0].create(firstProgress(101, [98, 99]));
  return runs;
}

describe('progress in the state table', () => {
  it('is unknown before the first run, and per mailbox and UIDVALIDITY', async () => {
    const here = createProgressStore(state, { name: 'INBOX', uidValidity: 900 });
    await here.create(firstProgress(5, []));
    expect(await here.load()).toEqual({
      watermark: 4,
      settled: new Set(),
      pending: new Set(),
      attempts: new Map(),
    });
    expect(await createProgressStore(state, { name: 'INBOX', uidValidity: 901 }).load()).toBeUndefined();
    expect(await createProgressStore(state, { name: 'Leads', uidValidity: 900 }).load()).toBeUndefined();
    expect(await state.get('mail#INBOX#900')).toMatchObject({ watermark: 4 });
  });

  it('keeps the first of two first runs', async () => {
    const [one, other] = await twoRuns();
    await one.settle(98);
    const answer = await other.create(firstProgress(300, [299]));
    expect(answer).toMatchObject({ watermark: 100, pending: new Set([99]), settled: new Set([98]) });
  });

  it('counts attempts one by one, makes the mail pending, and forgets both when it is settled', async () => {
    const [one] = await twoRuns();
    expect([await one.countAttempt(101), await one.countAttempt(101)]).toEqual([1, 2]);
    expect(await one.load()).toMatchObject({
      pending: new Set([98, 99, 101]),
      attempts: new Map([[101, 2]]),
    });
    await one.settle(101);
    expect(await one.load()).toMatchObject({
      settled: new Set([101]),
      pending: new Set([98, 99]),
      attempts: new Map(),
    });
  });

  it('takes an attempt back, and the mail stays pending', async () => {
    const [one] = await twoRuns();
    await one.countAttempt(101);
    await one.countAttempt(101);
    await one.takeBackAttempt(101);
    expect(await one.load()).toMatchObject({ attempts: new Map([[101, 1]]) });
    await one.takeBackAttempt(101);
    await one.takeBackAttempt(101);
    expect(await one.load()).toMatchObject({ attempts: new Map(), pending: new Set([98, 99, 101]) });
    expect(await one.countAttempt(101)).toBe(1);
  });

  it('excuses a mail twelve times, which settling forgets', async () => {
    const [one] = await twoRuns();
    for (let tick = 0; tick < 12; tick += 1) {
      expect(await one.countAttempt(101)).toBe(1);
      await one.excuseAttempt(101);
    }
    const counts: number[] = [];
    for (let tick = 0; tick < 4; tick += 1) {
      counts.push(await one.countAttempt(101));
      await one.excuseAttempt(101);
    }
    expect(counts).toEqual([1, 2, 3, 4]);
    await one.settle(101);
    await one.countAttempt(101);
    await one.excuseAttempt(101);
    expect((await one.load())?.attempts).toEqual(new Map());
  });

  it('loses neither counts nor settled mails of overlapping runs', async () => {
    const [one, other] = await twoRuns();
    const uids = Array.from({ length: 20 }, (_, index) => 101 + index);
    await Promise.all(uids.flatMap((uid) => [one.countAttempt(uid), other.countAttempt(uid)]));
    expect((await one.load())?.attempts).toEqual(new Map(uids.map((uid) => [uid, 2])));
    await Promise.all(uids.map((uid) => (uid % 2 === 0 ? one : other).settle(uid)));
    expect(await one.load()).toMatchObject({ settled: new Set(uids), attempts: new Map() });
  });

  it('never moves the watermark back, and a run that lags behind forgets nothing of the other', async () => {
    const [one, other] = await twoRuns();
    const before = await one.load();
    if (!before) throw new Error('not created');
    await other.settle(101);
    await other.advance(before, { ...before, watermark: 120 });
    await one.advance({ ...before, settled: new Set([101]) }, { ...before, watermark: 110 });
    expect(await one.load()).toMatchObject({ watermark: 120, settled: new Set([101]) });
  });

  it('stores what advance moved and forgot', async () => {
    const [one] = await twoRuns();
    for (const uid of [101, 102]) await one.settle(uid);
    const before = await one.load();
    if (!before) throw new Error('not created');
    await one.advance(before, {
      ...before,
      watermark: 103,
      settled: new Set([102]),
      pending: new Set([...before.pending, 103]),
    });
    expect(await one.load()).toMatchObject({
      watermark: 103,
      settled: new Set([102]),
      pending: new Set([98, 99, 103]),
    });
  });

  it('rejects when the table can not be reached', async () => {
    const store = createProgressStore(brokenStateTable, { name: 'INBOX', uidValidity: 1 });
    await expect(store.load()).rejects.toThrow();
    await expect(store.countAttempt(1)).rejects.toThrow();
    await expect(store.settle(1)).rejects.toThrow();
  });

  it('fits an item of 10,000 UIDs in every set (DynamoDB takes 400 KB)', async () => {
    const store = createProgressStore(state, { name: 'INBOX', uidValidity: 999 });
    const many = Array.from({ length: 10_000 }, (_, index) => 4_294_900_000 - index * 2);
    await store.create(firstProgress(4_294_967_295, many));
    await store.advance(
      { watermark: 0, settled: new Set(), pending: new Set(), attempts: new Map() },
      {
        watermark: 4_294_967_295,
        settled: new Set(),
        pending: new Set(many.map((uid) => uid - 1)),
        attempts: new Map(),
      },
    );
    expect((await store.load())?.pending.size).toBe(20_000);
  });
});
