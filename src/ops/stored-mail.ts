import type { LeadMailRow, LeadRow } from '../db/schema/index.ts';

/**
 * A mail made of what the database holds of it: the text that its fields were read from, and the headers that
 * matter. Only the mail that made the lead has its text stored.
 *
 * @returns the source, or `undefined` when the lead's text is another mail's
 */
export function storedMailSource(mail: LeadMailRow, lead: LeadRow | null): Buffer | undefined {
  if (!lead || lead.receivedAt.getTime() !== mail.receivedAt.getTime()) return undefined;
  const { emailFrom, emailRecipient, emailSubject, leadEmail, rawBody } = lead;
  const { messageId } = mail.parsed;
  const headers: [string, string | null][] = [
    ['From', emailFrom],
    // Where the body named no address, the lead's is the one that answers went to.
    ['Reply-To', leadEmail === emailFrom ? null : leadEmail],
    ['To', recipientHeader(emailRecipient, lead.extractedTrackingId)],
    ['Subject', emailSubject && encodedWord(emailSubject)],
    ['Message-ID', typeof messageId === 'string' ? messageId : null],
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['Content-Transfer-Encoding', 'base64'],
  ];
  const lines = headers.flatMap(([name, value]) => (value ? [`${name}: ${value}`] : []));
  const body = Buffer.from(rawBody).toString('base64').replace(/.{76}/g, '$&\r\n');
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}\r\n`);
}

/** The stored address is lower-cased, its tag is stored as it was written. */
function recipientHeader(address: string | null, trackingId: string | null): string | null {
  return address && trackingId ? address.replace(/\+[^@]*@/, () => `+${trackingId}@`) : address;
}

function encodedWord(text: string): string {
  return `=?utf-8?B?${Buffer.from(text).toString('base64')}?=`;
}
