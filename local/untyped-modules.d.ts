/** The parts that the local run uses of packages that come without types. */
declare module 'hoodiecrow-imap' {
  import type { Server } from 'node:net';

  interface Message {
    uid: number;
    flags: string[];
    /** Kept from the first FETCH on; made from `raw` if it is not there. */
    parsed?: object;
  }

  interface Mailbox {
    uidvalidity: number;
    messages: Message[];
  }

  interface ImapServer {
    server: Server;
    listen(port: number, host: string, callback: () => void): void;
    close(callback: () => void): void;
    getMailbox(path: string): Mailbox;
    /** `date` as `01-Nov-2026 09:15:00 +0000`; `raw` with one character a byte. */
    appendMessage(mailbox: string, flags: string[], date: string, raw: string): { message: Message };
  }

  export default function hoodiecrow(options: {
    plugins: string[];
    storage: Record<string, object>;
    users: Record<string, { password: string }>;
  }): ImapServer;
}

declare module 'hoodiecrow-imap/lib/mimeparser.js' {
  export default function parseMime(raw: string): object;
}

declare module 'dynalite' {
  import type { Server } from 'node:http';
  export default function dynalite(options?: { createTableMs?: number }): Server;
}
