import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateTableCommand, type CreateTableCommandInput, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import dynalite from 'dynalite';
import { createDatabases } from '../local/databases.ts';
import { type NeonEndpoint, startNeonEndpoint } from '../local/neon-endpoint.ts';
import { startPostgres } from '../local/postgres.ts';
import { legacyTable, storesTable } from './poller.ts';

/** Everything that the poller talks to besides the mailbox, on this machine. */
export interface StandIns {
  /** The connection string of a migrated, empty database. */
  neonUrl: string;
  neon: NeonEndpoint;
  /** Operations that DynamoDB was asked for, in order, as they came over the wire. */
  dynamoDbCalls: string[];
  newStateTable(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * PostgreSQL behind Neon's protocol, dynalite with the sample stores, and a bus that takes every event.
 * Sets the environment variables that send this process and those that it starts here.
 */
export async function startStandIns(): Promise<StandIns> {
  const postgres = await startPostgres();
  const databases = await createDatabases(postgres);
  // An endpoint of our own, whose requests can be counted and made to fail.
  const neon = await startNeonEndpoint(postgres);
  const dynamoDb = dynalite({ createTableMs: 0 });
  const dynamoDbCalls: string[] = [];
  dynamoDb.on('request', ({ headers }) =>
    dynamoDbCalls.push(String(headers['x-amz-target']).replace(/.*\./, '')),
  );
  const bus = createServer((request, response) => {
    request.resume().on('end', () => response.end('{"FailedEntryCount":0,"Entries":[{"EventId":"1"}]}'));
  });
  Object.assign(process.env, {
    NEON_HTTP_ENDPOINT: neon.url,
    AWS_ENDPOINT_URL_DYNAMODB: await listen(dynamoDb),
    AWS_ENDPOINT_URL_EVENTBRIDGE: await listen(bus),
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    // The SDK's notice about Node 20; Lambda runs Node 24.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    POWERTOOLS_METRICS_NAMESPACE: 'Bench',
  });
  const client = new DynamoDBClient();
  await createStoresAndLegacyTable(client);

  let stateTables = 0;
  return {
    neonUrl: databases.ownUrl,
    neon,
    dynamoDbCalls,
    async newStateTable() {
      const name = `state-${++stateTables}`;
      await createTable(client, { TableName: name, ...keyedBy('pk') });
      return name;
    },
    async stop() {
      client.destroy();
      await Promise.all([close(dynamoDb), close(bus), neon.close(), databases.close()]);
      await postgres.stop();
    },
  };
}

async function createStoresAndLegacyTable(client: DynamoDBClient): Promise<void> {
  await createTable(client, { TableName: storesTable, ...keyedBy('storeId') });
  const stores: Record<string, unknown>[] = JSON.parse(
    readFileSync(new URL('../local/samples/stores.json', import.meta.url), 'utf8'),
  );
  const documents = DynamoDBDocumentClient.from(client);
  for (const store of stores) await documents.send(new PutCommand({ TableName: storesTable, Item: store }));

  await createTable(client, {
    TableName: legacyTable,
    KeySchema: keyedBy('id').KeySchema,
    AttributeDefinitions: ['id', 'phone', 'receivedAt'].map(text),
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
}

const text = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' as const });

function keyedBy(name: string) {
  return {
    KeySchema: [{ AttributeName: name, KeyType: 'HASH' as const }],
    AttributeDefinitions: [text(name)],
  };
}

async function createTable(client: DynamoDBClient, input: CreateTableCommandInput): Promise<void> {
  await client.send(new CreateTableCommand({ BillingMode: 'PAY_PER_REQUEST', ...input }));
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
