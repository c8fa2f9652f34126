import type { SourceMail } from './source-mail.ts';

/**
 * Three ways in which senders break MIME so that the body is lost, each answered by a corrected source to parse
 * once more. `undefined` means that the fault isn't there.
 */
type Repair = (source: Buffer, read: Pick<SourceMail, 'bodies' | 'partTypes'>) => Buffer | undefined;

const headEnd = /\r?\n\r?\n/;

/** A multipart without boundary, or with another than its lines, has no parts; the first line with `--` names it. */
export const withBoundary: Repair = (source, { bodies, partTypes }) => {
  if (bodies.length > 0 || partTypes.length > 0) return undefined;
  const text = source.toString('latin1');
  const end = headEnd.exec(text);
  if (!end) return undefined;
  const head = text.slice(0, end.index);
  const [, type] = /^content-type:\s*(multipart\/[\w-]+)/im.exec(head) ?? [];
  const boundary = /^--([^\s"]{1,70})\s*$/m.exec(text.slice(end.index, end.index + 20_000))?.[1];
  if (type === undefined || boundary === undefined || head.includes(boundary)) return undefined;
  const fixed = head.replace(
    /^content-type:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/im,
    () => `Content-Type: ${type}; boundary="${boundary}"`,
  );
  return Buffer.from(fixed + text.slice(end.index), 'latin1');
};

/** Plain text that calls itself base64 decodes to garbage without an error. */
export const withoutFalseBase64: Repair = (source) => {
  const text = source.subarray(0, 100_000).toString('latin1');
  const claim = /^content-transfer-encoding:\s*base64[ \t]*\r?$/im;
  const end = headEnd.exec(text);
  if (
    !end ||
    !claim.test(text.slice(0, end.index)) ||
    /^content-type:\s*multipart/im.test(text.slice(0, end.index))
  )
    return undefined;
  const [firstLine = ''] = text
    .slice(end.index, end.index + 20_000)
    .trim()
    .split(/\r?\n/, 1);
  const isBase64 = /^[A-Za-z0-9+/=\s]*$/.test(firstLine);
  return isBase64
    ? undefined
    : Buffer.from(source.toString('latin1').replace(claim, 'Content-Transfer-Encoding: 8bit'), 'latin1');
};

/**
 * Bytes that are no UTF-8 became U+FFFD: the charset was missing, unknown, wrong or only in HTML. If no other
 * character beyond ASCII was read, nothing is lost by reading all as windows-1252.
 */
export const withWesternCharset: Repair = (source, { bodies }) => {
  const damaged = bodies.some(({ text }) => text.includes('\ufffd'));
  if (!damaged || bodies.some(({ text }) => /[^\p{ASCII}\ufffd]/u.test(text))) return undefined;
  const text = source.toString('latin1');
  const relabelled = text
    .replace(
      /^(content-type:\s*text\/(?:plain|html))\b(?![^\n]{0,500}(?:\n[ \t][^\n]{0,500}){0,10}charset)/gim,
      '$1; charset=windows-1252',
    )
    .replace(/\bcharset\s*=\s*"?[\w-]+"?/gi, 'charset=windows-1252');
  const labelled = /^content-type:/im.test(text)
    ? relabelled
    : `Content-Type: text/plain; charset=windows-1252\r\n${text}`;
  return Buffer.from(labelled, 'latin1');
};
