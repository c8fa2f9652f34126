import hoodiecrow from 'hoodiecrow-imap';
import type { ImapSettings } from '../../src/mail/mailbox.ts';

const plugins = [
  ...['ID', 'AUTH-PLAIN', 'SASL-IR', 'IDLE', 'NAMESPACE', 'LITERALPLUS', 'ENABLE', 'UNSELECT'],
  ...['SPECIAL-USE', 'MOVE', 'UIDPLUS'],
];

export interface Hoodiecrow {
  settings: ImapSettings;
  /** Puts a mail into INBOX, byte for byte, and answers its UID. */
  deliver(raw: string | Buffer, receivedAt?: Date, flags?: string[]): number;
  /** The flags of a mail in INBOX as they are now. */
  flags(uid: number): string[];
  stop(): Promise<void>;
}

/** An IMAP server in this process, gone with it. User `leads@test.example`, password `secret`. */
export async function startHoodiecrow(): Promise<Hoodiecrow> {
  const server = hoodiecrow({
    plugins,
    storage: { INBOX: { uidvalidity: 7 } },
    users: { 'leads@test.example': { password: 'secret' } },
  });
  const sockets = new Set<import('node:net').Socket>();
  server.server.on('connection', (socket) => {
    // Answers come in several small writes: each would wait 40 ms for the client's acknowledgement.
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');

  return {
    settings: {
      host: '127.0.0.1',
      port: address.port,
      secure: false,
      user: 'leads@test.example',
      pass: 'secret',
      mailboxes: ['INBOX'],
    },
    deliver(raw, receivedAt = new Date(), flags = []) {
      const bytes = typeof raw === 'string' ? Buffer.from(raw) : raw;
      return server.appendMessage('INBOX', flags, internalDate(receivedAt), bytes.toString('binary')).message
        .uid;
    },
    flags: (uid) => server.getMailbox('INBOX').messages.find((message) => message.uid === uid)?.flags ?? [],
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** `03-Nov-2026 14:15:00 +0000` */
function internalDate(date: Date): string {
  const [, day, month, year, time] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+)/.exec(date.toUTCString()) ?? [];
  return `${day}-${month}-${year} ${time} +0000`;
}
