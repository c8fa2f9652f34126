import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { awsClientConfig } from '../platform/aws-client-config.ts';
import type { LeadInput } from './lead.ts';
import { cutToBytes } from './raw-body.ts';

/** DynamoDB takes items of up to 400 KB; the mail's text is cut well below that. */
const rawBodyBytes = 100 * 1024;

/**
 * The transitional DynamoDB table of leads, written beside Neon until it is removed: delete this file, its one
 * call in take-mail.ts and LEGACY_LEADS_TABLE_NAME, and it is gone.
 *
 * `stored` — the item is there. `duplicate` — an earlier lead has the same phone, store and UTC day.
 * `refused` — DynamoDB will never take this item (a validation error).
 */
export type PutLegacyLead = (lead: LeadInput) => Promise<'stored' | 'duplicate' | 'refused'>;

/** @throws every error that can pass: the mail is then left UNSEEN and comes again with the next tick. */
export function createLegacyLeadsTable(
  tableName: string,
  dynamo = new DynamoDBClient(awsClientConfig),
): PutLegacyLead {
  const client = DynamoDBDocumentClient.from(dynamo, {
    marshallOptions: { removeUndefinedValues: true },
  });

  async function hasEarlierLead(lead: LeadInput): Promise<boolean> {
    const day = lead.receivedAt.toISOString().slice(0, 10);
    let from: Record<string, unknown> | undefined;
    do {
      const answer = await client.send(
        new QueryCommand({
          TableName: tableName,
          IndexName: 'phone-receivedAt-index',
          KeyConditionExpression: 'phone = :phone AND receivedAt BETWEEN :from AND :to',
          FilterExpression: 'storeId = :store',
          ExpressionAttributeValues: {
            ':phone': lead.phone,
            ':from': `${day}T00:00:00.000Z`,
            ':to': lead.receivedAt.toISOString(),
            ':store': lead.storeId,
          },
          ExclusiveStartKey: from,
        }),
      );
      if ((answer.Count ?? 0) > 0) return true;
      from = answer.LastEvaluatedKey;
    } while (from);
    return false;
  }

  async function put(lead: LeadInput): Promise<'stored' | 'duplicate'> {
    if (lead.phone && lead.storeId && (await hasEarlierLead(lead))) return 'duplicate';
    // An absent phone leaves the item out of the index; DynamoDB refuses null as an index key.
    const { phone, rawBody, ...rest } = lead;
    const item = {
      ...rest,
      ...(phone ? { phone } : {}),
      rawBody: cutToBytes(rawBody, rawBodyBytes).text,
      receivedAt: lead.receivedAt.toISOString(),
    };
    await client.send(new PutCommand({ TableName: tableName, Item: item }));
    return 'stored';
  }

  return (lead) =>
    put(lead).catch((error: unknown) => {
      // Item too large, index missing: no later try will go better.
      if (error instanceof Error && error.name === 'ValidationException') return 'refused';
      throw error;
    });
}
