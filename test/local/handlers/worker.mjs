import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';

const client = new DynamoDBClient({});

/** A queue worker: keeps each event in a table; fails the messages that ask for it. */
export const handler = async ({ Records }) => {
  const batchItemFailures = [];
  for (const { body, messageId, attributes } of Records) {
    const { fail, detail, id } = JSON.parse(body);
    console.log(JSON.stringify({ worker: detail?.id ?? id, receives: attributes.ApproximateReceiveCount, batch: Records.length }));
    if (fail === 'throw') throw new Error('asked to throw');
    if (fail === 'partly') batchItemFailures.push({ itemIdentifier: messageId });
    if (fail === 'malformed') return { batchItemFailures: [{ messageId }] };
    if (fail === 'unknown') return { batchItemFailures: [{ itemIdentifier: 'somebody else' }] };
    const item = { pk: { S: `event#${detail?.id ?? id}` } };
    await client.send(new PutItemCommand({ TableName: process.env.STATE_TABLE_NAME, Item: item }));
  }
  return { batchItemFailures };
};
