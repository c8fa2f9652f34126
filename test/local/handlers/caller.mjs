import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, ListRulesCommand, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import * as s3 from '@aws-sdk/client-s3';
import { GetQueueUrlCommand, PurgeQueueCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import * as transcribe from '@aws-sdk/client-transcribe';
import { Upload } from '@aws-sdk/lib-storage';
import { Readable } from 'node:stream';

const clients = {
  sqs: SQSClient,
  dynamodb: DynamoDBClient,
  events: EventBridgeClient,
  ssm: SSMClient,
  s3: s3.S3Client,
  transcribe: transcribe.TranscribeClient,
};
const commands = {
  ...s3,
  ...transcribe,
  ...{ GetItemCommand, PutItemCommand, ListRulesCommand, PutEventsCommand, GetQueueUrlCommand },
  ...{ PurgeQueueCommand, SendMessageCommand, GetParameterCommand },
};

/** Makes one call with the unmodified SDK and tells how it ended. */
export const handler = async ({ service, command, input, region, megabytes }) => {
  const client = new clients[service](region ? { region } : {});
  try {
    if (command === 'Upload') return await upload(client, input, megabytes);
    const { $metadata, Body, ...answer } = await client.send(new commands[command](input));
    return { ...answer, ...(Body ? { text: await Body.transformToString() } : {}) };
  } catch (error) {
    return { name: error.name, message: error.message, status: error.$metadata?.httpStatusCode, attempts: error.$metadata?.attempts };
  }
};

/** Sends so many megabytes that come bit by bit. */
async function upload(client, input, megabytes) {
  const body = Readable.from(Array.from({ length: megabytes }, (_, index) => Buffer.alloc(1024 * 1024, index)));
  const { ETag } = await new Upload({ client, params: { ...input, Body: body } }).done();
  return { ETag };
}
