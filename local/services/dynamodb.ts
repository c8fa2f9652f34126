import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import dynalite from 'dynalite';
import type { TablePlan } from '../assembly/tables.ts';
import { localAccount } from '../assembly/template.ts';
import { type AwsCall, type AwsService, type Need, UnknownOperationError } from './aws-service.ts';

/** Operations on the one table that the body names; the IAM action has the operation's name. */
const tableOperations = new Set([
  'GetItem',
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'Query',
  'Scan',
  'DescribeTable',
]);
const batchOperations = new Set(['BatchGetItem', 'BatchWriteItem']);

export interface Tables {
  plans: readonly TablePlan[];
  put(table: Pick<TablePlan, 'name' | 'region'>, item: Record<string, unknown>): Promise<void>;
  close(): Promise<void>;
}

/** dynalite in process with the templates' tables. It knows no regions, so each region has one of its own. */
export async function startTables(plans: readonly TablePlan[]) {
  const regions = [...new Set(plans.map(({ region }) => region))];
  const servers = new Map<string, { server: Server; url: string; client: DynamoDBClient }>();
  for (const region of regions) servers.set(region, await startRegion(region));

  const inRegion = (region: string) => {
    const found = servers.get(region);
    if (!found) throw new Error(`no table in ${region}`);
    return found;
  };
  await Promise.all(plans.map((plan) => inRegion(plan.region).client.send(createTable(plan))));

  const tables: Tables = {
    plans,
    async put({ name, region }, item) {
      const documents = DynamoDBDocumentClient.from(inRegion(region).client);
      await documents.send(new PutCommand({ TableName: name, Item: item }));
    },
    async close() {
      for (const { server, client } of servers.values()) {
        client.destroy();
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };

  const service: AwsService = {
    needs: (call) => needsOf(call, plans),
    async handle({ region, headers, raw }) {
      const { url } = inRegion(region);
      const answer = await fetch(url, {
        method: 'POST',
        headers: forwarded(headers),
        body: new Uint8Array(raw),
      });
      const kept = ['content-type', 'x-amz-crc32', 'x-amzn-requestid'];
      return {
        status: answer.status,
        body: await answer.text(),
        headers: Object.fromEntries(kept.flatMap((name) => [[name, answer.headers.get(name) ?? '']])),
      };
    },
  };
  return { tables, service };
}

async function startRegion(region: string) {
  const server = dynalite({ createTableMs: 0 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return { server, url, client: new DynamoDBClient({ region, endpoint: url, credentials }) };
}

function createTable({ name, attributes, key, indexes }: TablePlan): CreateTableCommand {
  return new CreateTableCommand({
    TableName: name,
    AttributeDefinitions: attributes,
    KeySchema: key,
    BillingMode: 'PAY_PER_REQUEST',
    ...(indexes.length > 0 ? { GlobalSecondaryIndexes: indexes } : {}),
  });
}

function forwarded(headers: Record<string, string>): Record<string, string> {
  const names = ['authorization', 'content-type', 'x-amz-date', 'x-amz-target', 'x-amz-security-token'];
  return Object.fromEntries(names.flatMap((name) => (headers[name] ? [[name, headers[name]]] : [])));
}

type Item = Record<string, Record<string, unknown>>;

function needsOf({ operation, region, body }: AwsCall, plans: readonly TablePlan[]): Need[] {
  const need = (action: string, table: string, items: Item[], index?: unknown): Need => {
    const arn = `arn:aws:dynamodb:${region}:${localAccount}:table/${table}`;
    const keys = leadingKeys(plans, region, table, items);
    return {
      action: `dynamodb:${action}`,
      resource: typeof index === 'string' ? `${arn}/index/${index}` : arn,
      context: keys ? { 'dynamodb:LeadingKeys': keys } : {},
    };
  };
  if (tableOperations.has(operation)) {
    const { TableName, Key, Item, IndexName } = body as Record<string, unknown>;
    const item = (Key ?? Item) as Item | undefined;
    return [need(operation, String(TableName), item ? [item] : [], IndexName)];
  }
  if (batchOperations.has(operation)) {
    return Object.entries(body.RequestItems ?? {}).map(([table, requests]) =>
      need(operation, table, batchItems(requests)),
    );
  }
  throw new UnknownOperationError('DynamoDB', operation);
}

interface WriteRequest {
  PutRequest?: { Item: Item };
  DeleteRequest?: { Key: Item };
}

function batchItems(requests: { Keys: Item[] } | WriteRequest[]): Item[] {
  if (!Array.isArray(requests)) return requests.Keys;
  return requests.map(({ PutRequest, DeleteRequest }) => PutRequest?.Item ?? DeleteRequest?.Key ?? {});
}

/** The partition key values that a call names; none for Query and Scan, which policies don't limit here. */
function leadingKeys(plans: readonly TablePlan[], region: string, table: string, items: Item[]) {
  const plan = plans.find(({ name, region: place }) => name === table && place === region);
  const hash = plan?.key.find(({ KeyType }) => KeyType === 'HASH')?.AttributeName;
  if (!hash || items.length === 0) return undefined;
  return items.map((item) => String(Object.values(item[hash] ?? {})[0]));
}
