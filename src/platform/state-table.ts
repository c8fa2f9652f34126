import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { awsClientConfig } from './aws-client-config.ts';

/** An update that the condition refused: somebody else was first. */
export const conditionFailed = Symbol('condition failed');

export interface UpdateExpression {
  update: string;
  condition?: string;
  names?: Record<string, string>;
  values?: Record<string, unknown>;
}

/** The state table as a port: items by their one key `pk`, changed by conditional single-item writes. */
export interface StateTable {
  get(pk: string): Promise<Record<string, unknown> | undefined>;
  put(pk: string, attributes: Record<string, unknown>): Promise<void>;
  /** The item after the update, or `conditionFailed`. */
  update(pk: string, expression: UpdateExpression): Promise<Record<string, unknown> | typeof conditionFailed>;
  delete(pk: string): Promise<void>;
}

export function createStateTable(
  tableName: string,
  client = new DynamoDBClient(awsClientConfig),
): StateTable {
  const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  return {
    async get(pk) {
      const answer = await documents.send(
        new GetCommand({ TableName: tableName, Key: { pk }, ConsistentRead: true }),
      );
      return answer.Item;
    },
    async put(pk, attributes) {
      await documents.send(new PutCommand({ TableName: tableName, Item: { ...attributes, pk } }));
    },
    async update(pk, { update, condition, names, values }) {
      try {
        const answer = await documents.send(
          new UpdateCommand({
            TableName: tableName,
            Key: { pk },
            UpdateExpression: update,
            ConditionExpression: condition,
            ExpressionAttributeNames: names,
            ExpressionAttributeValues: values,
            ReturnValues: 'ALL_NEW',
          }),
        );
        return answer.Attributes ?? {};
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return conditionFailed;
        throw error;
      }
    },
    async delete(pk) {
      await documents.send(new DeleteCommand({ TableName: tableName, Key: { pk } }));
    },
  };
}
