import { createHash } from 'node:crypto';
import type { Recipient } from './parsed-mail.ts';

export interface MailKeyParts {
  messageId: string | undefined;
  recipients: readonly Recipient[];
  /** Decoded text of the body: independent of how later versions render HTML. */
  body: string;
  source: Uint8Array;
}

/**
 * SHA-256 in hex of Message-ID, recipient address used and body text; without a Message-ID, of the raw source.
 * From the mail alone, so that neither a corrected store mapping nor a second poll makes another mail of it.
 */
export function mailKey({ messageId, recipients, body, source }: MailKeyParts): string {
  const id = normaliseMessageId(messageId ?? '');
  if (id === '') return createHash('sha256').update(source).digest('hex');
  const recipient = usedRecipient(recipients)?.address.toLowerCase() ?? '';
  const hash = createHash('sha256');
  // Each part with its length before it, so that two different mails can't run together to one.
  for (const part of [id, recipient, normaliseBody(body)]) hash.update(`${part.length}:${part}`);
  return hash.digest('hex');
}

/** The first recipient in look-up order with a tracking tag, else the first To, else the first. */
function usedRecipient(recipients: readonly Recipient[]): Recipient | undefined {
  return (
    recipients.find(({ trackingId }) => trackingId !== undefined) ??
    recipients.find(({ source }) => source === 'to') ??
    recipients[0]
  );
}

function normaliseMessageId(id: string): string {
  return id.replace(/[\s<>]+/g, '');
}

function normaliseBody(body: string): string {
  return body.replace(/\s+/g, ' ').trim().normalize('NFC');
}
