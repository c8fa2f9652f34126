import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import hoodiecrow from 'hoodiecrow-imap';
import parseMime from 'hoodiecrow-imap/lib/mimeparser.js';

const folder = 'INBOX';
const user = 'leads@local';
const password = 'local';

/** A mailbox of this run, spoken to over IMAP by the poller and filled from inside. */
export interface LocalMailbox {
  /** What the poller's SSM parameter holds. */
  settings: { host: string; port: number; secure: boolean; user: string; pass: string };
  folder: string;
  uidValidity: number;
  /** Puts a mail into the box and returns its UID. `receivedAt` becomes the INTERNALDATE. */
  append(source: Buffer, receivedAt: Date): number;
  /** UIDs that the poller has not marked as seen. */
  unseen(): number[];
  close(): Promise<void>;
}

/** hoodiecrow in process, on 127.0.0.1. */
export async function startMailbox(): Promise<LocalMailbox> {
  const imap = hoodiecrow({
    plugins: [
      'ID',
      'AUTH-PLAIN',
      'SASL-IR',
      'IDLE',
      'NAMESPACE',
      'LITERALPLUS',
      'ENABLE',
      'UNSELECT',
      'SPECIAL-USE',
      'MOVE',
      'UIDPLUS',
    ],
    storage: { [folder]: {}, '': { separator: '/', type: 'personal' } },
    users: { [user]: { password } },
  });
  imap.listen(0, '127.0.0.1', () => undefined);
  await once(imap.server, 'listening');
  const sockets = new Set<Socket>();
  imap.server.on('connection', (socket) => {
    // Answers come in several small writes: each would wait 40 ms for the client's acknowledgement.
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const { port } = imap.server.address() as AddressInfo;
  return {
    settings: { host: '127.0.0.1', port, secure: false, user, pass: password },
    folder,
    uidValidity: imap.getMailbox(folder).uidvalidity,
    append(source, receivedAt) {
      // One character a byte: hoodiecrow sends its strings as they are.
      const raw = source.toString('latin1');
      const { message } = imap.appendMessage(folder, [], internalDate(receivedAt), raw);
      message.parsed = parseLeniently(raw);
      return message.uid;
    },
    unseen: () =>
      imap
        .getMailbox(folder)
        .messages.filter(({ flags }) => !flags.includes('\\Seen'))
        .map(({ uid }) => uid),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        imap.close(resolve);
      }),
  };
}

/**
 * What hoodiecrow makes envelope and structure of. A mail whose address headers it can't parse would not be
 * handed out at all; a real server hands out everything.
 */
function parseLeniently(raw: string): object {
  try {
    return parseMime(raw);
  } catch {
    return parseMime(raw.replaceAll(/^(From|Sender|Reply-To|To|Cc|Bcc):.*$/gim, ''));
  }
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** IMAP's date-time in UTC, as `03-Nov-2026 14:15:00 +0000`. */
function internalDate(date: Date): string {
  const [year, month, day] = date.toISOString().slice(0, 10).split('-');
  return `${day}-${months[Number(month) - 1]}-${year} ${date.toISOString().slice(11, 19)} +0000`;
}
