import EmailForwardParser, { type EmailForwardMailbox } from 'email-forward-parser';
import { cutText } from './clean-text.ts';
import { findAddress } from './fields/email.ts';
import { forwardedMessage, replyPrefix } from './replies.ts';

/** What a forward's header block says of the original, and what stands below it. */
export interface ForwardedMail {
  /** Address, where there is one. */
  from?: string;
  fromName?: string;
  /** To, then Cc. */
  recipients: string[];
  /** Address of the first recipient, else its name. */
  to?: string;
  /** As written: localized. */
  date?: string;
  subject?: string;
  lines: string[];
  /** What the forwarding person wrote above it. */
  message: string[];
}

/** The parser backtracks: 50 kB of blanks took 4.5 s, so it gets short lines and a bounded text. */
const maxChars = 30_000;
const maxLine = 400;
const maxDepth = 4;
const forwardPrefix =
  /^\s*(?:(?:\[[^\]]*\]|re|aw|ext|external)(?:\s*:)?\s*)*(?:fwd?|fw|wg|tr|rv|vs|vb|enc|i|pd|ilt|doorst)\s*:\s*(.*)$/is;
const headerLine = /^[>\s]*\*?(from|sent|date|to|cc|subject|reply-to)\s*:\*?\s*(.*)$/i;
const parser = new EmailForwardParser();

/**
 * The originals in a mail that was forwarded in its text, outermost first; empty when no header block with
 * sender and date or recipient stands in it: a subject that begins with `Fwd:` proves nothing.
 */
export function findForwards(lines: readonly string[], subject: string | undefined): ForwardedMail[] {
  const found: ForwardedMail[] = [];
  let current = readForward(lines, subject);
  while (current && found.length < maxDepth) {
    found.push(current);
    // Below the first header block no subject says whether there is another.
    current = readForward(current.lines, undefined);
  }
  return found;
}

function readForward(lines: readonly string[], subject: string | undefined): ForwardedMail | undefined {
  const marked = forwardPrefix.exec(subject ?? '');
  // A reply quotes the mail that it answers under the same kind of header block, but calls it no forward.
  if (!marked && replyPrefix.test(subject ?? '') && !lines.some((line) => forwardedMessage.test(line)))
    return undefined;
  const prepared = prepare(lines);
  const direct = parse(prepared, marked ? `Fwd: ${marked[1]}` : null);
  if (direct) return direct;
  const block = headerBlock(prepared);
  if (block === undefined) return undefined;
  const separated = parse(['---------- Forwarded message ---------', ...prepared.slice(block)], null);
  return separated && { ...separated, message: prepared.slice(0, block) };
}

function parse(lines: readonly string[], subject: string | null): ForwardedMail | undefined {
  const text = lines.join('\n').replace(/\n{3,}/g, '\n\n');
  const { forwarded, email, message } = parser.read(text, subject);
  if (!forwarded || email.body === undefined) return undefined;
  const from = email.from.address?.toLowerCase();
  const fromName = email.from.name ?? undefined;
  const recipients = mailboxes(email.to);
  const to = addresses(recipients);
  const firstTo = to[0]?.toLowerCase() ?? recipients[0]?.name ?? undefined;
  const date = email.date?.replace(/^\*|\*$/g, '').trim();
  if ((!from && !fromName) || (!date && to.length === 0)) return undefined;
  const original = subject === null ? email.subject : originalSubject(lines);
  // "On Tuesday Ana wrote:" begins a quotation unless the subject says that the mail is a forward.
  if (subject === null && to.length === 0 && !original) return undefined;
  return {
    ...(from && { from }),
    ...(fromName && { fromName }),
    recipients: [...to, ...addresses(mailboxes(email.cc))],
    ...(firstTo && { to: firstTo }),
    ...(date && { date }),
    ...(original && { subject: original }),
    lines: email.body.split('\n'),
    message: message?.split('\n') ?? [],
  };
}

/** Given a subject, the parser repeats that one instead of the header block's. */
function originalSubject(lines: readonly string[]): string | undefined {
  for (const line of lines) {
    const [, name = '', value = ''] = headerLine.exec(line) ?? [];
    if (name.toLowerCase() === 'subject') return value.trim();
  }
  return undefined;
}

function mailboxes(
  field: EmailForwardMailbox | EmailForwardMailbox[] | null | undefined,
): EmailForwardMailbox[] {
  return Array.isArray(field) ? field : field ? [field] : [];
}

function addresses(list: readonly EmailForwardMailbox[]): string[] {
  return list.flatMap(({ address, name }) => findAddress(address ?? name ?? '') ?? []);
}

/** Short lines without quotation marks, bold markers and wrapped address lists. */
function prepare(lines: readonly string[]): string[] {
  const prepared: string[] = [];
  const quoted =
    lines.filter((line) => line.startsWith('>')).length * 2 > lines.filter((line) => line !== '').length;
  let size = 0;
  for (const line of lines) {
    const unquoted = quoted ? line.replace(/^(>\s?)+/, '') : line;
    const plain = cutText(unquoted.replace(/ {2,}/g, ' '), maxLine);
    size += plain.length + 1;
    if (size > maxChars) break;
    const header = headerLine.exec(plain);
    const before = prepared.at(-1) ?? '';
    if (header && /^\*/.test(plain.trim())) prepared.push(`${header[1]}: ${header[2]}`);
    else if (!header && isWrappedAddress(before, plain))
      prepared[prepared.length - 1] = cutText(`${before} ${plain}`, maxLine * 5);
    else prepared.push(plain);
  }
  return prepared;
}

/** Gmail wraps a long To or Cc: the rest stands on the next line. */
function isWrappedAddress(before: string, line: string): boolean {
  const [, name = ''] = headerLine.exec(before) ?? [];
  if (!/^(to|cc)$/i.test(name) || line === '') return false;
  return /[,;]\s*$/.test(before) ? line.includes('@') : /^\s*</.test(line);
}

/** Where `From:`, a date, a subject and an address stand together: Outlook writes no separator. */
function headerBlock(lines: readonly string[]): number | undefined {
  const index = lines.findIndex((line, start) => {
    if (headerLine.exec(line)?.[1]?.toLowerCase() !== 'from') return false;
    const block = lines.slice(start, start + 6).filter((next) => headerLine.test(next));
    const names = block.map((next) => headerLine.exec(next)?.[1]?.toLowerCase());
    const dated = names.includes('sent') || names.includes('date');
    return dated && names.includes('subject') && block.some((next) => next.includes('@'));
  });
  return index === -1 ? undefined : index;
}
