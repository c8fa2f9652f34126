import { CreateTableCommand, type CreateTableCommandInput, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';

/** A DynamoDB of the test file's own (dynalite, in process), reached by the unmodified SDK. */
export async function startDynamoDb(): Promise<{
  client: DynamoDBClient;
  createTable(
    input: Pick<CreateTableCommandInput, 'TableName'> & Partial<CreateTableCommandInput>,
  ): Promise<void>;
  stop(): Promise<void>;
}> {
  const server = dynalite({ createTableMs: 0 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('dynalite has no port');
  const client = new DynamoDBClient({
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${address.port}`,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  return {
    client,
    async createTable(input) {
      await client.send(
        new CreateTableCommand({
          BillingMode: 'PAY_PER_REQUEST',
          KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
          AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
          ...input,
        }),
      );
    },
    stop: async () => {
      client.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
