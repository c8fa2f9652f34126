import { openImapMailbox } from '../mail/imap-mailbox.ts';
import { type MessageIdSearch, openMessageIdSearch } from '../mail/imap-search.ts';
import { type FetchedMail, type ImapSettings, type Mailbox, MailboxError } from '../mail/mailbox.ts';

/** Where a mail lay when the poller took it. */
export interface KnownPosition {
  mailbox: string;
  uidValidity: number;
  uid: number;
}

/** The stage's mailbox, read-only: nothing is flagged, so the poller takes no notice. Rejects with MailboxError. */
export interface MailArchive {
  /** The mail at that place; `undefined` when it is gone, or the folder was renumbered or removed. */
  at(position: KnownPosition): Promise<FetchedMail | undefined>;
  /** The mail that has this UID now, with the folder's UIDVALIDITY. */
  now(folder: string, uid: number): Promise<{ uidValidity: number; mail: FetchedMail } | undefined>;
  /** Every mail with this Message-ID, in this folder and those that are polled. */
  withMessageId(messageId: string, folder: string): Promise<FetchedMail[]>;
  close(): Promise<void>;
}

export function openMailArchive(settings: ImapSettings): MailArchive {
  const readOnly = { ...settings, readOnly: true };
  const folders = new Map<string, Promise<Mailbox | undefined>>();
  const searches = new Map<string, Promise<MessageIdSearch | undefined>>();

  const open = (folder: string) => once(folders, folder, () => openImapMailbox(readOnly, folder));
  const search = (folder: string) => once(searches, folder, () => openMessageIdSearch(readOnly, folder));

  return {
    async at({ mailbox, uidValidity, uid }) {
      const folder = await open(mailbox);
      return folder?.uidValidity === uidValidity ? folder.fetch(uid) : undefined;
    },
    async now(name, uid) {
      const folder = await open(name);
      const mail = await folder?.fetch(uid);
      return folder && mail && { uidValidity: folder.uidValidity, mail };
    },
    async withMessageId(messageId, own) {
      const mails: FetchedMail[] = [];
      for (const name of new Set([own, ...settings.mailboxes])) {
        for (const uid of (await (await search(name))?.find(messageId)) ?? []) {
          const mail = await (await open(name))?.fetch(uid);
          if (mail) mails.push(mail);
        }
      }
      return mails;
    },
    async close() {
      for (const opened of [...folders.values(), ...searches.values()]) {
        await (await opened.catch(() => undefined))?.close();
      }
    },
  };
}

/** Opens each folder once. One that isn't there (any more) is `undefined`. */
function once<T>(
  opened: Map<string, Promise<T | undefined>>,
  folder: string,
  open: () => Promise<T>,
): Promise<T | undefined> {
  const opening =
    opened.get(folder) ??
    open().catch((error: unknown) => {
      if (error instanceof MailboxError && error.code === 'mailbox_unavailable') return undefined;
      throw error;
    });
  opened.set(folder, opening);
  return opening;
}
