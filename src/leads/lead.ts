import * as z from 'zod';
import { mailOutcomes } from '../db/schema/lead-mails.ts';
import { parseStatuses } from '../db/schema/leads.ts';

const text = z.string().nullable();
/** An ISO instant in a message, a Date in the code. */
const instant = z.iso.datetime({ offset: true }).transform((value) => new Date(value));

/**
 * A lead as one mail tells it, before the database decided under which id it lives: `id` is the seed's key
 * (src/leads/lead-id.ts), `persistLeadPipeline` resolves collisions.
 */
export const leadInputSchema = z.object({
  id: z.string().min(1),
  /** Empty when the mail named no address at all. */
  leadEmail: z.string(),
  leadType: z.string().min(1),
  firstName: text,
  lastName: text,
  phone: z.string().startsWith('+').nullable(),
  bookedDate: z.iso.date().nullable(),
  bookedTime: z
    .string()
    .regex(/^\d\d:\d\d$/)
    .nullable(),
  emailSubject: text,
  emailFrom: text,
  emailRecipient: text,
  extractedTrackingId: text,
  franchiseId: text,
  accountId: text,
  storeId: z.guid().nullable(),
  rawBody: z.string(),
  rawBodyTruncated: z.boolean(),
  isForwarded: z.boolean(),
  forwardedOriginalFrom: text,
  forwardedOriginalTo: text,
  forwardedOriginalDate: text,
  processedBy: z.literal('imap-poller'),
  receivedAt: instant,
  parseStatus: z.enum(parseStatuses),
});
export type LeadInput = z.output<typeof leadInputSchema>;

/** A mail's line in the ledger, as the poller knows it. */
export const ledgerMailSchema = z.object({
  mailKey: z.string().regex(/^[0-9a-f]{64}$/),
  mailbox: z.string().min(1),
  uidValidity: z.number().int().nonnegative(),
  uid: z.number().int().positive(),
  outcome: z.enum(mailOutcomes),
  reason: text,
  parsed: z.record(z.string(), z.unknown()),
  receivedAt: instant,
});
export type LedgerMail = z.output<typeof ledgerMailSchema>;
