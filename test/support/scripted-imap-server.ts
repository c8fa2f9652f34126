import { createServer, type Socket } from 'node:net';
import type { ImapSettings } from '../../src/mail/mailbox.ts';

export interface ScriptedMail {
  uid: number;
  raw: string;
  seen?: boolean;
  /** `03-Nov-2026 14:15:00 +0000` */
  internalDate?: string;
}

/** One command as a script sees it. `usual` gives the answer of a well-behaved server. */
interface ScriptedCommand {
  tag: string;
  line: string;
  /** How often this command came so far, from 1, over all connections. */
  count: number;
  socket: Socket;
  say(...lines: string[]): void;
  usual(): void;
}
export type Script = (command: ScriptedCommand) => void;

/** `tag NO [UNAVAILABLE] …` and the like. */
export const refuse =
  (answer: string): Script =>
  ({ tag, say }) =>
    say(`${tag} ${answer}`);

/** Takes the command and never answers. */
export const stall: Script = () => {};

/** Drops the connection instead of answering. */
export const cut: Script = ({ socket }) => {
  socket.destroy();
};

/** Says goodbye and hangs up. */
export const bye =
  (reason: string): Script =>
  ({ say, socket }) => {
    say(`* BYE ${reason}`);
    socket.end();
  };

/** Announces a source of 1000 bytes, sends a few of them, then nothing. */
export const stopInLiteral: Script = ({ socket, line }) => {
  const uid = /UID FETCH (\d+)/.exec(line)?.[1] ?? '1';
  socket.write(`* 1 FETCH (UID ${uid} BODY[] {1000}\r\nFrom: web@forms`);
};

export interface ScriptedServer {
  settings: ImapSettings;
  /** Every command line received, without its tag, over all connections. */
  received: string[];
  /** The mails as they are now. */
  mails: ScriptedMail[];
  connections(): number;
  stop(): Promise<void>;
}

/**
 * An IMAP server that behaves, except where a script says otherwise. Scripts are keyed by the command's
 * name: `LOGIN`, `SELECT`, `STATUS`, `UID SEARCH`, `UID FETCH`, `UID STORE`, …; `GREETING` stands for the
 * first line.
 */
export async function startScriptedImapServer(
  scripts: Record<string, Script> = {},
  mails: ScriptedMail[] = [],
): Promise<ScriptedServer> {
  const received: string[] = [];
  const counts = new Map<string, number>();
  const sockets = new Set<Socket>();
  let connections = 0;

  function handle(socket: Socket, name: string, tag: string, line: string, usual: (say: Say) => void): void {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const say = (...lines: string[]) => {
      if (!socket.destroyed) socket.write(lines.map((each) => `${each}\r\n`).join(''), 'latin1');
    };
    const command: ScriptedCommand = { tag, line, count, socket, say, usual: () => usual(say) };
    (scripts[name] ?? (({ usual: answer }) => answer()))(command);
  }

  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    handle(socket, 'GREETING', '*', '', (say) => say('* OK ready'));
    let buffered = '';
    socket.on('data', (chunk) => {
      buffered += chunk.toString('latin1');
      for (let end = buffered.indexOf('\r\n'); end >= 0; end = buffered.indexOf('\r\n')) {
        const [, tag = '', line = ''] = /^(\S+) (.*)$/.exec(buffered.slice(0, end)) ?? [];
        buffered = buffered.slice(end + 2);
        received.push(line);
        const name = (/^(?:UID )?\w+/i.exec(line)?.[0] ?? '').toUpperCase();
        handle(socket, name, tag, line, (say) => {
          say(...usualAnswer(name, line, mails), `${tag} OK done`);
          if (name === 'LOGOUT') socket.end();
        });
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
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
    received,
    mails,
    connections: () => connections,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

type Say = (...lines: string[]) => void;

function usualAnswer(name: string, line: string, mails: ScriptedMail[]): string[] {
  const last = mails.at(-1)?.uid ?? 0;
  switch (name) {
    case 'CAPABILITY':
      return ['* CAPABILITY IMAP4rev1'];
    case 'LIST':
      return ['* LIST () "/" INBOX'];
    case 'SELECT':
    case 'EXAMINE':
      return [
        `* ${mails.length} EXISTS`,
        '* OK [PERMANENTFLAGS (\\Seen)] kept',
        '* OK [UIDVALIDITY 7] valid',
        `* OK [UIDNEXT ${last + 1}] next`,
      ];
    case 'STATUS':
      return [`* STATUS INBOX (UNSEEN ${mails.filter(({ seen }) => !seen).length})`];
    case 'UID SEARCH':
      return [`* SEARCH ${search(line, mails).join(' ')}`.trimEnd()];
    case 'UID FETCH':
      return mails.flatMap((mail, index) =>
        inSet(line, mail.uid, last) ? [fetchRow(line, mail, index)] : [],
      );
    case 'UID STORE':
      for (const mail of mails) if (inSet(line, mail.uid, last)) mail.seen = true;
      return [];
    case 'LOGOUT':
      return ['* BYE see you'];
    default:
      return [];
  }
}

function search(line: string, mails: ScriptedMail[]): number[] {
  const uids = mails.map(({ uid }) => uid);
  if (line.includes('UNSEEN')) return mails.filter(({ seen }) => !seen).map(({ uid }) => uid);
  const range = /UID (\d+):\*/.exec(line)?.[1];
  // RFC 3501: `n:*` always holds the last message.
  if (range) return uids.filter((uid) => uid >= Number(range) || uid === uids.at(-1));
  return /^UID SEARCH UID \d/.test(line) ? uids.filter((uid) => inSet(line, uid, 0)) : uids;
}

/** Is `uid` in the command's sequence set? */
function inSet(line: string, uid: number, last: number): boolean {
  const set = /^UID (?:SEARCH UID|FETCH|STORE) (\S+)/.exec(line)?.[1] ?? '';
  return set.split(',').some((range) => {
    const [from = 0, to = from] = range.split(':').map((end) => (end === '*' ? last : Number(end)));
    return uid >= from && uid <= to;
  });
}

/** The header lines that the command names. */
function headerFields(line: string, raw: string): string {
  const [, section = '', names = ''] = /BODY\.PEEK(\[HEADER\.FIELDS \(([^)]*)\)\])/i.exec(line) ?? [];
  const wanted = names.toLowerCase().split(/[\s"]+/);
  const head = raw.split('\r\n\r\n', 1)[0] ?? '';
  const lines = head
    .split('\r\n')
    .filter((each) => wanted.includes(each.split(':', 1)[0]?.toLowerCase() ?? ''));
  const text = `${lines.join('\r\n')}\r\n\r\n`;
  return `BODY${section} {${Buffer.byteLength(text, 'latin1')}}\r\n${text}`;
}

function fetchRow(line: string, mail: ScriptedMail, index: number): string {
  const { uid, raw, seen, internalDate = '03-Nov-2026 14:15:00 +0000' } = mail;
  const items = [
    `UID ${uid}`,
    line.includes('FLAGS') ? `FLAGS (${seen ? '\\Seen' : ''})` : '',
    line.includes('INTERNALDATE') ? `INTERNALDATE "${internalDate}"` : '',
    line.includes('RFC822.SIZE') ? `RFC822.SIZE ${Buffer.byteLength(raw, 'latin1')}` : '',
    line.includes('ENVELOPE') ? 'ENVELOPE NIL' : '',
    line.includes('HEADER.FIELDS') ? headerFields(line, raw) : '',
    line.includes('BODY.PEEK[]') ? `BODY[] {${Buffer.byteLength(raw, 'latin1')}}\r\n${raw}` : '',
  ];
  return `* ${index + 1} FETCH (${items.filter((item) => item !== '').join(' ')})`;
}
