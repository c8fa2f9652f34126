import { createHash } from 'node:crypto';
import type { CountryCode } from 'libphonenumber-js/max';
import { automaticMail, isCancellation } from './classify.ts';
import { cleanLine, cutText } from './clean-text.ts';
import { findLead, nothingFound } from './find-lead.ts';
import { mailKey } from './mail-key.ts';
import type { MailReason, ParsedMail } from './parsed-mail.ts';
import { type Finding, sendersOf } from './read-body.ts';
import { headerOf, readHeaders, readSource } from './read-source.ts';
import { readRecipients } from './recipients.ts';
import { answerSigns } from './replies.ts';
import type { SourceMail } from './source-mail.ts';

export interface ParseOptions {
  /** Country of phone numbers without a country code; default US. */
  defaultCountry?: CountryCode;
}

const maxHeader = 1000;

/**
 * Reads one mail's source. Never rejects: whatever the bytes are, the mail ends in an outcome, and what can't be
 * read is `quarantined` with a reason. Pure: the same bytes give the same result.
 */
export async function parseMail(source: Buffer, options: ParseOptions = {}): Promise<ParsedMail> {
  try {
    const mail = await readSource(source);
    return judge(source, mail, await findLead(mail, options.defaultCountry ?? 'US'));
  } catch (error) {
    return unreadable(source, error);
  }
}

function judge(source: Buffer, mail: SourceMail, finding: Finding): ParsedMail {
  const parsed = describe(source, mail, finding);
  const subject = parsed.subject ?? '';
  const { headerLines } = mail.mail;
  const surely = automaticMail({ headerLines, subject, from: parsed.from, partTypes: mail.partTypes });
  const automatic = surely ?? (isAutoReplyWithoutForm(mail, finding) ? 'auto_reply' : undefined);
  if (automatic) return { ...parsed, outcome: 'skipped', reason: automatic, fields: {} };
  const { reading, answer } = finding;
  if (answer === 'quoted' && !isCancellation([], finding.opening)) {
    return { ...parsed, outcome: 'quarantined', reason: 'quoted_only' };
  }
  if (reading?.kind === 'digest') return { ...parsed, outcome: 'quarantined', reason: 'digest' };
  if (
    mail.cancelsEvent ||
    reading?.cancelled ||
    isCancellation([subject, finding.subject], finding.opening)
  ) {
    return { ...parsed, outcome: 'cancellation', reason: 'booking_cancelled' };
  }
  if (!reading) return { ...parsed, outcome: 'quarantined', reason: reasonWithoutFormat(mail, finding) };
  // A form that names its visitor in Reply-To alone: who that is, the lead's builder decides.
  const reachable = parsed.fields.phone ?? parsed.fields.email ?? parsed.replyTo;
  return reachable ? parsed : { ...parsed, outcome: 'quarantined', reason: 'no_contact' };
}

/** A mail with a header of automatic answers is a lead all the same if it names somebody and answers nobody. */
function isAutoReplyWithoutForm({ mail }: SourceMail, { reading, answer }: Finding): boolean {
  const { bySubject, byHeaders, byAutoReply } = answerSigns(mail);
  if (!byAutoReply) return false;
  if (reading?.kind !== 'lead' || answer === 'quoted' || bySubject || byHeaders) return true;
  const { firstName, lastName, phone, email } = reading.fields;
  return (firstName ?? lastName) === undefined || (phone ?? email) === undefined;
}

function reasonWithoutFormat({ partTypes }: SourceMail, finding: Finding): MailReason {
  if (partTypes.some((type) => /ms-tnef/.test(type))) return 'tnef_only';
  if (finding.text.trim() === '') return 'no_text';
  return finding.severalPeople ? 'digest' : 'unparsed';
}

/** All that a mail says of itself, as the lead that it may turn out to be. */
function describe(source: Buffer, { mail, bodies, embedded }: SourceMail, finding: Finding): ParsedMail {
  const { from, replyTo } = sendersOf(mail);
  const messageId = cutText(cleanLine(mail.messageId ?? ''), maxHeader);
  const subject = cutText(cleanLine(mail.subject ?? ''), maxHeader);
  const rawDate = headerOf(mail, 'date');
  const body = [...bodies.map(({ text }) => text), ...embedded.map((bytes) => bytes.toString('latin1'))];
  return {
    outcome: 'lead',
    ...(finding.format && { format: finding.format }),
    mailKey: mailKey({ messageId, recipients: readRecipients(mail, []), body: body.join('\n'), source }),
    ...(messageId && { messageId }),
    ...(subject && { subject }),
    ...(from && { from }),
    ...(replyTo && { replyTo }),
    recipients: readRecipients(mail, finding.originalRecipients),
    fields: finding.reading?.kind === 'lead' ? finding.reading.fields : {},
    ...(finding.forwarded && { forwarded: finding.forwarded }),
    text: finding.text,
    ...(rawDate && { rawDate }),
  };
}

/** Neither body nor parts: what can be said of it comes from its headers, if those can be read at least. */
async function unreadable(source: Buffer, error: unknown): Promise<ParsedMail> {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const verdict = {
    outcome: 'quarantined',
    reason: code === 'EMAXLEN' ? 'too_many_parts' : 'unreadable',
  } as const;
  const key = createHash('sha256').update(source).digest('hex');
  try {
    return { ...describe(source, await readHeaders(source), nothingFound), ...verdict, mailKey: key };
  } catch {
    return { ...verdict, mailKey: key, recipients: [], fields: {}, text: '' };
  }
}
