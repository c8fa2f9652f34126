import type { ParsedMail as Mail } from 'mailparser';
import { cleanLine, cutText } from './clean-text.ts';
import { announcesSeveral } from './fields/digest.ts';
import { splitName } from './fields/name.ts';
import { isFieldLine } from './fields/pairs.ts';
import { areTwoPeople } from './fields/people.ts';
import type { LeadMail, Reading } from './formats/format.ts';
import { formats } from './formats/index.ts';
import { type ForwardedMail, findForwards } from './forwards.ts';
import type { ForwardedOriginal, LeadFields } from './parsed-mail.ts';
import { addressesOf, ownAddresses, readRecipients } from './recipients.ts';
import { type AnswerSigns, ownWords } from './replies.ts';
import type { SourceBody } from './source-mail.ts';
import { bodyToLines, unquotedLines } from './text-lines.ts';

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
  /** Of a reply that quotes: whether its own words hold a form, or only the mail that it answers. */
  answer?: 'own' | 'quoted';
}

/** Who sent a mail, and who asks for the answer; empty strings for what is not there. */
interface Senders extends Pick<LeadMail, 'from' | 'fromName' | 'replyTo' | 'own'> {
  replyToName: string;
}

/** What a format may know of the mail around its body. */
export type MailContext = Senders & Pick<LeadMail, 'subject' | 'country'> & { answers?: AnswerSigns };

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

/** Reads one body: its original if it is a forward, its own words if it is a reply. */
export function readBody(body: SourceBody, context: MailContext): Finding {
  const { kind, lines } = bodyToLines(body);
  const whole = readLines({ kind, lines, markup: body.text }, context);
  const own = whole.reading && wordsOfAnswer(body, lines, context, whole);
  return own ? answerOf(whole, readLines({ kind, lines: own, markup: own.join('\n') }, context)) : whole;
}

/** A reply's own words. Without any, all signs together must say that it is a reply and not a mail sent on. */
function wordsOfAnswer(
  body: SourceBody,
  lines: readonly string[],
  { answers }: MailContext,
  { forwarded }: Finding,
): string[] | undefined {
  if (!answers || body.kind === 'attachment') return undefined;
  const { bySubject, byHeaders, byAutoReply } = answers;
  if (!bySubject && ((!byHeaders && !byAutoReply) || forwarded)) return undefined;
  const own = ownWords(lines, unquotedLines(body));
  return (bySubject && byHeaders) || own?.some((line) => line.trim() !== '') ? own : undefined;
}

/** Its own words are a form if they say how to reach somebody, and who, unless nobody is named anywhere. */
function answerOf(whole: Finding, own: Finding): Finding {
  if (own.reading?.kind === 'digest') return { ...own, answer: 'own' };
  const { phone, email } = own.reading?.fields ?? {};
  const isForm = (phone ?? email) !== undefined && (isNamed(own) || !isNamed(whole));
  return isForm
    ? { ...own, text: whole.text, answer: 'own' }
    : { ...whole, opening: own.opening, answer: 'quoted' };
}

function isNamed({ reading }: Finding): boolean {
  if (reading?.kind !== 'lead') return reading !== undefined;
  return reading.fields.firstName !== undefined || reading.fields.lastName !== undefined;
}

/** Reads lines by the first format that knows the layout. */
function readLines(body: Pick<LeadMail, 'kind' | 'lines' | 'markup'>, context: MailContext): Finding {
  const { lines } = body;
  const forwards = findForwards(lines, context.subject);
  const original = forwards.at(-1);
  const { country, subject, from, fromName } = { ...context, ...(original && senderOf(original)) };
  const mail: LeadMail = {
    ...{ ...body, subject, from, fromName, country },
    own: context.own,
    replyTo: original ? '' : context.replyTo,
    lines: original?.lines ?? lines,
  };
  const opening = openingOf(mail.lines);
  const severalPeople = announcesSeveral([subject, ...opening], mail.lines);
  // Somebody may forward our own mail to us and write above it who he is, or one form below another.
  const above = forwards
    .toReversed()
    .flatMap(({ message }) => readWithFormats({ ...mail, lines: message }) ?? []);
  const found = readWithFormats(mail) ?? above[0];
  const several = severalPeople || above.some((other) => found && areOfTwo(found.reading, other.reading));
  const reading: Reading | undefined = found && several ? { kind: 'digest' } : found?.reading;
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

function areOfTwo(one: Reading, other: Reading): boolean {
  return one.kind === 'lead' && other.kind === 'lead' && areTwoPeople(one.fields, other.fields);
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
