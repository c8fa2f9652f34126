import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { buildCallService } from './calls/call-service.ts';
import { type CallWork, readWork, type TranscriptionWork } from './calls/message.ts';
import { park } from './calls/parking.ts';
import {
  type Delivery,
  type ProcessCallDependencies,
  processSession,
  processTelephony,
} from './calls/process-call.ts';
import { type RedriveDependencies, redrive } from './calls/redrive.ts';
import type { StepResult } from './calls/step.ts';
import { completeTranscription } from './calls/transcription.ts';
import { readEnvironment } from './platform/environment.ts';
import { errorCode } from './platform/errors.ts';
import { lazyService } from './platform/lazy-service.ts';
import { logEvents } from './platform/log-events.ts';
import { InvalidMessageError } from './platform/message.ts';
import type { Queue } from './platform/queue.ts';
import { scheduleRedelivery } from './platform/redelivery.ts';
import { processBatch, receiveCount } from './platform/sqs-batch.ts';
import type { StateTable } from './platform/state-table.ts';

/** Receives after a failure that says nothing of time; the last one leaves it to the queue (720 s). */
const redeliverySeconds = [60, 900];
/** Kept back from the invocation's time for the visibility change and the last log lines. */
const wrapUpMs = 5_000;

export interface TranscribeProcessor extends ProcessCallDependencies, RedriveDependencies {
  queue: Queue;
  state: StateTable;
}

/** What became of a message, when it may be deleted. */
type End = 'done' | 'parked' | 'redriven';

/** Keeps the message. The reason is in the log already. */
class KeepMessage extends Error {
  override name = 'KeepMessage';
}

const service = lazyService(
  async (): Promise<TranscribeProcessor> => buildCallService(readEnvironment('transcribe-processor')),
);

/** transcribe-queue, batch size 1 with partial responses. */
export async function handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  const processor = await service();
  const deadline = new Date(Date.now() + context.getRemainingTimeInMillis() - wrapUpMs);
  return processMessages(processor, event, deadline);
}

/** Each message to its end: deleted when its work is stored, parked or cloned; else SQS receives it again. */
export async function processMessages(
  processor: TranscribeProcessor,
  event: SQSEvent,
  deadline: Date,
): Promise<SQSBatchResponse> {
  try {
    return await processBatch(event, (record) => processRecord(processor, record, deadline));
  } finally {
    // Its alarm adds up two functions, and needs a value of each.
    processor.meter.count('RingCentralLoginRefused', 0);
    processor.meter.flush();
  }
}

async function processRecord(
  processor: TranscribeProcessor,
  record: SQSRecord,
  deadline: Date,
): Promise<void> {
  const { log, meter } = processor;
  const message = { message_id: record.messageId, receive_count: receiveCount(record) };
  let ids: Record<string, string | number> = {};
  try {
    const work = readWork(record);
    ids = idsOf(work);
    const result = await run(processor, work, deliveryOf(record), deadline);
    const outcome = await conclude(processor, record, work, result, deadline);
    meter.count('CallProcessed');
    log.info(logEvents.callProcessed, { ...message, ...ids, outcome });
  } catch (error) {
    meter.count('CallProcessed', 0);
    if (error instanceof InvalidMessageError) {
      log.error(logEvents.messageInvalid, { ...message, fields: error.fields });
    } else if (!(error instanceof KeepMessage)) {
      log.error(logEvents.callProcessingFailed, { ...message, ...ids, error_code: errorCode(error) });
      await scheduleRedelivery(processor, record, redeliverySeconds);
    }
    throw error;
  }
}

function run(
  processor: TranscribeProcessor,
  work: CallWork | TranscriptionWork,
  delivery: Delivery,
  deadline: Date,
): Promise<StepResult> {
  switch (work.kind) {
    case 'telephony':
      return processTelephony(processor, work, delivery, deadline);
    case 'session':
      return processSession(processor, work, delivery, deadline);
    case 'transcription':
      return completeTranscription(processor, work, deadline);
  }
}

/** The one place that decides over the message. */
async function conclude(
  processor: TranscribeProcessor,
  record: SQSRecord,
  work: CallWork | TranscriptionWork,
  result: StepResult,
  deadline: Date,
): Promise<End> {
  if (result.kind === 'done') return 'done';
  if (work.kind !== 'transcription') {
    const { accountId, telephonySessionId } = work;
    if (result.kind === 'park') {
      await park(processor, { accountId, telephonySessionId }, result, deadline);
      return 'parked';
    }
    if (result.kind === 'redrive' && (await redrive(processor, resumable(work, result), result))) {
      return 'redriven';
    }
  }
  const { log } = processor;
  const reason = 'reason' in result ? result.reason : result.kind;
  log.error(logEvents.callProcessingFailed, {
    message_id: record.messageId,
    receive_count: receiveCount(record),
    ...idsOf(work),
    outcome: result.kind,
    reason,
  });
  const known = result.kind === 'retry' ? result.afterSeconds : undefined;
  const delays = known === undefined ? redeliverySeconds : [known, known];
  if (result.kind !== 'redrive') await scheduleRedelivery(processor, record, delays);
  throw new KeepMessage(reason);
}

/** Once the call log is stored, the clone goes on from the row, and never asks for it again. */
function resumable(work: CallWork, { step }: Extract<StepResult, { kind: 'redrive' }>): CallWork {
  if (step === 'call_log' || step === 'extension_call_log') return work;
  const { accountId, telephonySessionId, redriveCount } = work;
  return { kind: 'session', accountId, telephonySessionId, redriveCount };
}

function idsOf(work: CallWork | TranscriptionWork): Record<string, string | number> {
  if (work.kind === 'transcription') return { kind: work.kind, transcription_job: work.jobName };
  const { kind, accountId, telephonySessionId, redriveCount } = work;
  return {
    kind,
    account_id: accountId,
    telephony_session_id: telephonySessionId,
    redrive_count: redriveCount,
  };
}

function deliveryOf(record: SQSRecord): Delivery {
  return {
    receiveCount: receiveCount(record),
    firstReceivedAt: new Date(Number(record.attributes.ApproximateFirstReceiveTimestamp)),
  };
}
