import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LeadInput } from '../../src/leads/lead.ts';
import { createLegacyLeadsTable, type PutLegacyLead } from '../../src/leads/legacy-table.ts';
import { startDynamoDb } from '../support/dynamodb.ts';
import { aLead } from '../support/leads.ts';

let dynamo: Awaited<ReturnType<typeof startDynamoDb>>;
let put: PutLegacyLead;

beforeAll(async () => {
  dynamo = await startDynamoDb();
  await dynamo.createTable({
    TableName: 'LeadTracking-v2',
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    AttributeDefinitions: ['id', 'phone', 'receivedAt'].map((AttributeName) => ({
      AttributeName,
      AttributeType: 'S',
    })),
    GlobalSecondaryIndexes: [
      {
        IndexName: 'phone-receivedAt-index',
        KeySchema: [
          { AttributeName: 'phone', KeyType: 'HASH' },
          { AttributeName: 'receivedAt', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  });
  put = createLegacyLeadsTable('LeadTracking-v2', dynamo.client);
});
afterAll(() => dynamo.stop());

const item = async (lead: LeadInput) =>
  (await dynamo.client.send(new GetCommand({ TableName: 'LeadTracking-v2', Key: { id: lead.id } }))).Item;

it('stores a lead under its id, with the text cut to 100 KB', async () => {
  const lead = aLead({ id: 'a', phone: '+12125550101', rawBody: 'ü'.repeat(200_000) });
  expect(await put(lead)).toBe('stored');
  const stored = await item(lead);
  expect(stored).toMatchObject({ id: 'a', phone: '+12125550101', receivedAt: '2026-11-03T14:15:00.000Z' });
  expect(Buffer.byteLength(stored?.rawBody)).toBeLessThanOrEqual(100 * 1024);
});

it('skips a lead with the phone, store and UTC day of an earlier one, and only then', async () => {
  const at = (time: string) => new Date(`2026-11-03T${time}Z`);
  const first = aLead({ id: 'first', phone: '+12125550102', receivedAt: at('09:00:00') });
  const second = { ...first, id: 'second', receivedAt: at('16:00:00') };
  const otherStore = { ...second, id: 'other', storeId: '6f1c2a9e-2a55-4b1e-9a53-0d7f3f0b0999' };
  const nextDay = { ...second, id: 'next', receivedAt: new Date('2026-11-04T00:00:01Z') };
  expect(await put(first)).toBe('stored');
  expect(await put(second)).toBe('duplicate');
  expect(await item(second)).toBeUndefined();
  expect(await put({ ...first, bookedDate: '2026-11-07', receivedAt: at('12:00:00') })).toBe('duplicate');
  expect((await item(first))?.bookedDate).toBeNull();
  expect(await put(otherStore)).toBe('stored');
  expect(await put(nextDay)).toBe('stored');
});

it('stores a lead without a phone, and one without a store', async () => {
  expect(await put(aLead({ id: 'no-phone', phone: null }))).toBe('stored');
  expect(await put(aLead({ id: 'no-store', storeId: null }))).toBe('stored');
});

it('tells an item that DynamoDB will never take from one that may pass later', async () => {
  expect(await put(aLead({ id: 'x'.repeat(3000) }))).toBe('refused');
  const missing = createLegacyLeadsTable('no-such-table', dynamo.client);
  await expect(missing(aLead({ phone: null }))).rejects.toThrow();
});
