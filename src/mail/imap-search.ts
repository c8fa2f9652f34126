import { createImapConnection, type ImapOptions } from './imap-connection.ts';
import { mailboxError } from './imap-errors.ts';
import type { ImapSettings } from './mailbox.ts';

/** Finds mails of one folder by Message-ID. Rejects with MailboxError. */
export interface MessageIdSearch {
  /** UIDs of the mails whose Message-ID contains this text, ascending. */
  find(messageId: string): Promise<number[]>;
  /** Never rejects and never hangs. */
  close(): Promise<void>;
}

/** Opens the folder read-only on a connection of its own, for a mail whose UID is no longer known. */
export async function openMessageIdSearch(
  settings: ImapSettings,
  folder: string,
  options: ImapOptions = {},
): Promise<MessageIdSearch> {
  const connection = createImapConnection(settings, options);
  try {
    await connection.run('connect', (client) => client.connect());
    await connection.run('select', (client) => client.getMailboxLock(folder, { readOnly: true }));
  } catch (error) {
    await connection.close();
    throw error;
  }
  return {
    async find(messageId) {
      const query = { header: { 'Message-ID': messageId } };
      const found = await connection.run('search', (client) => client.search(query, { uid: true }));
      if (!found) throw mailboxError('search_refused', 'search');
      return found;
    },
    close: connection.close,
  };
}
