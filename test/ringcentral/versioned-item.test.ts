import { afterAll, beforeAll, expect, it } from 'vitest';
import { createStateTable, type StateTable } from '../../src/platform/state-table.ts';
import { readItem, writeItem } from '../../src/ringcentral/versioned-item.ts';
import { startDynamoDb } from '../support/dynamodb.ts';
import { memoryStateTable } from './memory-state-table.ts';

let dynamoDb: Awaited<ReturnType<typeof startDynamoDb>>;
beforeAll(async () => {
  dynamoDb = await startDynamoDb();
  await dynamoDb.createTable({ TableName: 'state' });
});
afterAll(() => dynamoDb.stop());

it.each<[string, () => StateTable]>([
  ['memory', () => memoryStateTable()],
  ['the DynamoDB protocol', () => createStateTable('state', dynamoDb.client)],
])('only who has seen the latest version writes: %s', async (_, table) => {
  const state = table();
  const none = await readItem(state, 'token#a#1');
  expect(none).toEqual({ version: 0 });

  const first = await writeItem(state, 'token#a#1', none, {
    access_token: 'at-1',
    lease_until: 5,
    expires_at: 0.5,
  });
  expect(first).toMatchObject({ version: 1, access_token: 'at-1' });
  expect(await writeItem(state, 'token#a#1', none, { access_token: 'at-late' })).toBeUndefined();
  if (!first) return;

  const second = await writeItem(state, 'token#a#1', first, { lease_until: undefined });
  expect(second).toMatchObject({ version: 2, access_token: 'at-1' });
  expect(await writeItem(state, 'token#a#1', first, { access_token: 'at-late' })).toBeUndefined();
  expect(await readItem(state, 'token#a#1')).toEqual({
    pk: 'token#a#1',
    version: 2,
    access_token: 'at-1',
    expires_at: 0.5,
  });
});
