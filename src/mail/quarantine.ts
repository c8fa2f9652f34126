import { createHash } from 'node:crypto';
import { cleanLine } from './clean-text.ts';
import { mailKey } from './mail-key.ts';
import type { MailEnvelope } from './mailbox.ts';
import type { ParsedMail } from './parsed-mail.ts';
import { recipientOf } from './recipients.ts';

/**
 * What is known of a mail whose source must not be touched again: it ended the process three times. Its key
 * is the envelope's; read at last by a person's replay, it keeps that key and its one line.
 */
export function quarantineByEnvelope(envelope: MailEnvelope): ParsedMail {
  const { uid, receivedAt, size, messageId, subject, from, to } = envelope;
  const recipients = to.map((address) => recipientOf('to', address));
  const identity = createHash('sha256')
    .update(`envelope ${uid} ${receivedAt.toISOString()} ${size}`)
    .digest();
  return {
    outcome: 'quarantined',
    reason: 'attempts_exhausted',
    mailKey: mailKey({ messageId, recipients, body: '', source: identity }),
    ...(messageId ? { messageId: cleanLine(messageId) } : {}),
    ...(subject ? { subject: cleanLine(subject) } : {}),
    ...(from ? { from: cleanLine(from).toLowerCase() } : {}),
    recipients,
    fields: {},
    text: '',
  };
}
