import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import {
  type ContactHours,
  parseQuietHours,
  parseTimeZone,
  resolveContactHours,
} from './contacts/contact-hours.ts';
import { type RecordedLead, recordLead } from './contacts/record-lead.ts';
import { createStageDatabase, type StageDatabase } from './db/stage-database.ts';
import { type LeadCreated, leadCreatedEnvelopeSchema } from './leads/lead-created.ts';
import { createStoreDirectory, type StoreDirectory } from './leads/store-directory.ts';
import { createStoresTable } from './leads/stores-table.ts';
import { type Clock, systemClock } from './platform/clock.ts';
import { readEnvironment } from './platform/environment.ts';
import { errorCode } from './platform/errors.ts';
import { lazyService } from './platform/lazy-service.ts';
import { logEvents } from './platform/log-events.ts';
import { createLog, type Log } from './platform/logger.ts';
import { InvalidMessageError, parseMessage } from './platform/message.ts';
import { createMeter, type Meter } from './platform/metrics.ts';
import { createParameters } from './platform/parameters.ts';
import { createQueue, type Queue } from './platform/queue.ts';
import { scheduleRedelivery } from './platform/redelivery.ts';
import { receiveCount } from './platform/sqs-batch.ts';

/** The queue's visibility time-out of 300 s would be the whole golden window. */
const redeliverySeconds = [15, 120];
/** Kept back from the invocation's time for the visibility change and the last log lines. */
const wrapUpMs = 2_000;

export interface LeadProcessor {
  neon: StageDatabase;
  directory: Pick<StoreDirectory, 'findById'>;
  queue: Queue;
  defaultHours: ContactHours;
  clock: Clock;
  log: Log;
  meter: Meter;
}

const service = lazyService(async (): Promise<LeadProcessor> => {
  const env = readEnvironment('lead-processor');
  const log = createLog();
  return {
    neon: createStageDatabase(createParameters(), env.NEON_URL_PARAMETER),
    directory: createStoreDirectory(
      createStoresTable(env.STORES_TABLE_NAME, env.STORES_TABLE_REGION),
      systemClock,
      log,
    ),
    queue: createQueue(env.LEAD_PROCESSOR_QUEUE_URL),
    defaultHours: {
      timeZone: parseTimeZone(env.DEFAULT_TIME_ZONE),
      quietHours: parseQuietHours(env.QUIET_HOURS),
    },
    clock: systemClock,
    log,
    meter: createMeter(),
  };
});

/** lead-processor-queue, batch size 1. */
export async function handler(event: SQSEvent, context: Context): Promise<void> {
  const processor = await service();
  const deadline = new Date(Date.now() + context.getRemainingTimeInMillis() - wrapUpMs);
  await processMessages(processor, event, deadline);
}

/**
 * Contact, task and timeline of each LeadCreated. A failure throws, so that SQS counts the receive.
 *
 * @param deadline until then a transient failure is retried in process
 */
export async function processMessages(
  processor: LeadProcessor,
  event: SQSEvent,
  deadline: Date,
): Promise<void> {
  try {
    for (const record of event.Records) await processRecord(processor, record, deadline);
  } finally {
    processor.meter.flush();
  }
}

async function processRecord(processor: LeadProcessor, record: SQSRecord, deadline: Date): Promise<void> {
  const { log, meter } = processor;
  const message = { message_id: record.messageId, receive_count: receiveCount(record) };
  let lead: LeadCreated | undefined;
  try {
    lead = parseMessage(leadCreatedEnvelopeSchema, record.body).detail;
    const recorded = await writeLead(processor, lead, deadline);
    meter.count('LeadProcessed');
    log.info(logEvents.leadProcessed, {
      ...message,
      mail_key: lead.mailKey,
      store_id: lead.storeId,
      repeat: lead.repeat,
      task_created: recorded.taskCreated,
      timeline_rows: recorded.timelineRows,
    });
  } catch (error) {
    meter.count('LeadProcessed', 0);
    if (error instanceof InvalidMessageError) {
      log.error(logEvents.messageInvalid, { ...message, fields: error.fields });
    } else {
      log.error(logEvents.leadProcessingFailed, {
        ...message,
        mail_key: lead?.mailKey,
        store_id: lead?.storeId,
        error_code: errorCode(error),
      });
    }
    await scheduleRedelivery(processor, record, redeliverySeconds);
    throw error;
  }
}

async function writeLead(processor: LeadProcessor, lead: LeadCreated, deadline: Date): Promise<RecordedLead> {
  const hours = await findContactHours(processor, lead.storeId);
  const now = processor.clock.now();
  return processor.neon.run((db) => recordLead(db, lead, now, hours), deadline);
}

/** The store's hours. Without StoresV2 the default hours: a task with a rough due time is better than none. */
async function findContactHours(
  { directory, defaultHours, log, meter }: LeadProcessor,
  storeId: string,
): Promise<ContactHours> {
  try {
    const store = await directory.findById(storeId);
    const { hours, invalidFields } = resolveContactHours(store, defaultHours);
    if (invalidFields.length > 0) {
      meter.count('StoreInvalidSetting');
      log.warn(logEvents.storeInvalidSetting, { store_id: storeId, fields: invalidFields });
    }
    return hours;
  } catch (error) {
    log.error(logEvents.storesUnavailable, { store_id: storeId, error_code: errorCode(error) });
    return defaultHours;
  }
}
