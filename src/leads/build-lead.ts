import type { ParsedMail } from '../mail/parsed-mail.ts';
import type { LeadInput } from './lead.ts';
import { leadId } from './lead-id.ts';
import { cutToBytes, rawBodyLimitBytes } from './raw-body.ts';
import { isStoreNumber, parseBrandFromFranchise } from './store.ts';
import type { StoreMatch } from './store-directory.ts';

/**
 * The lead that a parsed mail tells of. Every value is from the mail, from the store or fixed.
 *
 * lead_email is the address in the body, else Reply-To where it differs from From, else From (a site's own
 * sender, when the form told nothing else).
 *
 * @param receivedAt the mail's INTERNALDATE
 */
export function buildLead(parsed: ParsedMail, receivedAt: Date, match: StoreMatch | undefined): LeadInput {
  const { fields, recipients, forwarded } = parsed;
  const leadEmail = (fields.email ?? parsed.replyTo ?? parsed.from ?? '').trim().toLowerCase();
  const phone = fields.phone && !(match && isStoreNumber(match.store, fields.phone)) ? fields.phone : null;
  const recipient = match?.recipient ?? recipients.find(({ source }) => source === 'to') ?? recipients[0];
  const body = cutToBytes(parsed.text, rawBodyLimitBytes);
  const complete = phone !== null && (fields.email ?? parsed.replyTo) !== undefined;
  return {
    id: leadId({ leadEmail, phone, receivedAt }),
    leadEmail,
    leadType: fields.leadType ?? 'Unknown',
    firstName: fields.firstName ?? null,
    lastName: fields.lastName ?? null,
    phone,
    bookedDate: fields.bookedDate ?? null,
    bookedTime: fields.bookedTime ?? null,
    emailSubject: parsed.subject ?? null,
    emailFrom: parsed.from ?? null,
    emailRecipient: recipient?.address ?? null,
    extractedTrackingId: recipient?.trackingId ?? null,
    franchiseId: match ? parseBrandFromFranchise(match.store.franchise) : null,
    accountId: match?.store.providerAccountId ?? null,
    storeId: match?.store.storeId ?? null,
    rawBody: body.text,
    rawBodyTruncated: body.truncated,
    isForwarded: forwarded !== undefined,
    forwardedOriginalFrom: forwarded?.from ?? null,
    forwardedOriginalTo: forwarded?.to ?? null,
    forwardedOriginalDate: forwarded?.date ?? null,
    processedBy: 'imap-poller',
    receivedAt,
    parseStatus: match ? (complete ? 'parsed' : 'partial') : 'unmapped',
  };
}
