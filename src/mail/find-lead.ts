import type { CountryCode } from 'libphonenumber-js/max';
import { cleanLine, cutText } from './clean-text.ts';
import { readEmail } from './fields/email.ts';
import { splitName } from './fields/name.ts';
import { isFieldLine } from './fields/pairs.ts';
import type { LeadMail, Reading } from './formats/format.ts';
import { formats } from './formats/index.ts';
import { type ForwardedMail, findForwards } from './forwards.ts';
import { htmlToLines } from './html-lines.ts';
import type { ForwardedOriginal, LeadFields } from './parsed-mail.ts';
import { readSource } from './read-source.ts';
import { addressesOf, ownAddresses, readRecipients } from './recipients.ts';
import type { SourceBody, SourceMail } from './source-mail.ts';
import { markedUpTextToLines, textToLines } from './text-lines.ts';

/** What a mail's bodies hold. */
export interface Finding {
  reading?: Reading;
  format?: string;
  forwarded?: ForwardedOriginal;
  /** Recipients of the forwarded original, innermost first. */
  originalRecipients: string[];
  /** The body that was read, rendered as text. */
  text: string;
  /** Lines before the first field: where a sentence says what the mail is about. */
  opening: string[];
  /** The subject announces a list, and the text names several addresses. */
  severalPeople: boolean;
}

/** Lead lines come first; the rows of a newsletter need not be read. */
const maxLines = 5000;
const maxEmbeddedDepth = 3;
const maxEmbedded = 5;

/**
 * The lead in a mail: in the message that it forwards as an attachment, else in the best of its bodies. Bodies
 * are alternatives, never mixed.
 */
export async function findLead(source: SourceMail, country: CountryCode, depth = 0): Promise<Finding> {
  const own = bestOf(source.bodies.flatMap((body) => readBody(body, source, country)));
  if (depth < maxEmbeddedDepth) {
    for (const bytes of source.embedded.slice(0, maxEmbedded)) {
      const inner = await readEmbedded(bytes, country, depth + 1);
      if (inner && (inner.reading || source.bodies.length === 0)) return inner;
    }
  }
  return own ?? nothingFound;
}

export const nothingFound: Finding = { originalRecipients: [], text: '', opening: [], severalPeople: false };

/** A message/rfc822 part is the original of a forward. An unreadable one leaves the mail's own bodies to be read. */
async function readEmbedded(
  bytes: Buffer,
  country: CountryCode,
  depth: number,
): Promise<Finding | undefined> {
  const inner = await readSource(bytes).catch(() => undefined);
  if (!inner) return undefined;
  const finding = await findLead(inner, country, depth);
  const to = [...addressesOf(inner.mail.to), ...addressesOf(inner.mail.cc)];
  const from = addressesOf(inner.mail.from)[0]?.toLowerCase();
  const date = inner.mail.headerLines.find(({ key }) => key === 'date')?.line.replace(/^[^:]*:/, '');
  const original: ForwardedOriginal = {
    ...(from && { from }),
    ...(to[0] && { to: to[0].toLowerCase() }),
    ...(date?.trim() && { date: cutText(cleanLine(date), 200) }),
  };
  return {
    ...finding,
    forwarded: finding.forwarded ?? original,
    originalRecipients: [...finding.originalRecipients, ...to],
  };
}

/** One body's findings: as it stands, and for text that holds tags, as HTML. */
function readBody(body: SourceBody, { mail }: SourceMail, country: CountryCode): Finding[] {
  const isHtml =
    body.kind === 'html' ||
    (body.kind === 'attachment' && /<(?:html|table|body)\b/i.test(body.text.slice(0, 5000)));
  const rendered = (isHtml ? htmlToLines(body.text) : markedUpTextToLines(body.text))?.slice(0, maxLines);
  const context = {
    markup: body.text,
    from: addressesOf(mail.from)[0]?.toLowerCase() ?? '',
    fromName: nameOf(mail.from),
    replyToName: nameOf(mail.replyTo),
    replyTo: addressesOf(mail.replyTo)[0]?.toLowerCase() ?? '',
    ownAddresses: ownAddresses(readRecipients(mail, [])),
    subject: cleanLine(mail.subject ?? '').slice(0, 1000),
    country,
  };
  const findings = rendered ? [readLines(rendered, 'html', context)] : [];
  return isHtml
    ? findings
    : [readLines(textToLines(body.text).slice(0, maxLines), body.kind, context), ...findings];
}

interface BodyContext {
  markup: string;
  from: string;
  fromName: string;
  replyTo: string;
  replyToName: string;
  ownAddresses: ReadonlySet<string>;
  subject: string;
  country: CountryCode;
}

function readLines(lines: readonly string[], kind: SourceBody['kind'], context: BodyContext): Finding {
  const forwards = findForwards(lines, context.subject);
  const original = forwards.at(-1);
  const inner = original?.lines ?? lines;
  const mail: LeadMail = {
    kind,
    subject: original?.subject ?? context.subject,
    from: original?.from ?? context.from,
    fromName: original?.fromName ?? context.fromName,
    hasReplyTo: context.replyTo !== '' && context.replyTo !== context.from,
    lines: inner,
    markup: context.markup,
    country: context.country,
  };
  const found = readWithFormats(mail);
  return {
    ...(found && {
      format: found.format,
      reading: ofTheLead(found.reading, context, original === undefined),
    }),
    ...(original && { forwarded: toOriginal(original) }),
    originalRecipients: forwards.toReversed().flatMap(({ recipients }) => recipients),
    text: lines.join('\n'),
    opening: openingOf(inner, original?.subject),
    severalPeople: announcesSeveral(mail),
  };
}

function readWithFormats(mail: LeadMail): { format: string; reading: Reading } | undefined {
  for (const { name, read } of formats) {
    const reading = read(mail);
    if (reading) return { format: name, reading };
  }
  return undefined;
}

/** The store's own address is never the lead's; a visitor named only in Reply-To has his name there too. */
function ofTheLead(reading: Reading, context: BodyContext, direct: boolean): Reading {
  if (reading.kind === 'digest') return reading;
  const { email, ...rest } = reading.fields;
  const fields: LeadFields = email && !context.ownAddresses.has(email) ? reading.fields : rest;
  const named = fields.firstName !== undefined || fields.lastName !== undefined;
  const fromReplyTo =
    direct &&
    context.replyTo !== '' &&
    context.replyTo !== context.from &&
    (fields.email ?? context.replyTo) === context.replyTo;
  return {
    ...reading,
    fields: named || !fromReplyTo ? fields : { ...fields, ...splitName(context.replyToName) },
  };
}

function toOriginal({ from, to, date }: ForwardedMail): ForwardedOriginal {
  return { ...(from && { from }), ...(to && { to }), ...(date && { date: cutText(cleanLine(date), 200) }) };
}

function openingOf(lines: readonly string[], subject: string | undefined): string[] {
  const filled = lines.filter((line) => line !== '').slice(0, 10);
  const first = filled.findIndex(isFieldLine);
  return [...(subject ? [subject] : []), ...(first === -1 ? filled : filled.slice(0, first))];
}

function announcesSeveral({ subject, lines }: LeadMail): boolean {
  if (!/\b(?:digest|summary|recap|report|\d+ (?:new )?(?:leads|inquiries|bookings))\b/i.test(subject))
    return false;
  const addresses = new Set(
    lines.slice(0, 500).map((line) => readEmail(line) ?? line.match(/\(?\d{3}\)?[ .-]?\d{3}[ .-]\d{4}/)?.[0]),
  );
  addresses.delete(undefined);
  return addresses.size > 1;
}

/** A digest anywhere forbids to use the mail; else the body that tells most; plain text before HTML on a tie. */
function bestOf(findings: Finding[]): Finding | undefined {
  const digest = findings.find(({ reading }) => reading?.kind === 'digest');
  if (digest) return digest;
  return findings.reduce<Finding | undefined>(
    (best, finding) => (best && score(best) >= score(finding) ? best : finding),
    undefined,
  );
}

function score({ reading, format, text }: Finding): number {
  if (reading?.kind !== 'lead') return text.trim() === '' ? 0 : 0.5;
  const { phone, email } = reading.fields;
  const contacts = Number(phone !== undefined) + Number(email !== undefined);
  // ADF says what is what; the text beside it is for people.
  return (
    1 + (format === 'adf' && contacts > 0 ? 1000 : 0) + contacts * 100 + Object.keys(reading.fields).length
  );
}

function nameOf(header: SourceMail['mail']['from']): string {
  return cleanLine(header?.value[0]?.name ?? '');
}
