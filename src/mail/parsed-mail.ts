import type { mailOutcomes } from '../db/schema/lead-mails.ts';

export type MailOutcome = (typeof mailOutcomes)[number];

/** Why a mail did not become a lead. Codes, shown in logs, queries and `ops mail test`. */
export const mailReasons = [
  'auto_reply',
  'bounce',
  'booking_cancelled',
  'no_text',
  'tnef_only',
  'digest',
  'quoted_only',
  'unparsed',
  'no_contact',
  'too_many_parts',
  'unreadable',
  'attempts_exhausted',
] as const;
export type MailReason = (typeof mailReasons)[number];

/** Which header named an address, in the order in which the store look-up tries them. */
type RecipientSource =
  | 'delivered-to'
  | 'x-forwarded-to'
  | 'x-original-to'
  | 'to'
  | 'cc'
  | 'forwarded-original';

export interface Recipient {
  source: RecipientSource;
  /** Trimmed and lower-cased, without display name. */
  address: string;
  /** `ID` of `lead-tracking+{ID}@…`, as written. */
  trackingId?: string;
}

/** What a lead format found. A field that is absent was not in the mail; none is ever an empty string. */
export interface LeadFields {
  leadType?: string;
  firstName?: string;
  lastName?: string;
  /** Lower-cased address. */
  email?: string;
  /** E.164, and valid by libphonenumber. */
  phone?: string;
  /** As written, kept when `phone` could not be read from it. */
  phoneRaw?: string;
  phoneExtension?: string;
  /** 'YYYY-MM-DD'. */
  bookedDate?: string;
  /** 'HH:mm', 24 hours, the store's local time. */
  bookedTime?: string;
  source?: string;
}

/** Addresses where the forward has them, else names. */
export interface ForwardedOriginal {
  from?: string;
  to?: string;
  /** As written: localized. */
  date?: string;
}

/** One mail, read. Everything in it is free of NUL and lone surrogates. */
export interface ParsedMail {
  outcome: MailOutcome;
  reason?: MailReason;
  /** Name of the format that matched, such as `labelled-text`, `adf`, `html-table`. */
  format?: string;
  /** From the mail alone: SHA-256 in hex. */
  mailKey: string;
  messageId?: string;
  subject?: string;
  /** Address of From, lower-cased. */
  from?: string;
  /** Address of Reply-To where it differs from From and is none of ours, lower-cased. */
  replyTo?: string;
  /** In look-up order, without doubles. */
  recipients: Recipient[];
  fields: LeadFields;
  forwarded?: ForwardedOriginal;
  /** The text that the fields were read from (HTML rendered as text). */
  text: string;
  /** The Date header as written: kept, never used as a time. */
  rawDate?: string;
}
