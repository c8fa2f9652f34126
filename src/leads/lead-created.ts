import * as z from 'zod';
import { parseStatuses } from '../db/schema/leads.ts';
import type { PersistedMail } from './persist.ts';

export const leadCreatedSource = 'lead-tracking';
export const leadCreatedDetailType = 'LeadCreated';

const text = z.string().nullable();
const instant = z.iso.datetime({ offset: true }).transform((value) => new Date(value));

/**
 * LeadCreated's detail: the stored lead row without raw_body, and which mail the event is about. Only what
 * contact, task and timeline need is required; the rest is what audits and other consumers read.
 */
const leadCreatedSchema = z.object({
  id: z.string().min(1),
  leadType: z.string().min(1),
  firstName: text,
  lastName: text,
  phone: z.string().startsWith('+'),
  franchiseId: z.string().min(1),
  accountId: z.string().min(1),
  storeId: z.guid(),
  leadEmail: z.string(),
  bookedDate: text,
  bookedTime: text,
  emailSubject: text,
  emailFrom: text,
  emailRecipient: text,
  extractedTrackingId: text,
  rawBodyTruncated: z.boolean(),
  isForwarded: z.boolean(),
  forwardedOriginalFrom: text,
  forwardedOriginalTo: text,
  forwardedOriginalDate: text,
  processedBy: z.string(),
  receivedAt: instant,
  lastMailAt: instant,
  parseStatus: z.enum(parseStatuses),
  syncedAt: instant,
  stage: z.string().min(1),
  mailKey: z.string().min(1),
  /** Another mail of this lead was there before. */
  repeat: z.boolean(),
  mailReceivedAt: instant,
});
/** The event as the lead processor reads it. */
export type LeadCreated = z.output<typeof leadCreatedSchema>;
/** The event as it travels: instants are ISO strings. */
export type LeadCreatedDetail = z.input<typeof leadCreatedSchema>;

/** The EventBridge envelope, as the rule's target queue delivers it. */
export const leadCreatedEnvelopeSchema = z.object({
  source: z.literal(leadCreatedSource),
  'detail-type': z.literal(leadCreatedDetailType),
  detail: leadCreatedSchema,
});

/** What must be known before anybody can call the lead back; in the order in which logs name them. */
const publishGuardFields = ['phone', 'franchiseId', 'accountId', 'storeId'] as const;

/** The guard fields that the stored lead lacks: empty means it may be published. */
export function missingGuardFields(
  lead: Record<(typeof publishGuardFields)[number], string | null>,
): string[] {
  return publishGuardFields.filter((field) => !lead[field]);
}

/**
 * The one place that builds LeadCreated, for poller, retry processor, outbox and replay alike.
 *
 * @returns the detail, or the guard fields that the lead lacks.
 */
export function buildLeadCreated(
  { lead, mail }: { lead: NonNullable<PersistedMail['lead']>; mail: PersistedMail['mail'] },
  stage: string,
): { detail: LeadCreatedDetail } | { missing: string[] } {
  const { rawBody: _archivedInMailbox, phone, franchiseId, accountId, storeId, ...rest } = lead;
  if (!phone || !franchiseId || !accountId || !storeId) return { missing: missingGuardFields(lead) };
  const detail = {
    ...rest,
    phone,
    franchiseId,
    accountId,
    storeId,
    receivedAt: lead.receivedAt.toISOString(),
    lastMailAt: lead.lastMailAt.toISOString(),
    syncedAt: lead.syncedAt.toISOString(),
    stage,
    mailKey: mail.mailKey,
    repeat: mail.repeat,
    mailReceivedAt: mail.receivedAt.toISOString(),
  };
  return { detail };
}
