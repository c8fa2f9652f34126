import type { CountryCode } from 'libphonenumber-js/max';
import type { LeadFields } from '../parsed-mail.ts';

/** One body of a mail as a format sees it: already decoded, cleaned, and (HTML) rendered as lines. */
export interface LeadMail {
  kind: 'text' | 'html' | 'attachment';
  subject: string;
  from: string;
  fromName: string;
  /** Reply-To where it differs from From, of a mail that is no forward; else empty. */
  replyTo: string;
  /** Addresses at which the mail reached us. */
  own: ReadonlySet<string>;
  lines: readonly string[];
  /** The body as it was sent: HTML or XML with its tags. */
  markup: string;
  /** Country of phone numbers without a country code. */
  country: CountryCode;
}

/** A digest names several people: no field of it may be used, since they could be mixed. */
export type Reading =
  | { kind: 'lead'; fields: LeadFields /** A status field calls the booking off. */; cancelled?: boolean }
  | { kind: 'digest' };

/** Reads its own layout; `undefined` when the mail has another one. */
export type ReadLead = (mail: LeadMail) => Reading | undefined;

export interface LeadFormat {
  name: string;
  read: ReadLead;
}
