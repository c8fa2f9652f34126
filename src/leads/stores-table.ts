import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { awsClientConfig } from '../platform/aws-client-config.ts';
import type { ScanStores } from './store-directory.ts';

/** StoresV2 in DynamoDB, read whole with a paginated Scan. `region` where the table is in another one. */
export function createStoresTable(tableName: string, region?: string): ScanStores {
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({ ...awsClientConfig, ...(region ? { region } : {}) }),
  );
  return async () => {
    const items: unknown[] = [];
    for await (const page of paginateScan({ client }, { TableName: tableName }))
      items.push(...(page.Items ?? []));
    return items;
  };
}
