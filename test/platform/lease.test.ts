import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acquireLease } from '../../src/platform/lease.ts';
import { createStateTable, type StateTable } from '../../src/platform/state-table.ts';
import { startDynamoDb } from '../support/dynamodb.ts';
import { brokenStateTable, FakeClock } from '../support/fakes.ts';

let dynamoDb: Awaited<ReturnType<typeof startDynamoDb>>;
let state: StateTable;

beforeAll(async () => {
  dynamoDb = await startDynamoDb();
  await dynamoDb.createTable({ TableName: 'state' });
  state = createStateTable('state', dynamoDb.client);
});
afterAll(() => dynamoDb.stop());

/** Asks for the lease until four minutes from the clock's now. */
function ask(pk: string, owner: string, clock: FakeClock) {
  const now = clock.now();
  return acquireLease(state, pk, { owner, now, until: new Date(now.getTime() + 240_000) });
}

describe('a lease', () => {
  it('is given to exactly one of many who ask at once', async () => {
    const clock = new FakeClock();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => ask('poller#INBOX', `run-${index}`, clock)),
    );
    expect(answers.filter((lease) => lease !== undefined)).toHaveLength(1);
  });

  it('ends at its deadline, although its holder crashed', async () => {
    const clock = new FakeClock();
    expect(await ask('crash', 'one', clock)).toBeDefined();
    clock.advance(239_999);
    expect(await ask('crash', 'two', clock)).toBeUndefined();
    clock.advance(1);
    expect(await ask('crash', 'two', clock)).toBeDefined();
  });

  it('can be taken again after its release', async () => {
    const clock = new FakeClock();
    await (await ask('release', 'one', clock))?.release();
    expect(await ask('release', 'two', clock)).toBeDefined();
  });

  it('is released by its owner only: a late release does not take the lease from the next holder', async () => {
    const clock = new FakeClock();
    const late = await ask('late', 'one', clock);
    clock.advance(240_000);
    await ask('late', 'two', clock);
    await late?.release();
    expect(await ask('late', 'three', clock)).toBeUndefined();
  });

  it('is separate for each mailbox', async () => {
    const clock = new FakeClock();
    expect(await ask('poller#A', 'one', clock)).toBeDefined();
    expect(await ask('poller#B', 'two', clock)).toBeDefined();
  });

  it('rejects when the table can not be reached, so that the caller decides', async () => {
    const now = new Date();
    await expect(acquireLease(brokenStateTable, 'pk', { owner: 'one', now, until: now })).rejects.toThrow();
  });
});
