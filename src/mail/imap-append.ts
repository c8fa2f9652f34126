import { createImapConnection, type ImapOptions } from './imap-connection.ts';
import { mailboxError } from './imap-errors.ts';
import type { ImapSettings } from './mailbox.ts';

/**
 * Puts a mail into a folder as if it had just arrived, unseen.
 *
 * @returns its UID, where the server tells it (UIDPLUS)
 * @throws MailboxError
 */
export async function appendMail(
  settings: ImapSettings,
  folder: string,
  source: Buffer,
  options: ImapOptions = {},
): Promise<number | undefined> {
  const connection = createImapConnection(settings, options);
  try {
    await connection.run('connect', (client) => client.connect());
    const answer = await connection.run('store', (client) => client.append(folder, source));
    if (!answer) throw mailboxError('mailbox_unavailable', 'store');
    return answer.uid;
  } finally {
    await connection.close();
  }
}
