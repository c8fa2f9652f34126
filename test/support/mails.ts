/** The BASE mail of the cases page; each test changes what its case is about. */
const baseHeaders = {
  From: 'web@forms.example',
  To: 'lead-tracking+OTF0412@leads.example',
  'Message-ID': '<a1@forms.example>',
  Subject: 'Web Lead - Ana Lopez',
  Date: 'Tue, 3 Nov 2026 09:15:00 -0500',
};
export const baseText = 'First Name: Ana\nLast Name: Lopez\nPhone: (212) 555-0147\nEmail: ana@x.example';

export interface MailParts {
  /** Replaces or adds headers; `null` removes one; a list writes a header several times. */
  headers?: Record<string, string | readonly string[] | null>;
  text?: string;
  html?: string;
}

/** A source as IMAP hands it out (CRLF): text, HTML, or both as alternatives. */
export function mailSource({ headers = {}, text, html }: MailParts = {}): Buffer {
  if (text !== undefined && html !== undefined) {
    const body = alternatives([
      ['text/plain; charset=utf-8', text],
      ['text/html; charset=utf-8', html],
    ]);
    return rawMail({ ...headers, 'Content-Type': 'multipart/alternative; boundary=b1' }, body);
  }
  const type = html === undefined ? 'text/plain; charset=utf-8' : 'text/html; charset=utf-8';
  return rawMail({ 'Content-Type': type, ...headers }, html ?? text ?? baseText);
}

/** Headers (BASE's, changed) and a body exactly as given. */
export function rawMail(headers: NonNullable<MailParts['headers']>, body: string | Buffer): Buffer {
  const all: Record<string, string | readonly string[] | null> = { ...baseHeaders, ...headers };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === null ? [] : [value].flat().map((one) => `${name}: ${one}`),
  );
  const bytes = typeof body === 'string' ? Buffer.from(body.replace(/\r?\n/g, '\r\n')) : body;
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes]);
}

/** Parts of a multipart body with boundary `b1`; a part's type may carry further header lines. */
export function alternatives(parts: readonly (readonly [type: string, body: string])[]): string {
  return `${parts.map(([type, body]) => `--b1\nContent-Type: ${type}\n\n${body}\n`).join('')}--b1--\n`;
}

/** Ana Lopez, as most mails of the tests name her. */
export const ana = {
  firstName: 'Ana',
  lastName: 'Lopez',
  phone: '+12125550147',
  email: 'ana@x.example',
} as const;
