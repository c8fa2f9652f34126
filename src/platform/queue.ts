import { ChangeMessageVisibilityCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { awsClientConfig } from './aws-client-config.ts';

/** SQS allows a delay of 0 to 900 seconds, an integer (API_SendMessage). */
const maximumDelaySeconds = 900;

/** One queue as a port. */
export interface Queue {
  /** Sends one JSON message. `delaySeconds` is cut to 0..900 and rounded up. */
  send(body: unknown, options?: { delaySeconds?: number }): Promise<void>;
  /** Makes a received message visible again after `seconds`. */
  changeVisibility(receiptHandle: string, seconds: number): Promise<void>;
}

export function createQueue(queueUrl: string, client = new SQSClient(awsClientConfig)): Queue {
  return {
    async send(body, { delaySeconds } = {}) {
      await client.send(
        new SendMessageCommand({
          QueueUrl: queueUrl,
          MessageBody: JSON.stringify(body),
          ...(delaySeconds === undefined
            ? {}
            : { DelaySeconds: Math.max(0, Math.min(maximumDelaySeconds, Math.ceil(delaySeconds))) }),
        }),
      );
    },
    async changeVisibility(receiptHandle, seconds) {
      await client.send(
        new ChangeMessageVisibilityCommand({
          QueueUrl: queueUrl,
          ReceiptHandle: receiptHandle,
          VisibilityTimeout: Math.ceil(seconds),
        }),
      );
    },
  };
}
