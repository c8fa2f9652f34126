import type { MailboxObject, SearchObject } from 'imapflow';
import { createImapConnection, type ImapConnection, type ImapOptions } from './imap-connection.ts';
import { mailboxError } from './imap-errors.ts';
import { createFetcher, fullSourceLimit, hasSeen } from './imap-fetch.ts';
import type { ImapSettings, Mailbox, MailEnvelope, OpenMailbox } from './mailbox.ts';

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

  /** Those of `uids` that the folder still holds. */
  async function existing(uids: readonly number[]): Promise<number[]> {
    const found = new Set(await search({ uid: uids.join(',') }));
    return uids.filter((uid) => found.has(uid));
  }

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
      const envelopes = await fetcher.envelopes(uids);
      const missing = uids.filter((uid) => !envelopes.has(uid));
      // Left out of the answer is not yet gone: whoever takes it for gone would lose the mail.
      if (missing.length > 0 && (await existing(missing)).length > 0) {
        throw mailboxError('fetch_refused', 'fetch', 'NO_ENVELOPE');
      }
      for (const [uid, envelope] of envelopes) known.set(uid, envelope);
      return envelopes;
    },

    async fetch(uid) {
      const envelope = known.get(uid) ?? (await fetcher.envelopes([uid])).get(uid);
      const source = envelope && (await fetcher.source(uid, envelope.size));
      if (source) return { ...envelope, source, reduced: envelope.size > fullSourceLimit };
      if ((await existing([uid])).length === 0) return undefined;
      throw mailboxError('fetch_refused', 'fetch', 'NO_SOURCE');
    },

    recipientHeaders: fetcher.recipientHeaders,

    async markSeen(uid) {
      if (readOnly) return true;
      await connection.run('store', (client) => client.messageFlagsAdd([uid], ['\\Seen'], { uid: true }));
      // The answer of STORE proves nothing, in either direction: look.
      const row = await fetcher.row(uid, { flags: true });
      return row ? hasSeen(row) : (await existing([uid])).length === 0;
    },

    close: connection.close,
  };
}
