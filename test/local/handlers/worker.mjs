import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { ChangeMessageVisibilityCommand, SQSClient } from '@aws-sdk/client-sqs';

const dynamodb = new DynamoDBClient({});
const sqs = new SQSClient({});
const { STATE_TABLE_NAME: TableName, WORK_QUEUE_URL: QueueUrl } = process.env;

/** A queue worker: keeps each event in a table; fails the messages that ask for it, which come back at once. */
export const handler = async ({ Records }) => {
  const batchItemFailures = [];
  for (const { body, messageId, receiptHandle, attributes } of Records) {
    const { fail, detail, id } = JSON.parse(body);
    const worker = detail?.id ?? id;
    console.log(JSON.stringify({ worker, receives: attributes.ApproximateReceiveCount, batch: Records.length }));
    if (fail) {
      const again = { QueueUrl, ReceiptHandle: receiptHandle, VisibilityTimeout: 0 };
      await sqs.send(new ChangeMessageVisibilityCommand(again));
    }
    if (fail === 'throw') throw new Error('asked to throw');
    if (fail === 'malformed') return { batchItemFailures: [{ messageId }] };
    if (fail === 'partly') batchItemFailures.push({ itemIdentifier: messageId });
    else await dynamodb.send(new PutItemCommand({ TableName, Item: { pk: { S: `event#${worker}` } } }));
  }
  return { batchItemFailures };
};
