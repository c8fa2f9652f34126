import * as z from 'zod';
import type { ImapSettings } from './mailbox.ts';

const text = z.string().min(1);

const schema = z
  .object({
    host: text,
    port: z.int().min(1).max(65_535),
    secure: z.boolean(),
    user: text,
    pass: text.exactOptional(),
    accessToken: text.exactOptional(),
    mailboxes: z.array(text).min(1).default(['INBOX']),
    readOnly: z.boolean().exactOptional(),
  })
  .refine(({ pass, accessToken }) => pass !== undefined || accessToken !== undefined, {
    path: ['pass'],
    message: 'pass or accessToken is needed',
  });

/** The IMAP parameter can't be used. The message names the field and never holds a value. */
class ImapSettingsError extends Error {
  override name = 'ImapSettingsError';
}

/**
 * Reads the IMAP parameter: JSON `{host, port, secure, user, pass | accessToken, mailboxes?, readOnly?}`.
 *
 * @throws ImapSettingsError
 */
export function parseImapSettings(json: string): ImapSettings {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // The parser's own message quotes the text, and with it perhaps the password.
    throw new ImapSettingsError('IMAP parameter: not valid JSON');
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'value'}: ${message}`);
  throw new ImapSettingsError(`IMAP parameter: ${faults.join('; ')}`);
}
