import { unfoldColumnTables } from '../fields/column-tables.ts';
import { pairsOfOnePerson } from '../fields/digest.ts';
import { readEmail } from '../fields/email.ts';
import { readLeadType } from '../fields/lead-type.ts';
import { fieldsFromPairs, tellOfLead, trustedPairs } from '../fields/read-fields.ts';
import { type PlacedPair, placePairs } from '../fields/sections.ts';
import type { LeadMail, Reading } from './format.ts';

export interface LabelledOptions {
  /** The mail's own lines unless the format knows which of them are the form's. */
  lines?: readonly string[];
  /** `Date` and `Time` tell when the form was sent. */
  ignorePlainDates?: boolean;
}

/** Reads labelled values wherever they stand: beside, below or in a table; what most formats come down to. */
export function readLabelled(mail: LeadMail, options: LabelledOptions = {}): Reading | undefined {
  const lines = options.lines ?? mail.lines;
  const trusted = trustedPairs(placePairs(unfoldColumnTables(lines)));
  if (!tellOfLead(trusted)) return undefined;
  const pairs = pairsOfOnePerson(
    trusted.filter((pair) => !isOwnAddress(mail, pair)),
    mail.country,
  );
  if (!pairs) return { kind: 'digest' };
  const fields = fieldsFromPairs(pairs, {
    country: mail.country,
    ignorePlainDates: options.ignorePlainDates ?? false,
  });
  const opening = lines.filter((line) => line !== '').slice(0, 3);
  const leadType = readLeadType(mail.subject, fields, pairs, opening);
  const cancelled = pairs.some(
    ({ label, value }) => label?.kind === 'status' && /^cancell?ed\b/i.test(value),
  );
  return {
    kind: 'lead',
    fields: { ...fields, ...(leadType && { leadType }) },
    ...(cancelled && { cancelled }),
  };
}

/** The address at which the mail reached us is the store's, and no second person's. */
function isOwnAddress({ own }: LeadMail, { label, value }: PlacedPair): boolean {
  return label?.kind === 'email' && own.has(readEmail(value) ?? '');
}

/** The lines after the first that matches `start` and before the next that matches `end`; all where neither does. */
export function between(lines: readonly string[], start: RegExp | undefined, end: RegExp): string[] {
  const from = start ? lines.findIndex((line) => start.test(line)) + 1 : 0;
  const length = lines.slice(from).findIndex((line) => end.test(line));
  return length === -1 ? lines.slice(from) : lines.slice(from, from + length);
}

export function anyLine({ lines }: LeadMail, pattern: RegExp): boolean {
  return lines.some((line) => pattern.test(line));
}
