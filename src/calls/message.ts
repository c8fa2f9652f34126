import type { SQSRecord } from 'aws-lambda';
import * as z from 'zod';
import { parseMessage } from '../platform/message.ts';
import type { Queue } from '../platform/queue.ts';
import { type TelephonyEvent, telephonyEventSchema } from '../ringcentral/telephony-event.ts';

interface Work {
  accountId: string;
  telephonySessionId: string;
  /** How many 429s this message has come through. */
  redriveCount: number;
}
/** What a webhook told: lifecycle, and at a Disconnected the call log. */
export type TelephonyWork = Work & { kind: 'telephony'; event: TelephonyEvent };
/** A session whose `calls` row says what its next step is. */
export type SessionWork = Work & { kind: 'session' };
export type CallWork = TelephonyWork | SessionWork;

/** Amazon Transcribe has finished one of our jobs. */
export interface TranscriptionWork {
  kind: 'transcription';
  jobName: string;
  jobStatus: 'COMPLETED' | 'FAILED';
}

const frame = {
  version: z.literal(1),
  accountId: z.string().regex(/^\d+$/),
  telephonySessionId: z.string().min(1),
  redriveCount: z.int().nonnegative(),
  /** When it was sent. */
  sentAt: z.iso.datetime({ offset: true }),
};

/** A message of transcribe-queue that this app sends. */
const callMessageSchema = z.discriminatedUnion('kind', [
  z.object({ ...frame, kind: z.literal('telephony'), event: telephonyEventSchema }),
  z.object({ ...frame, kind: z.literal('session') }),
]);

/** EventBridge's envelope, which comes to the same queue as it is. */
const transcriptionEnvelopeSchema = z
  .object({
    source: z.literal('aws.transcribe'),
    'detail-type': z.literal('Transcribe Job State Change'),
    detail: z.object({
      TranscriptionJobName: z.string().min(1),
      TranscriptionJobStatus: z.enum(['COMPLETED', 'FAILED']),
    }),
  })
  .transform(
    ({ detail }): TranscriptionWork => ({
      kind: 'transcription',
      jobName: detail.TranscriptionJobName,
      jobStatus: detail.TranscriptionJobStatus,
    }),
  );

const redrivenByPersonMs = 60_000;

/**
 * Sends work to transcribe-queue, with the time of sending. Without a delay the queue's own applies (300 s).
 *
 * @throws the queue's errors; ZodError when the work isn't what the queue carries
 */
export async function sendCallWork(
  queue: Pick<Queue, 'send'>,
  work: CallWork,
  { now, delaySeconds }: { now: Date; delaySeconds: number },
): Promise<void> {
  const message = callMessageSchema.parse({ version: 1, ...work, sentAt: now.toISOString() });
  await queue.send(message, { delaySeconds });
}

/**
 * Reads a message of transcribe-queue. Its `redriveCount` is the one of its present life: see `redrivesSoFar`.
 *
 * @throws InvalidMessageError
 */
export function readWork({ body, attributes }: SQSRecord): CallWork | TranscriptionWork {
  if (parseMessage(z.looseObject({}), body)['detail-type'] !== undefined) {
    return parseMessage(transcriptionEnvelopeSchema, body);
  }
  const { version: _, sentAt, ...work } = parseMessage(callMessageSchema, body);
  const acceptedAt = new Date(Number(attributes.SentTimestamp));
  return {
    ...work,
    redriveCount: redrivesSoFar({ redriveCount: work.redriveCount, sentAt: new Date(sentAt), acceptedAt }),
  };
}

/**
 * The redrives of a message's present life. One that SQS took over 60 s after we sent it was moved from the
 * dead-letter queue by a person, and begins anew. (A delay doesn't show here: it begins when SQS has taken it.)
 *
 * @param acceptedAt SQS's SentTimestamp
 */
export function redrivesSoFar({
  redriveCount,
  sentAt,
  acceptedAt,
}: {
  redriveCount: number;
  sentAt: Date;
  acceptedAt: Date;
}): number {
  return acceptedAt.getTime() - sentAt.getTime() > redrivenByPersonMs ? 0 : redriveCount;
}
