import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  QueueDoesNotExist,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { awsClientConfig } from '../platform/aws-client-config.ts';

export interface QueueMessage {
  id: string;
  body: string;
  receiptHandle: string;
  /** When it was first sent, also for what SQS has moved since. */
  sentAt: Date;
  /** EventBridge's, which say why it gave up. */
  errorCode?: string;
}

export interface QueueDepth {
  visible: number;
  inFlight: number;
  delayed: number;
}

/** One queue, as an operator uses it. */
export interface OperatorQueue {
  name: string;
  /** Approximate, and up to a minute old. */
  depth(): Promise<QueueDepth>;
  /** Up to ten messages, which nobody else gets for `holdSeconds`; waits up to `waitSeconds` for the first. */
  receive(holdSeconds: number, options: { maximum: number; waitSeconds: number }): Promise<QueueMessage[]>;
  send(body: string): Promise<void>;
  delete(message: QueueMessage): Promise<void>;
}

/** SQS gives no more at once. */
const batchLimit = 10;

/** The stage is not deployed there, or the credentials are another account's. */
class QueueMissingError extends Error {
  override name = 'QueueMissingError';
}

/** @throws QueueMissingError */
export async function openQueue(name: string, region: string): Promise<OperatorQueue> {
  const client = new SQSClient({ ...awsClientConfig, region });
  const QueueUrl = await client.send(new GetQueueUrlCommand({ QueueName: name })).then(
    (answer) => answer.QueueUrl,
    (error: unknown) => {
      if (!(error instanceof QueueDoesNotExist)) throw error;
      throw new QueueMissingError(
        `There is no queue ${name} in ${region}: is the stage deployed in this account?`,
      );
    },
  );
  return {
    name,
    async depth() {
      const answer = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
      return {
        visible: Number(answer.Attributes?.ApproximateNumberOfMessages),
        inFlight: Number(answer.Attributes?.ApproximateNumberOfMessagesNotVisible),
        delayed: Number(answer.Attributes?.ApproximateNumberOfMessagesDelayed),
      };
    },
    async receive(holdSeconds, { maximum, waitSeconds }) {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl,
          MaxNumberOfMessages: Math.min(batchLimit, maximum),
          VisibilityTimeout: holdSeconds,
          WaitTimeSeconds: waitSeconds,
          MessageSystemAttributeNames: ['SentTimestamp'],
          MessageAttributeNames: ['ERROR_CODE'],
        }),
      );
      return Messages.map(
        ({ MessageId = '', Body = '', ReceiptHandle = '', Attributes, MessageAttributes }) => {
          const errorCode = MessageAttributes?.ERROR_CODE?.StringValue;
          return {
            id: MessageId,
            body: Body,
            receiptHandle: ReceiptHandle,
            sentAt: new Date(Number(Attributes?.SentTimestamp)),
            ...(errorCode ? { errorCode } : {}),
          };
        },
      );
    },
    async send(body) {
      await client.send(new SendMessageCommand({ QueueUrl, MessageBody: body }));
    },
    async delete({ receiptHandle }) {
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: receiptHandle }));
    },
  };
}

/** Receives in a row that bring nothing new: SQS answers with a sample, not in order. */
const barrenReceives = 3;

/**
 * The messages that are there, each once, at most `maximum`; each is hidden from others for `holdSeconds` from
 * its receive on.
 */
export async function* messagesOf(
  queue: OperatorQueue,
  holdSeconds: number,
  maximum: number,
): AsyncGenerator<QueueMessage> {
  const { visible, inFlight } = await queue.depth();
  const seen = new Set<string>();
  for (let barren = 0; barren < barrenReceives && seen.size < maximum; ) {
    // The depth is an approximation: when it is reached, one more look shows whether that was all.
    const waitSeconds = seen.size < visible + inFlight ? 1 : 0;
    const messages = await queue.receive(holdSeconds, { maximum: maximum - seen.size, waitSeconds });
    if (messages.length === 0) return;
    const fresh = messages.filter(({ id }) => !seen.has(id));
    barren = fresh.length === 0 ? barren + 1 : 0;
    for (const message of fresh) {
      seen.add(message.id);
      yield message;
    }
  }
}

/** Long enough to leaf through a queue, short enough that nobody misses what was looked at. */
const peekSeconds = 1;

/** Looks at up to `maximum` messages. Each is hidden from others for a second; nothing else changes in a DLQ. */
export async function peek(queue: OperatorQueue, maximum: number): Promise<QueueMessage[]> {
  const messages: QueueMessage[] = [];
  for await (const message of messagesOf(queue, peekSeconds, maximum)) messages.push(message);
  return messages;
}
