import type { AddressObject, EmailAddress, HeaderLines, ParsedMail as Mail } from 'mailparser';
import { cleanLine } from './clean-text.ts';
import { readEmail } from './fields/email.ts';
import type { Recipient } from './parsed-mail.ts';

const tracking = /^lead-tracking\+([^@]+)@/i;
/** A header names a few recipients; thousands are a mailing list whose members are no stores. */
const maxRecipients = 100;

/**
 * Addresses in look-up order: topmost Delivered-To, X-Forwarded-To and X-Original-To (lower ones are written by
 * whoever sent the mail), To, Cc, then those of the forwarded original. Display names never count.
 */
export function readRecipients(
  mail: Pick<Mail, 'headerLines' | 'to' | 'cc'>,
  original: readonly string[],
): Recipient[] {
  const named: [Recipient['source'], string[]][] = [
    ['delivered-to', topmost(mail.headerLines, 'delivered-to')],
    ['x-forwarded-to', topmost(mail.headerLines, 'x-forwarded-to')],
    ['x-original-to', topmost(mail.headerLines, 'x-original-to')],
    ['to', addressesOf(mail.to)],
    ['cc', addressesOf(mail.cc)],
    ['forwarded-original', [...original]],
  ];
  const recipients = new Map<string, Recipient>();
  for (const [source, addresses] of named) {
    for (const recipient of addresses
      .slice(0, maxRecipients)
      .map((address) => recipientOf(source, address))) {
      if (!recipients.has(recipient.address)) recipients.set(recipient.address, recipient);
    }
  }
  return [...recipients.values()];
}

/** A recipient with the tag of `lead-tracking+{ID}@…` as it is written. */
export function recipientOf(source: Recipient['source'], address: string): Recipient {
  // Some put the address in quotes.
  const written = cleanLine(address).replace(/^'(.+)'$/, '$1');
  const trackingId = tracking.exec(written)?.[1];
  return { source, address: written.toLowerCase(), ...(trackingId && { trackingId }) };
}

/**
 * Addresses at which the mail reached us: those of the delivery headers and tracking addresses; without either,
 * To. A form may write to its visitor too, so not every recipient is ours.
 */
export function ownAddresses(recipients: readonly Recipient[]): Set<string> {
  const sure = recipients.filter(
    ({ source, trackingId }) => trackingId !== undefined || deliverySources.has(source),
  );
  const own = sure.length > 0 ? sure : recipients.filter(({ source }) => source === 'to');
  return new Set(own.map(({ address }) => address));
}

const deliverySources = new Set<Recipient['source']>(['delivered-to', 'x-forwarded-to', 'x-original-to']);

/** Addresses of an address header, in any of the shapes that mailparser gives it; members of groups included. */
export function addressesOf(header: AddressObject | AddressObject[] | undefined): string[] {
  const objects = Array.isArray(header) ? header : header ? [header] : [];
  return objects.flatMap(({ value }) => value).flatMap(flatten);
}

function flatten({ address, group }: EmailAddress): string[] {
  if (group) return group.flatMap(flatten);
  const cleaned = cleanLine(address ?? '');
  return cleaned.includes('@') && cleaned.length <= 320 ? [cleaned] : [];
}

/** The first line of that name holds one address, or several parted by commas or blanks. */
function topmost(lines: HeaderLines, key: string): string[] {
  const line = lines.find((header) => header.key === key)?.line ?? '';
  const value = cleanLine(line.slice(line.indexOf(':') + 1, 2000));
  return value
    .replace(/"[^"]*"/g, ' ')
    .split(/[\s,;<>]+/)
    .filter((word) => readEmail(word) !== undefined);
}
