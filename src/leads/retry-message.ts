import * as z from 'zod';
import { leadInputSchema, ledgerMailSchema } from './lead.ts';
import type { MailRecord } from './persist.ts';
import { cutToBytes } from './raw-body.ts';

/** Where a mail's way broke off. */
const retryStages = ['neon', 'eventbridge'] as const;
export type RetryStage = (typeof retryStages)[number];

/** SQS takes 1 MiB (API_SendMessage); the rest is left for the message's attributes. */
const retryMessageLimitBytes = 900 * 1024;

/** What a text besides the body may take once a message is too large, in bytes. */
const textLimitBytes = 1024;
const parsedFieldsLimit = 64;

const errorCodePattern = /^[\w.:-]{1,128}$/;

/** A message of neon-write-dlq: all that it takes to store a mail and publish its event. */
export const retryMessageSchema = z.object({
  version: z.literal(1),
  /** Information only: the processor runs every stage, each of which may be repeated. */
  stage: z.enum(retryStages),
  failedAt: z.iso.datetime({ offset: true }).transform((value) => new Date(value)),
  /** A code, never a message: an error's message may hold personal data. */
  error: z.string().regex(errorCodePattern),
  /** Null for a mail that tells of no lead: its line in the ledger failed. */
  lead: leadInputSchema.nullable(),
  mail: ledgerMailSchema,
});
export type RetryMessage = z.output<typeof retryMessageSchema>;

/**
 * The message for a mail that could not be stored or published. It stays under 900 KiB as JSON: a message
 * that SQS refuses is a lead lost. What is cut is cut from texts that only people read: the mailbox has them.
 *
 * @param error an error code; anything that doesn't look like one becomes 'unknown'
 */
export function buildRetryMessage({
  stage,
  failedAt,
  error,
  lead,
  mail,
}: MailRecord & { stage: RetryStage; failedAt: Date; error: string }): RetryMessage {
  const message: RetryMessage = {
    version: 1,
    stage,
    failedAt,
    error: errorCodePattern.test(error) ? error : 'unknown',
    lead,
    mail,
  };
  return excessBytes(message) > 0 ? shorten(message) : message;
}

/** Everything but the body first, so that the body keeps what room there is. */
function shorten(message: RetryMessage): RetryMessage {
  const { lead, mail } = message;
  const short = {
    ...message,
    lead: lead && shortenTexts(lead),
    mail: { ...mail, parsed: shortenParsed(mail.parsed) },
  };
  const excess = excessBytes(short);
  if (!short.lead || excess <= 0) return short;
  // A byte of text is at least one byte of JSON: cutting the excess is always enough.
  const { text } = cutToBytes(
    short.lead.rawBody,
    Math.max(0, Buffer.byteLength(short.lead.rawBody) - excess),
  );
  return { ...short, lead: { ...short.lead, rawBody: text, rawBodyTruncated: true } };
}

const readableTexts = [
  'firstName',
  'lastName',
  'emailSubject',
  'emailFrom',
  'emailRecipient',
  'extractedTrackingId',
  'forwardedOriginalFrom',
  'forwardedOriginalTo',
  'forwardedOriginalDate',
] as const;

function shortenTexts(lead: NonNullable<RetryMessage['lead']>): NonNullable<RetryMessage['lead']> {
  const short = { ...lead, leadType: cutToBytes(lead.leadType, textLimitBytes).text };
  for (const field of readableTexts) {
    const text = short[field];
    if (text !== null) short[field] = cutToBytes(text, textLimitBytes).text;
  }
  return short;
}

/** Keeps the small values: those are the lead's fields. */
function shortenParsed(parsed: Record<string, unknown>): Record<string, unknown> {
  const small = Object.entries(parsed).filter((entry) => jsonBytes(entry) <= textLimitBytes);
  return { ...Object.fromEntries(small.slice(0, parsedFieldsLimit)), truncated: true };
}

const jsonBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
/** Under the limit, not at it. */
const excessBytes = (message: RetryMessage) => jsonBytes(message) - (retryMessageLimitBytes - 1);
