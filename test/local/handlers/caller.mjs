import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, ListRulesCommand, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { GetQueueUrlCommand, PurgeQueueCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';

const clients = { sqs: SQSClient, dynamodb: DynamoDBClient, events: EventBridgeClient, ssm: SSMClient };
const commands = { GetItemCommand, PutItemCommand, ListRulesCommand, PutEventsCommand, GetQueueUrlCommand, PurgeQueueCommand, SendMessageCommand, GetParameterCommand };

/** Makes one call with the unmodified SDK and tells how it ended. */
export const handler = async ({ service, command, input, region }) => {
  const client = new clients[service](region ? { region } : {});
  try {
    const { $metadata, ...answer } = await client.send(new commands[command](input));
    return answer;
  } catch (error) {
    return { name: error.name, message: error.message, status: error.$metadata?.httpStatusCode, attempts: error.$metadata?.attempts };
  }
};
