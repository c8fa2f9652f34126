import { type Attachment, type ParsedMail as Mail, simpleParser } from 'mailparser';
import { cleanLine, cleanText, cutText } from './clean-text.ts';
import { withBoundary, withoutFalseBase64, withWesternCharset } from './repairs.ts';
import type { SourceBody, SourceMail } from './source-mail.ts';

/** What the mail holds is read by ourselves (HTML to lines), so mailparser converts nothing. */
const options = {
  skipHtmlToText: true,
  skipTextToHtml: true,
  skipTextLinks: true,
  skipImageLinks: true,
  keepCidLinks: true,
  keepDeliveryStatus: true,
  ignoreEmbedded: true,
  checksumAlgo: false,
} as const;

/** Longer parts are cut: a lead is a few lines, and nothing that follows may cost the other mails their time. */
const maxBody = 2_000_000;
const maxTextAttachments = 3;

/** Rejects with mailparser's error (`EMAXLEN`: over 1,000 parts or 1 MB of headers). */
export async function readSource(source: Buffer): Promise<SourceMail> {
  const first = takeApart(await simpleParser(source, options));
  for (const repair of [withBoundary, withoutFalseBase64, withWesternCharset]) {
    const repaired = repair(source, first);
    if (repaired) return takeApart(await simpleParser(repaired, options));
  }
  return first.bodies.length === 0 ? withHeaderlessText(source, first) : first;
}

/** Headers alone, for a mail whose parts can't be read: its recipient and subject must still be shown. */
export async function readHeaders(source: Buffer): Promise<SourceMail> {
  const head =
    source
      .subarray(0, 65_536)
      .toString('latin1')
      .split(/\r?\n\r?\n/, 1)[0] ?? '';
  const lines = head.replace(/^content-[^\n]*(?:\n[ \t][^\n]*)*\n?/gim, '');
  return takeApart(await simpleParser(Buffer.from(`${lines}\r\n\r\n`, 'latin1'), options));
}

/** Pictures written into the HTML: megabytes in front of the first word. */
const inlineData = /\bdata:[\w/+.-]{1,100};base64,[A-Za-z0-9+/=\s]+/g;

function takeApart(mail: Mail): SourceMail {
  const bodies: SourceBody[] = [
    { kind: 'text', text: cleaned(mail.text ?? '') },
    { kind: 'html', text: cleaned(typeof mail.html === 'string' ? mail.html.replace(inlineData, '') : '') },
    ...mail.attachments
      .filter(isTextual)
      .slice(0, maxTextAttachments)
      .map((part): SourceBody => ({ kind: 'attachment', text: cleaned(decode(part.content)) })),
  ];
  return {
    // An empty source has no header lines at all.
    mail: { ...mail, headerLines: mail.headerLines ?? [] },
    bodies: bodies.filter(({ text }) => text.trim() !== ''),
    embedded: mail.attachments.filter(isMessage).map(({ content }) => content),
    partTypes: mail.attachments.map(typeOf),
    cancelsEvent: mail.attachments.some(cancelsEvent),
  };
}

/** The first header of that name as written, on one line; empty if there is none. */
export function headerOf({ headerLines }: Pick<Mail, 'headerLines'>, name: string): string {
  const line = headerLines.find(({ key }) => key === name)?.line ?? '';
  return cutText(cleanLine(line.slice(line.indexOf(':') + 1)), 1000);
}

function cleaned(text: string): string {
  return cleanText(text.slice(0, maxBody));
}

/** Outlook's winmail.dat often calls itself a mere octet stream. */
function typeOf({ contentType, filename }: Attachment): string {
  return /^winmail\.dat$/i.test(filename ?? '') ? 'application/ms-tnef' : contentType.toLowerCase();
}

function isMessage({ contentType, filename }: Attachment): boolean {
  return contentType === 'message/rfc822' || /\.eml$/i.test(filename ?? '');
}

function cancelsEvent({ contentType, filename, content }: Attachment): boolean {
  return (
    (/^(?:text\/calendar|application\/ics)$/i.test(contentType) || /\.ics$/i.test(filename ?? '')) &&
    /^METHOD:CANCEL\s*$/m.test(content.subarray(0, 20_000).toString('latin1'))
  );
}

/** A text part sent as attachment, ADF and other XML, and the malformed `Content-Type: text`. */
function isTextual(part: Attachment): boolean {
  if (isMessage(part)) return false;
  const named = /\.(adf|xml|txt|html?)$/i.test(part.filename ?? '');
  return (
    named ||
    /^(text(\/(plain|html|xml|x-adf|enriched))?|application\/(x-adf(\+xml)?|adf\+xml|xml))$/i.test(
      part.contentType,
    )
  );
}

/** Attachments keep their bytes; what is no UTF-8 is Western. */
function decode(content: Buffer): string {
  const bytes = content.subarray(0, maxBody);
  const utf8 = new TextDecoder('utf-8').decode(bytes);
  return utf8.includes('\ufffd') && bytes.length === content.length
    ? new TextDecoder('windows-1252').decode(bytes)
    : utf8;
}

const headerNames = new Set([
  'from',
  'to',
  'subject',
  'received',
  'message-id',
  'mime-version',
  'content-type',
  'return-path',
  'delivered-to',
]);

/** Text without any header is read as headers: `First Name: Ana` looks like one. */
function withHeaderlessText(source: Buffer, read: SourceMail): SourceMail {
  if (source.length === 0 || read.mail.headerLines.some(({ key }) => headerNames.has(key))) return read;
  const text = cleaned(decode(source));
  if (text.trim() === '' || read.partTypes.length > 0) return read;
  return { ...read, mail: { ...read.mail, headerLines: [] }, bodies: [{ kind: 'text', text }] };
}
