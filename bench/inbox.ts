import { ImapFlow } from 'imapflow';
import type { ImapSettings } from '../src/mail/mailbox.ts';

/** One connection on the open INBOX, by imapflow alone. */
export async function withInbox<T>(
  { host, port, secure, user, pass = '' }: ImapSettings,
  work: (client: ImapFlow) => Promise<T>,
): Promise<T> {
  const client = new ImapFlow({
    ...{ host, port, secure, doSTARTTLS: false, auth: { user, pass } },
    ...{ logger: false, disableAutoIdle: true, disableCompression: true },
  });
  await client.connect();
  try {
    await client.mailboxOpen('INBOX');
    return await work(client);
  } finally {
    await client.logout();
  }
}
