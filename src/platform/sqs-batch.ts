import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';

/** How often this record was received, this time included. */
export function receiveCount(record: SQSRecord): number {
  return Number(record.attributes.ApproximateReceiveCount) || 1;
}

/**
 * Runs `handle` on every record, in parallel, and reports those that threw, so that SQS deletes the others.
 * Own loop instead of Powertools' batch processor: when all records fail, its answer can be empty, which
 * Lambda reads as "all succeeded" (aws-powertools/powertools-lambda-typescript#5624).
 */
export async function processBatch(
  event: SQSEvent,
  handle: (record: SQSRecord) => Promise<void>,
): Promise<SQSBatchResponse> {
  const results = await Promise.allSettled(event.Records.map(async (record) => handle(record)));
  const failed = event.Records.filter((_, index) => results[index]?.status === 'rejected');
  return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
}
