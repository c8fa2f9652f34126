import { openImapMailbox } from '../src/mail/imap-mailbox.ts';
import type { FedMail } from './feed.ts';
import type { LocalMailbox } from './imap.ts';
import type { RemoteMailbox } from './options.ts';

/** As the poller's first tick: unseen mail and that of the last three days, never the mailbox's history. */
const lookBackMs = 3 * 24 * 60 * 60_000;
const maximumMails = 200;

/** Copies what has not been copied yet; with the number of older mails that were left out. */
export type CopyNewMail = () => Promise<{ mails: FedMail[]; leftOut: number }>;

/**
 * Copies mail from a real mailbox into the local one, arrival times included. The real one is opened with
 * EXAMINE and only ever read, so nothing changes there whatever the poller does to the copies.
 */
export function createRemoteReader(
  { folder, ...server }: RemoteMailbox,
  password: string,
  mailbox: LocalMailbox,
): CopyNewMail {
  const settings = { ...server, pass: password, mailboxes: [folder], readOnly: true };
  const known = new Set<string>();
  return async () => {
    const source = await openImapMailbox(settings, folder);
    try {
      const keyOf = (uid: number) => `${source.uidValidity}/${uid}`;
      const found = [...(await source.unseen()), ...(await source.since(new Date(Date.now() - lookBackMs)))];
      const fresh = [...new Set(found)].filter((uid) => !known.has(keyOf(uid))).sort((a, b) => a - b);
      const chosen = fresh.slice(-maximumMails);
      for (const uid of fresh) known.add(keyOf(uid));
      const mails: FedMail[] = [];
      for (const uid of chosen) {
        const mail = await source.fetch(uid);
        if (mail) mails.push({ uid: mailbox.append(mail.source, mail.receivedAt), source: mail.source });
      }
      return { mails, leftOut: fresh.length - chosen.length };
    } finally {
      await source.close();
    }
  };
}
