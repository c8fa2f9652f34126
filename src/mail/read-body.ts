import type { ParsedMail as Mail } from 'mailparser';
import { cleanLine, cutText } from './clean-text.ts';
import { announcesSeveral } from './fields/digest.ts';
import { splitName } from './fields/name.ts';
import { isFieldLine } from './fields/pairs.ts';
import type { LeadMail, Reading } from './formats/format.ts';
import { formats } from './formats/index.ts';
import { type ForwardedMail, findForwards } from './forwards.ts';
import type { ForwardedOriginal, LeadFields } from './parsed-mail.ts';
import { addressesOf, ownAddresses, readRecipients } from './recipients.ts';
import type { SourceBody } from './source-mail.ts';
import { bodyToLines } from './text-lines.ts';

/** What one body of a mail holds. */
export interface Finding {
  reading?: Reading;
  format?: string;
  forwarded?: ForwardedOriginal;
  /** Recipients of the forwarded original, innermost first. */
  originalRecipients: string[];
  /** The body, rendered as text. */
  text: string;
  /** Subject of the original, else of the mail. */
  subject: string;
  /** Lines before the first field: where a sentence says what the mail is about. */
  opening: string[];
  /** Subject or opening announce a list of people. */
  severalPeople: boolean;
}

/** Who sent a mail, and who asks for the answer; empty strings for what is not there. */
interface Senders extends Pick<LeadMail, 'from' | 'fromName' | 'replyTo'> {
  replyToName: string;
  /** Addresses at which the mail reached us. */
  own: ReadonlySet<string>;
}

/** What a format may know of the mail around its body. */
export type MailContext = Senders & Pick<LeadMail, 'subject' | 'country'>;

export function contextOf(mail: Mail, country: LeadMail['country']): MailContext {
  return { subject: cutText(cleanLine(mail.subject ?? ''), 1000), country, ...sendersOf(mail) };
}

/** A Reply-To that is the sender's or our own address says nothing and is left out. */
export function sendersOf(mail: Mail): Senders {
  const from = firstAddress(mail.from);
  const replyTo = firstAddress(mail.replyTo);
  const own = ownAddresses(readRecipients(mail, []));
  const somebody = replyTo !== from && !own.has(replyTo);
  return {
    from,
    fromName: nameOf(mail.from),
    replyTo: somebody ? replyTo : '',
    replyToName: somebody ? nameOf(mail.replyTo) : '',
    own,
  };
}

/** Reads one body: its original if it is a forward, by the first format that knows the layout. */
export function readBody(body: SourceBody, context: MailContext): Finding {
  const { kind, lines } = bodyToLines(body);
  const forwards = findForwards(lines, context.subject);
  const original = forwards.at(-1);
  const { country, subject, from, fromName } = { ...context, ...(original && senderOf(original)) };
  const mail: LeadMail = {
    ...{ kind, subject, from, fromName, country },
    replyTo: original ? '' : context.replyTo,
    lines: original?.lines ?? lines,
    markup: body.text,
  };
  const opening = openingOf(mail.lines);
  const severalPeople = announcesSeveral([subject, ...opening], mail.lines);
  // Somebody may forward our own mail to us and write above it who he is.
  const found =
    readWithFormats(mail) ?? (original && readWithFormats({ ...mail, lines: forwards[0]?.message ?? [] }));
  const reading: Reading | undefined = found && severalPeople ? { kind: 'digest' } : found?.reading;
  return {
    ...(found && { format: found.format }),
    ...(reading && { reading: ofTheLead(reading, context, original === undefined) }),
    ...(original && { forwarded: toOriginal(original) }),
    originalRecipients: forwards.toReversed().flatMap(({ recipients }) => recipients),
    text: lines.join('\n'),
    subject,
    opening,
    severalPeople,
  };
}

function senderOf({ subject, from, fromName }: Partial<MailContext>): Partial<MailContext> {
  return { ...(subject && { subject }), ...(from && { from, fromName: fromName ?? '' }) };
}

function readWithFormats(mail: LeadMail): { format: string; reading: Reading } | undefined {
  for (const { name, read } of formats) {
    const reading = read(mail);
    if (reading) return { format: name, reading };
  }
  return undefined;
}

/** The store's own address is never the lead's; a visitor named only in Reply-To has his name there too. */
function ofTheLead(reading: Reading, context: MailContext, direct: boolean): Reading {
  if (reading.kind === 'digest') return reading;
  const { email, ...others } = reading.fields;
  const fields: LeadFields = email && !context.own.has(email) ? reading.fields : others;
  const named = fields.firstName !== undefined || fields.lastName !== undefined;
  const isReplyTo = direct && context.replyTo !== '' && (fields.email ?? context.replyTo) === context.replyTo;
  return {
    ...reading,
    fields: named || !isReplyTo ? fields : { ...fields, ...splitName(context.replyToName) },
  };
}

function toOriginal({ from, fromName, to, date }: ForwardedMail): ForwardedOriginal {
  const sender = from ?? fromName;
  return {
    ...(sender && { from: sender }),
    ...(to && { to }),
    ...(date && { date: cutText(cleanLine(date), 200) }),
  };
}

function openingOf(lines: readonly string[]): string[] {
  const filled = lines
    .filter((line) => line !== '')
    .slice(0, 10)
    .map((line) => line.slice(0, 300));
  const first = filled.findIndex(isFieldLine);
  return first === -1 ? filled : filled.slice(0, first);
}

/** Address of a header that names one sender, lower-cased; empty if there is none. */
export function firstAddress(header: Mail['from']): string {
  return addressesOf(header)[0]?.toLowerCase() ?? '';
}

function nameOf(header: Mail['from']): string {
  return cleanLine(header?.value[0]?.name ?? '');
}
