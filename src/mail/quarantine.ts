import { createHash } from 'node:crypto';
import { cleanLine } from './clean-text.ts';
import { mailKey } from './mail-key.ts';
import type { MailEnvelope } from './mailbox.ts';
import type { ParsedMail, Recipient } from './parsed-mail.ts';
import { readHeaders } from './read-source.ts';
import { readRecipients, recipientOf } from './recipients.ts';

/**
 * What is known of a mail whose source must not be touched again: it ended the process three times. Its key
 * is the envelope's; read at last by a person's replay, it keeps that key and its one line.
 *
 * @param headers the lines that name recipients, where they could be had: To alone often names no store
 */
export async function quarantineByEnvelope(envelope: MailEnvelope, headers?: Buffer): Promise<ParsedMail> {
  const { uid, receivedAt, size, messageId, subject, from, to } = envelope;
  const recipients = to.map((address) => recipientOf('to', address));
  const identity = createHash('sha256')
    .update(`envelope ${uid} ${receivedAt.toISOString()} ${size}`)
    .digest();
  return {
    outcome: 'quarantined',
    reason: 'attempts_exhausted',
    // From the envelope with or without headers, so that a second try makes no second line.
    mailKey: mailKey({ messageId, recipients, body: '', source: identity }),
    ...(messageId ? { messageId: cleanLine(messageId) } : {}),
    ...(subject ? { subject: cleanLine(subject) } : {}),
    ...(from ? { from: cleanLine(from).toLowerCase() } : {}),
    recipients: await withHeaders(recipients, headers),
    fields: {},
    text: '',
  };
}

async function withHeaders(fromEnvelope: Recipient[], headers: Buffer | undefined): Promise<Recipient[]> {
  const read = headers && (await readHeaders(headers).catch(() => undefined));
  const recipients = read ? readRecipients(read.mail, []) : [];
  return recipients.length > 0 ? recipients : fromEnvelope;
}
