import { type LocalMailbox, startMailbox } from '../local/imap.ts';
import type { ImapSettings } from '../src/mail/mailbox.ts';
import { dovecotMissing, startDovecot } from '../test/support/dovecot.ts';

/** An IMAP account with an INBOX of its own. */
export interface Box {
  settings: ImapSettings;
  /** Puts mails into the INBOX, UNSEEN, with this INTERNALDATE. */
  deliver(mails: readonly Buffer[], receivedAt: Date): Promise<void>;
}

export interface MailServer {
  /** For the report: numbers against hoodiecrow say little. */
  name: string;
  newBox(): Promise<Box>;
  stop(): Promise<void>;
}

/** Dovecot in a process of its own; where it is missing, hoodiecrow in this one. */
export async function startMailServer(): Promise<MailServer> {
  return dovecotMissing ? hoodiecrowServer() : dovecotServer();
}

async function dovecotServer(): Promise<MailServer> {
  const dovecot = await startDovecot();
  return {
    name: 'Dovecot',
    async newBox() {
      const { settings, deliver } = await dovecot.newUser();
      return {
        settings,
        async deliver(mails, receivedAt) {
          for (const mail of mails) await deliver(mail, receivedAt);
        },
      };
    },
    stop: dovecot.stop,
  };
}

function hoodiecrowServer(): MailServer {
  const boxes: LocalMailbox[] = [];
  return {
    name: 'hoodiecrow (Dovecot is missing)',
    async newBox() {
      const box = await startMailbox();
      boxes.push(box);
      return {
        settings: { ...box.settings, mailboxes: [box.folder] },
        async deliver(mails, receivedAt) {
          for (const mail of mails) box.append(mail, receivedAt);
        },
      };
    },
    async stop() {
      await Promise.all(boxes.map((box) => box.close()));
    },
  };
}
