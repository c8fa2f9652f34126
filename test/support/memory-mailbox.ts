import { type Mailbox, MailboxError, type MailEnvelope } from '../../src/mail/mailbox.ts';

export interface MemoryMail {
  uid: number;
  source: string;
  receivedAt: Date;
  seen: boolean;
}

/** A folder in memory, for tests of what happens around it; the adapter is tested on real servers. */
export class MemoryMailbox implements Mailbox {
  readonly name = 'INBOX';
  readonly uidValidity = 1;
  readonly mails: MemoryMail[] = [];
  /** UIDs in the order in which their source was fetched. */
  readonly fetched: number[] = [];
  closed = false;

  add(source: string, { seen = false, receivedAt = new Date('2026-11-03T14:00:00Z') } = {}): number {
    const uid = this.uidNext;
    this.mails.push({ uid, source, receivedAt, seen });
    return uid;
  }
  get uidNext(): number {
    return (this.mails.at(-1)?.uid ?? 0) + 1;
  }
  async unseen(): Promise<number[]> {
    return this.mails.filter(({ seen }) => !seen).map(({ uid }) => uid);
  }
  async from(uid: number): Promise<number[]> {
    return this.mails.map((mail) => mail.uid).filter((other) => other >= uid);
  }
  async since(since: Date): Promise<number[]> {
    return this.mails.filter(({ receivedAt }) => receivedAt >= since).map(({ uid }) => uid);
  }
  async envelopes(uids: readonly number[]): Promise<Map<number, MailEnvelope>> {
    return new Map(
      this.mails.filter(({ uid }) => uids.includes(uid)).map((mail) => [mail.uid, envelope(mail)]),
    );
  }
  async fetch(uid: number) {
    this.fetched.push(uid);
    const mail = this.mails.find((other) => other.uid === uid);
    return mail && { ...envelope(mail), source: Buffer.from(mail.source), reduced: false };
  }
  async recipientHeaders(uid: number) {
    return Buffer.from(this.mails.find((mail) => mail.uid === uid)?.source ?? '');
  }
  async markSeen(uid: number): Promise<boolean> {
    const mail = this.mails.find((other) => other.uid === uid);
    if (!mail) throw new MailboxError('fetch_refused', 'no such mail');
    mail.seen = true;
    return true;
  }
  async close(): Promise<void> {
    this.closed = true;
  }
}

function envelope({ uid, receivedAt, seen, source }: MemoryMail): MailEnvelope {
  return { uid, receivedAt, seen, size: source.length, to: [] };
}
