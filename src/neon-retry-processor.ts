import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { createStageDatabase } from './db/stage-database.ts';
import { retryMessageSchema } from './leads/retry-message.ts';
import {
  RetryStageError,
  type StoreAndPublishDependencies,
  storeAndPublish,
} from './leads/store-and-publish.ts';
import { createStoring } from './leads/storing.ts';
import { systemClock } from './platform/clock.ts';
import { readEnvironment } from './platform/environment.ts';
import { errorCode } from './platform/errors.ts';
import { createEventBus } from './platform/events.ts';
import { lazyService } from './platform/lazy-service.ts';
import { logEvents } from './platform/log-events.ts';
import { createLog } from './platform/logger.ts';
import { InvalidMessageError, parseMessage } from './platform/message.ts';
import { createMeter } from './platform/metrics.ts';
import { createParameters } from './platform/parameters.ts';
import { createQueue, type Queue } from './platform/queue.ts';
import { scheduleRedelivery } from './platform/redelivery.ts';
import { processBatch, receiveCount } from './platform/sqs-batch.ts';
import { createStateTable } from './platform/state-table.ts';

/** Three receives at the queue's 120 s cover six minutes, and an outage is longer: 10 minutes, then an hour. */
const redeliverySeconds = [600, 3_600];
/** The limit of each Neon operation of a record. */
const neonLimitMs = 6_000;

export interface RetryProcessor extends StoreAndPublishDependencies {
  queue: Queue;
}

const service = lazyService(async (): Promise<RetryProcessor> => {
  const env = readEnvironment('neon-retry-processor');
  const log = createLog();
  const meter = createMeter();
  const storing = {
    stage: env.STAGE,
    neon: createStageDatabase(createParameters(), env.NEON_URL_PARAMETER),
    state: createStateTable(env.STATE_TABLE_NAME),
    bus: createEventBus(env.EVENT_BUS_NAME),
    clock: systemClock,
    log,
    meter,
  };
  return { ...createStoring(storing, neonLimitMs), queue: createQueue(env.NEON_WRITE_QUEUE_URL) };
});

/** neon-write-dlq, batch size 5 with partial responses. */
export async function handler(event: SQSEvent): Promise<SQSBatchResponse> {
  return processMessages(await service(), event);
}

/** Runs the records in parallel, and answers which of them SQS has to keep. */
export async function processMessages(processor: RetryProcessor, event: SQSEvent): Promise<SQSBatchResponse> {
  const { meter } = processor;
  // Alarms need the zeros too.
  meter.count('RetryNeonFailed', 0);
  meter.count('RetryEventBridgeFailed', 0);
  try {
    return await processBatch(event, (record) => processRecord(processor, record));
  } finally {
    meter.flush();
  }
}

/** One message. Whatever it throws keeps the message. */
async function processRecord(processor: RetryProcessor, record: SQSRecord): Promise<void> {
  const { log, meter } = processor;
  const message = { message_id: record.messageId, receive_count: receiveCount(record) };
  const { mail, lead } = readMessage(processor, record);
  try {
    const outcome = await storeAndPublish(processor, { mail, lead });
    log.info(logEvents.retrySucceeded, { ...message, mail_key: mail.mailKey, publish: outcome });
  } catch (error) {
    const stage = error instanceof RetryStageError ? error.stage : undefined;
    if (stage) meter.count(stage === 'neon' ? 'RetryNeonFailed' : 'RetryEventBridgeFailed');
    log.error(logEvents.retryStageFailed, {
      ...message,
      mail_key: mail.mailKey,
      stage,
      error_code: errorCode(error),
    });
    await scheduleRedelivery(processor, record, redeliverySeconds);
    throw error;
  }
}

/** Waiting doesn't mend a message that is not one: it keeps the queue's own time-out on its way to the final DLQ. */
function readMessage({ log }: RetryProcessor, record: SQSRecord) {
  try {
    return parseMessage(retryMessageSchema, record.body);
  } catch (error) {
    const fields = error instanceof InvalidMessageError ? error.fields : [];
    log.error(logEvents.messageInvalid, {
      message_id: record.messageId,
      receive_count: receiveCount(record),
      fields,
    });
    throw error;
  }
}
