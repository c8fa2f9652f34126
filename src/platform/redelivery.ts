import type { SQSRecord } from 'aws-lambda';
import { errorCode } from './errors.ts';
import { logEvents } from './log-events.ts';
import type { Log } from './logger.ts';
import type { Queue } from './queue.ts';
import { receiveCount } from './sqs-batch.ts';

/**
 * Sets when a record that failed is delivered again: after `delaysSeconds[0]` at its first receive,
 * `delaysSeconds[1]` at its second; after the last of them the queue's own visibility time-out stays.
 * Never rejects: the failure that led here is the one to be told.
 */
export async function scheduleRedelivery(
  { queue, log }: { queue: Queue; log: Log },
  record: SQSRecord,
  delaysSeconds: readonly number[],
): Promise<void> {
  const seconds = delaysSeconds[receiveCount(record) - 1];
  if (seconds === undefined) return;
  await queue.changeVisibility(record.receiptHandle, seconds).catch((error: unknown) => {
    log.warn(logEvents.visibilityFailed, { message_id: record.messageId, error_code: errorCode(error) });
  });
}
