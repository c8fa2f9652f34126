import type { SQSRecord } from 'aws-lambda';
import type { Queue } from '../../src/platform/queue.ts';

/** A record as Lambda hands it over; `body` is sent as JSON unless it is a text already. */
export function anSqsRecord({
  body,
  receiveCount = 1,
  messageId = 'message-1',
}: {
  body: unknown;
  receiveCount?: number;
  messageId?: string;
}): SQSRecord {
  return {
    messageId,
    receiptHandle: `receipt of ${messageId}`,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    attributes: {
      ApproximateReceiveCount: String(receiveCount),
      SentTimestamp: '0',
      SenderId: 'sender',
      ApproximateFirstReceiveTimestamp: '0',
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:queue',
    awsRegion: 'us-east-1',
  };
}

/** Keeps what would be sent, and which receipt would be visible again after how many seconds. */
export function recordingQueue(): Queue & { sent: unknown[]; visibility: [string, number][] } {
  const sent: unknown[] = [];
  const visibility: [string, number][] = [];
  return {
    sent,
    visibility,
    send: async (body) => {
      sent.push(body);
    },
    changeVisibility: async (receiptHandle, seconds) => {
      visibility.push([receiptHandle, seconds]);
    },
  };
}
