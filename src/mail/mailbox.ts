/** One mailbox folder as a port; the adapter is imap-mailbox.ts. Every method rejects with MailboxError. */
export interface Mailbox {
  readonly name: string;
  readonly uidValidity: number;
  /** UIDNEXT at the time of opening: the smallest UID that a new mail can have. */
  readonly uidNext: number;
  /** UIDs without \Seen, ascending. A search that answers empty while STATUS counts unseen mail rejects. */
  unseen(): Promise<number[]>;
  /** UIDs >= `uid`, ascending. (IMAP's `n:*` names the last mail even if its UID is lower: filtered here.) */
  from(uid: number): Promise<number[]>;
  /** UIDs whose INTERNALDATE is `since` or later, ascending. */
  since(since: Date): Promise<number[]>;
  /** Envelopes of those that still exist, by UID. A mail that the server can't parse has only date and size. */
  envelopes(uids: readonly number[]): Promise<Map<number, MailEnvelope>>;
  /** The mail's source without setting \Seen; `undefined` when the mail is gone. */
  fetch(uid: number): Promise<FetchedMail | undefined>;
  /** The header lines that name recipients, without the rest of the mail; `undefined` when there are none to have. */
  recipientHeaders(uid: number): Promise<Buffer | undefined>;
  /** Sets \Seen and checks that it stuck. `false` = the server did not keep it. Read-only: `true`, untouched. */
  markSeen(uid: number): Promise<boolean>;
  /** Never rejects and never hangs. */
  close(): Promise<void>;
}

export interface MailEnvelope {
  uid: number;
  /** INTERNALDATE: the server's arrival time. */
  receivedAt: Date;
  /** RFC822.SIZE in bytes. */
  size: number;
  seen: boolean;
  messageId?: string;
  subject?: string;
  from?: string;
  to: string[];
}

export interface FetchedMail extends MailEnvelope {
  /** RFC 822 source. Above 5 MB: the headers and the text parts only, as a source of their own. */
  source: Buffer;
  reduced: boolean;
}

/**
 * What went wrong, as a closed set: `login_refused` is the only one that speaks of wrong credentials;
 * `throttled` ends the run; all others are tried again at the next tick.
 */
export type MailboxErrorCode =
  | 'connect_failed'
  | 'login_refused'
  | 'login_unavailable'
  | 'mailbox_unavailable'
  | 'search_refused'
  | 'fetch_refused'
  | 'throttled'
  | 'timeout'
  | 'connection_lost';

export class MailboxError extends Error {
  override name = 'MailboxError';
  readonly code: MailboxErrorCode;
  constructor(code: MailboxErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The IMAP parameter, as JSON in SSM. */
export interface ImapSettings {
  host: string;
  port: number;
  secure: boolean;
  user: string;
  /** One of `pass` and `accessToken` is there. */
  pass?: string;
  accessToken?: string;
  mailboxes: string[];
  /** Opened with EXAMINE: nothing is flagged. For trying a mailbox that somebody else works on. */
  readOnly?: boolean;
}

/** Opens one folder on a fresh connection. */
export type OpenMailbox = (settings: ImapSettings, mailbox: string) => Promise<Mailbox>;
