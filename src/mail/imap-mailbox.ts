import type { MailboxObject, SearchObject } from 'imapflow';
import { createImapConnection, type ImapConnection, type ImapOptions } from './imap-connection.ts';
import { mailboxError } from './imap-errors.ts';
import { createFetcher, fullSourceLimit, hasSeen } from './imap-fetch.ts';
import {
  type ImapSettings,
  type Mailbox,
  MailboxError,
  type MailEnvelope,
  type OpenMailbox,
} from './mailbox.ts';

const dayMs = 24 * 60 * 60_000;

/**
 * Opens one folder over IMAP, on a connection of its own.
 *
 * @throws MailboxError, as do all methods of the mailbox; its message holds no server text.
 */
export const openImapMailbox = (async (
  settings: ImapSettings,
  name: string,
  options: ImapOptions = {},
): Promise<Mailbox> => {
  const connection = createImapConnection(settings, options);
  const readOnly = settings.readOnly === true;
  try {
    await connection.run('connect', (client) => client.connect());
    // A lock, not just SELECT: while it is held, silence between two commands is not a time-out.
    await connection.run('select', (client) => client.getMailboxLock(name, { readOnly }));
    const opened = connection.client.mailbox || undefined;
    if (!opened?.uidValidity || !opened.uidNext) throw mailboxError('mailbox_unavailable', 'select');
    return imapMailbox(connection, name, opened, readOnly);
  } catch (error) {
    await connection.close();
    throw error;
  }
}) satisfies OpenMailbox;

function imapMailbox(
  connection: ImapConnection,
  name: string,
  { uidValidity, uidNext }: MailboxObject,
  readOnly: boolean,
): Mailbox {
  const fetcher = createFetcher(connection);
  const known = new Map<number, MailEnvelope>();

  async function search(query: SearchObject): Promise<number[]> {
    const found = await connection.run('search', (client) => client.search(query, { uid: true }));
    if (!found) throw mailboxError('search_refused', 'search');
    return found;
  }

  const isGone = async (uid: number) => !(await search({ uid: String(uid) })).includes(uid);

  return {
    name,
    uidValidity: Number(uidValidity),
    uidNext,

    async unseen() {
      const found = await search({ seen: false });
      if (found.length > 0) return found;
      const status = await connection.run('search', (client) => client.status(name, { unseen: true }));
      if (!status || (status.unseen ?? 0) === 0) return found;
      // Either a mail came between the two answers, or the server's search lies.
      const again = await search({ seen: false });
      if (again.length === 0) throw mailboxError('search_refused', 'search', 'EMPTY_BUT_UNSEEN');
      return again;
    },

    async from(uid) {
      return (await search({ uid: `${uid}:*` })).filter((found) => found >= uid);
    },

    async since(since) {
      // SINCE compares days in the server's own zone: ask for one more, then compare the instants.
      const found = await search({ since: new Date(since.getTime() - dayMs) });
      const rows = await fetcher.rows(found, { internalDate: true });
      return found.filter((uid) => {
        const received = rows.get(uid)?.internalDate;
        return !(received instanceof Date) || received >= since;
      });
    },

    async envelopes(uids) {
      const envelopes = await fetcher.envelopes(uids).catch((error: unknown) => {
        // One unreadable mail can make a server refuse them all; `fetch` asks for each by itself.
        if (error instanceof MailboxError && error.code === 'fetch_refused')
          return new Map<number, MailEnvelope>();
        throw error;
      });
      for (const [uid, envelope] of envelopes) known.set(uid, envelope);
      return envelopes;
    },

    async fetch(uid) {
      const envelope = known.get(uid) ?? (await fetcher.envelopes([uid])).get(uid);
      const source = envelope && (await fetcher.source(uid, envelope.size));
      if (source) return { ...envelope, source, reduced: envelope.size > fullSourceLimit };
      if (await isGone(uid)) return undefined;
      throw mailboxError('fetch_refused', 'fetch', 'NO_SOURCE');
    },

    async markSeen(uid) {
      if (readOnly) return true;
      await connection.run('store', (client) => client.messageFlagsAdd([uid], ['\\Seen'], { uid: true }));
      // The answer of STORE proves nothing, in either direction: look.
      const row = await fetcher.row(uid, { flags: true });
      return row ? hasSeen(row) : isGone(uid);
    },

    close: connection.close,
  };
}
