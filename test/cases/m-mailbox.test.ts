import { connect, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TickFailedError } from '../../src/leads/tick.ts';
import { parseMail } from '../../src/mail/parse.ts';
import { dovecotMissing, startDovecot } from '../support/dovecot.ts';
import { startDynamoDb } from '../support/dynamodb.ts';
import { imapPoller } from '../support/imap-poller.ts';
import {
  cut,
  refuse,
  type Script,
  type ScriptedMail,
  type ScriptedServer,
  stall,
  startScriptedImapServer,
  stopInLiteral,
} from '../support/scripted-imap-server.ts';

/** BASE of the cases page; `name` and `id` make others of it. */
function base(uid: number, { name = 'Ana', headers = [], ...mail }: BaseOptions = {}): ScriptedMail {
  const lines = [
    'From: web@forms.example',
    'To: lead-tracking+OTF0412@leads.example',
    `Message-ID: <a${uid}@forms.example>`,
    `Subject: Web Lead - ${name} Lopez`,
    'Date: Tue, 3 Nov 2026 09:15:00 -0500',
  ].filter((line) => !headers.some((header) => header.split(':')[0] === line.split(':')[0]));
  const body = `First Name: ${name}\r\nLast Name: Lopez\r\nPhone: (212) 555-0147\r\nEmail: ana@x.example\r\n`;
  const given = headers.filter((header) => !header.endsWith(':'));
  return {
    uid,
    raw: `${[...lines, ...given].join('\r\n')}\r\n\r\n${body}`,
    internalDate: '03-Nov-2026 13:50:00 +0000',
    ...mail,
  };
}
interface BaseOptions extends Partial<Omit<ScriptedMail, 'uid'>> {
  name?: string;
  /** In place of BASE's header of that name; nothing after the colon takes it away. */
  headers?: string[];
}

let dynamoDb: Awaited<ReturnType<typeof startDynamoDb>>;
const servers: ScriptedServer[] = [];
beforeAll(async () => {
  dynamoDb = await startDynamoDb();
});
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));
afterAll(() => dynamoDb.stop());

async function serve(scripts: Record<string, Script>, mails: ScriptedMail[]): Promise<ScriptedServer> {
  const server = await startScriptedImapServer(scripts, mails);
  servers.push(server);
  return server;
}

/** A server with these mails, and a poller on it. */
async function scene(
  mails: ScriptedMail[],
  scripts: Record<string, Script> = {},
  over: Parameters<typeof imapPoller>[2] = {},
) {
  const server = await serve(scripts, mails);
  const poller = await imapPoller(dynamoDb, server.settings, over);
  const uids = () => poller.taken.map(({ position }) => position.uid);
  const keys = () => poller.taken.map(({ parsed }) => parsed.mailKey);
  const unseen = () => server.mails.filter(({ seen }) => !seen).map(({ uid }) => uid);
  return { server, ...poller, uids, keys, unseen };
}

const failed = (code: string) => ({ message: expect.stringContaining(code), name: 'TickFailedError' });

describe('M: the server misbehaves', () => {
  it('M01 a server that falls silent after SELECT fails the run, not the process, and the next run works', async () => {
    const { tick, uids, meter } = await scene([base(1)], {
      'UID SEARCH': (command) => (command.count === 1 ? stall(command) : command.usual()),
    });
    await expect(tick()).rejects.toMatchObject(failed('timeout'));
    expect(meter.totals).toMatchObject({ PollerFailures: 1 });
    expect(uids()).toEqual([]);
    await tick();
    expect(uids()).toEqual([1]);
  });

  it('M02 flags each mail between two fetches without a deadlock', async () => {
    const { tick, uids, unseen } = await scene([base(1), base(2)]);
    const started = Date.now();
    await tick();
    expect(uids()).toEqual([1, 2]);
    expect(unseen()).toEqual([]);
    expect(Date.now() - started).toBeLessThan(5_000);
  });

  it('M03 stops cleanly when the time is up after 10 of 50 mails', async () => {
    const mails = Array.from({ length: 50 }, (_, index) => base(index + 1));
    let asked = 0;
    const { tick, uids, unseen, server } = await scene(
      mails,
      {},
      {
        // Asked once for the lease, then before each mail.
        remainingMs: () => (++asked > 11 ? 19_999 : 240_000),
      },
    );
    expect(await tick()).toMatchObject({ INBOX: { settled: 10, stopped: 'deadline' } });
    expect(uids()).toHaveLength(10);
    expect(unseen()).toHaveLength(40);
    expect(server.received.at(-1)).toBe('LOGOUT');
  });

  it('M04 an empty box is a success, and no FETCH is sent that the server would refuse', async () => {
    const { tick, uids, server, meter } = await scene([], { 'UID FETCH': refuse('BAD no messages') });
    expect(await tick()).toMatchObject({ INBOX: { candidates: 0 } });
    expect(uids()).toEqual([]);
    expect(meter.totals).toMatchObject({ PollerRuns: 1, PollerFailures: 0 });
    expect(server.received.filter((line) => line.includes('FETCH'))).toEqual([]);
  });

  it.each<[string, Script]>([
    ['refused', refuse('NO read-only')],
    ['acknowledged and not kept', refuse('OK done')],
    ['cut', cut],
    ['unanswered', stall],
  ])(
    'M06 STORE %s: reported, the lead is taken once, and not again by later runs',
    async (answer, script) => {
      const { tick, uids, meter, log, unseen } = await scene([base(1)], { 'UID STORE': script });
      const linkLost = ['cut', 'unanswered'].includes(answer);
      const run = tick().then(
        () => 'done',
        ({ name }: Error) => name,
      );
      expect(await run).toBe(linkLost ? 'TickFailedError' : 'done');
      expect(meter.totals.MailNotMarkedSeen).toBe(1);
      expect(log.lines.map(({ event }) => event)).toContain('mail.not_marked_seen');
      await tick();
      await tick();
      expect(unseen()).toEqual([1]);
      expect(uids()).toEqual([1]);
    },
  );

  it('M08 a connection closed during FETCH fails this run only: the next opens a fresh one', async () => {
    const { tick, uids, server } = await scene([base(1)], {
      'UID FETCH': (command) => (command.count === 1 ? cut(command) : command.usual()),
    });
    await expect(tick()).rejects.toBeInstanceOf(TickFailedError);
    await tick();
    expect(server.connections()).toBe(2);
    expect(uids()).toEqual([1]);
  });

  it('M09 a literal that stops half-way ends the run with a clear code, long before the Lambda limit', async () => {
    let stopped = false;
    const { tick, uids, unseen } = await scene([base(1)], {
      'UID FETCH': (command) => {
        if (stopped || !command.line.includes('BODY.PEEK[]')) return command.usual();
        stopped = true;
        stopInLiteral(command);
      },
    });
    const started = Date.now();
    await expect(tick()).rejects.toMatchObject(failed('timeout'));
    expect(Date.now() - started).toBeLessThan(3_000);
    expect(unseen()).toEqual([1]);
    await tick();
    expect(uids()).toEqual([1]);
  });

  it('M10 "authenticated but not connected" is no wrong password, and the next poll tries again', async () => {
    const { tick, uids } = await scene([base(1)], {
      SELECT: (command) =>
        command.count === 1
          ? refuse('BAD User is authenticated but not connected.')(command)
          : command.usual(),
    });
    await expect(tick()).rejects.toMatchObject(failed('mailbox_unavailable'));
    await tick();
    expect(uids()).toEqual([1]);
  });

  it('M11 throttling ends the run at once, keeps what was committed, and costs the mail no attempt', async () => {
    const throttle = refuse('BAD Request is throttled. Suggested Backoff Time: 60000 milliseconds');
    let throttled = true;
    const { tick, uids, unseen, state } = await scene([base(1), base(2)], {
      'UID FETCH': (command) =>
        throttled && command.line.startsWith('UID FETCH 2 ') ? throttle(command) : command.usual(),
    });
    const started = Date.now();
    for (let run = 0; run < 4; run += 1) await expect(tick()).rejects.toMatchObject(failed('throttled'));
    expect(Date.now() - started).toBeLessThan(4_000);
    expect(uids()).toEqual([1]);
    expect(unseen()).toEqual([2]);
    expect(await state.get('mail#INBOX#7')).toMatchObject({ attempts: {} });
    throttled = false;
    await tick();
    expect(uids()).toEqual([1, 2]);
  });

  it('M27 a refused login is a failed run, never "0 new leads"', async () => {
    const { tick, meter } = await scene([base(1)], { LOGIN: refuse('NO [AUTHENTICATIONFAILED] no') });
    await expect(tick()).rejects.toMatchObject(failed('login_refused'));
    expect(meter.totals).toMatchObject({ PollerFailures: 1 });
    expect(meter.totals.PollerRuns).toBeUndefined();
  });

  it('M28 a server that takes no logins at the moment has not refused the password', async () => {
    const { tick, uids } = await scene([base(1)], {
      LOGIN: (command) =>
        command.count === 1 ? refuse('NO [UNAVAILABLE] try later')(command) : command.usual(),
    });
    await expect(tick()).rejects.toMatchObject(failed('login_unavailable'));
    await tick();
    expect(uids()).toEqual([1]);
  });
});

describe('M: which mails count', () => {
  it('M13 a mail that failed below later ones is picked up after recovery, even if somebody opened it', async () => {
    let down = true;
    const taken: number[] = [];
    const { tick, server } = await scene(
      [base(1), base(2)],
      {},
      {
        take: async (_, { uid }) => {
          if (down && uid === 1) return { kind: 'kept', reason: 'legacy_put_failed' };
          taken.push(uid);
          return { kind: 'settled' };
        },
      },
    );
    for (let run = 0; run < 5; run += 1) await tick();
    expect(taken).toEqual([2]);
    for (const mail of server.mails) mail.seen = true;
    server.mails.push(base(3));
    down = false;
    await tick();
    expect(taken.sort()).toEqual([1, 2, 3]);
  });

  it('M14 a box whose newest mail is old and seen gives nothing: n:* names it, and it stays untouched', async () => {
    const old = { seen: true, internalDate: '03-Oct-2026 13:50:00 +0000' };
    const { tick, uids, server } = await scene(Array.from({ length: 7 }, (_, index) => base(index + 1, old)));
    expect(await tick()).toMatchObject({ INBOX: { candidates: 0 } });
    expect(await tick()).toMatchObject({ INBOX: { candidates: 0 } });
    expect(server.received).toContain('UID SEARCH UID 8:*');
    expect(uids()).toEqual([]);
    expect(server.received.filter((line) => line.includes('STORE'))).toEqual([]);
  });

  it('M16 each folder has a watermark of its own', async () => {
    const inbox = await serve(
      {},
      Array.from({ length: 9 }, (_, index) => base(index + 1)),
    );
    const leads = await serve({}, []);
    const { tick, taken } = await imapPoller(
      dynamoDb,
      (folder) => (folder === 'INBOX' ? inbox : leads).settings,
    );
    await tick(['INBOX', 'Leads']);
    leads.mails.push(
      ...[1, 2, 3].map((uid) => base(uid, { seen: true, internalDate: '01-Oct-2026 13:50:00 +0000' })),
    );
    await tick(['INBOX', 'Leads']);
    const inLeads = taken.filter(({ position }) => position.mailbox === 'Leads');
    expect(inLeads.map(({ position }) => position.uid)).toEqual([1, 2, 3]);
    expect(taken).toHaveLength(12);
  });

  it('M17 a mail that somebody opened first still counts: by the look-back at first, then by the watermark', async () => {
    const days = (day: string) => ({ seen: true, internalDate: `${day}-Oct-2026 13:50:00 +0000` });
    const { tick, uids, server } = await scene([
      base(1, days('29')),
      base(2, days('31')),
      base(3, { seen: true }),
    ]);
    // The clock stands at 3 November 14:00 UTC: UID 2 is 3 days and 10 minutes old, UID 3 ten minutes.
    await tick();
    expect(uids()).toEqual([3]);
    server.mails.push(base(4, { seen: true }));
    await tick();
    expect(uids()).toEqual([3, 4]);
  });

  it('M17 a processed mail that somebody sets to unread is the same mail when it comes again', async () => {
    const { tick, uids, keys, server } = await scene([base(1)]);
    await tick();
    await tick();
    for (const mail of server.mails) mail.seen = false;
    await tick();
    expect(new Set(keys()).size).toBe(1);
    expect(server.mails.every(({ seen }) => seen)).toBe(true);
    const before = uids().length;
    await tick();
    expect(uids()).toHaveLength(before);
  });

  it('M18 a mail without Message-ID stops nobody and keeps its key when it is polled again', async () => {
    const { tick, uids, keys, server } = await scene([
      base(1, { headers: ['Message-ID:'] }),
      base(2, { name: 'Bo' }),
    ]);
    await tick();
    await tick();
    expect(uids()).toEqual([1, 2]);
    const [first] = server.mails;
    if (first) first.seen = false;
    await tick();
    expect(uids()).toEqual([1, 2, 1]);
    expect(keys()[2]).toBe(keys()[0]);
    expect(keys()[1]).not.toBe(keys()[0]);
  });

  it('M21 an unread mail of nine days ago is imported with its own date', async () => {
    const { tick, taken } = await scene([base(1, { internalDate: '25-Oct-2026 09:00:00 -0400' })]);
    await tick();
    expect(taken[0]?.position.receivedAt).toEqual(new Date('2026-10-25T13:00:00Z'));
  });

  it.each(['Tue, 3 Nov 2099 09:15:00 +0000', 'Wed, 3 Nov 100 09:15:00 -0500'])(
    'M30 a plausible-looking wrong Date (%s) is kept as written; the time is INTERNALDATE',
    async (date) => {
      const { tick, taken } = await scene([base(1, { headers: [`Date: ${date}`] })]);
      await tick();
      expect(taken[0]?.position.receivedAt).toEqual(new Date('2026-11-03T13:50:00Z'));
      expect(taken[0]?.parsed).toMatchObject({ outcome: 'lead', rawDate: date });
    },
  );
});

/** A run whose process dies while this mail is parsed: nothing after that point happens. */
function dyingParse(text: string) {
  let died: () => void = () => {};
  const death = new Promise<'died'>((resolve) => {
    died = () => resolve('died');
  });
  return {
    death,
    parse: (source: Buffer) => {
      if (!source.includes(text)) return undefined;
      died();
      return new Promise<never>(() => {});
    },
  };
}

describe('M: crashes and bad mails', () => {
  it('M22 a run that dies after reading the body leaves the mail UNSEEN, and reading never sets a flag', async () => {
    const { tick, uids, unseen, server, clock } = await scene([base(1)]);
    const { death, parse } = dyingParse('First Name: Ana');
    await Promise.race([tick(['INBOX'], { parse: (source) => parse(source) ?? Promise.reject() }), death]);
    expect(unseen()).toEqual([1]);
    for (const line of server.received.filter((each) => each.includes('BODY')))
      expect(line).toContain('BODY.PEEK');
    clock.advance(240_000);
    await tick();
    expect(uids()).toEqual([1]);
  });

  it('M23 of two runs at the same moment one takes the mail, the other stands back', async () => {
    const { tick, uids } = await scene([base(1)]);
    const ends = await Promise.all([tick(), tick()]);
    expect(ends.map(({ INBOX }) => INBOX).filter((end) => end === 'leased')).toHaveLength(1);
    expect(uids()).toEqual([1]);
  });

  it('M23 a crash between commit and STORE brings the same mail again, under the same key', async () => {
    const { tick, keys, unseen, clock, server } = await scene([base(1)]);
    let committed: () => void = () => {};
    const crash = new Promise<void>((resolve) => {
      committed = resolve;
    });
    const seenKeys: string[] = [];
    const dies = tick(['INBOX'], {
      take: async ({ mailKey }) => {
        seenKeys.push(mailKey);
        committed();
        return new Promise<never>(() => {});
      },
    });
    await Promise.race([dies, crash]);
    expect(unseen()).toEqual([1]);
    clock.advance(240_000);
    await tick();
    expect(keys()).toEqual(seenKeys);
    expect(server.mails).toHaveLength(1);
  });

  it('M24 a mail that kills the process is quarantined by its envelope after three attempts; the others go on', async () => {
    const { tick, taken, uids, unseen, server, clock } = await scene([base(1, { name: 'Poison' }), base(2)]);
    for (let run = 0; run < 3; run += 1) {
      const { death, parse } = dyingParse('First Name: Poison');
      await Promise.race([tick(['INBOX'], { parse: (source) => parse(source) ?? parseMail(source) }), death]);
      clock.advance(240_000);
    }
    // From the second run on the poison comes last.
    expect(uids()).toEqual([2]);
    await tick();
    expect(taken.at(-1)?.parsed).toMatchObject({ outcome: 'quarantined', reason: 'attempts_exhausted' });
    expect(taken.at(-1)?.position.uid).toBe(1);
    expect(unseen()).toEqual([]);
    await tick();
    expect(uids()).toEqual([2, 1]);
    const sources = server.received.filter(
      (line) => line.startsWith('UID FETCH 1 ') && line.includes('BODY.PEEK[]'),
    );
    expect(sources).toHaveLength(3);
  });

  it('M24 a mail whose source the server never hands out is quarantined as well, and stops nobody', async () => {
    const { tick, uids, taken } = await scene([base(1), base(2)], {
      'UID FETCH': ({ line, tag, say, usual }) =>
        line.startsWith('UID FETCH 1 ') && line.includes('BODY')
          ? say('* 1 FETCH (UID 1 BODY[] NIL)', `${tag} OK done`)
          : usual(),
    });
    for (let run = 0; run < 3; run += 1) await tick();
    expect(uids()).toEqual([2]);
    await tick();
    expect(uids()).toEqual([2, 1]);
    expect(taken.at(-1)?.parsed.reason).toBe('attempts_exhausted');
  });

  it.each<[string, string, Script, string]>([
    ['its headers tell its recipient', 'delivered-to', ({ usual }) => usual(), 'OTF0777'],
    ['its headers are refused', 'to', refuse('NO no such header'), 'OTF0412'],
    ['asking for its headers breaks the link', 'to', cut, 'OTF0412'],
  ])('M24 quarantined mail is known to its store: %s', async (_, source, headerScript, trackingId) => {
    const { tick, taken, unseen } = await scene(
      [base(1, { headers: ['Delivered-To: lead-tracking+OTF0777@leads.example'] })],
      {
        'UID FETCH': (command) => {
          const { line, tag, say, usual } = command;
          if (line.includes('HEADER.FIELDS')) headerScript(command);
          else if (line.includes('BODY')) say('* 1 FETCH (UID 1 BODY[] NIL)', `${tag} OK done`);
          else if (line.includes('ENVELOPE')) {
            const to = '((NIL NIL "lead-tracking+OTF0412" "leads.example"))';
            const envelope = `ENVELOPE (NIL NIL NIL NIL NIL ${to} NIL NIL NIL "<a1@forms.example>")`;
            say(
              `* 1 FETCH (UID 1 FLAGS () INTERNALDATE "03-Nov-2026 13:50:00 +0000" RFC822.SIZE 400 ${envelope})`,
              `${tag} OK done`,
            );
          } else usual();
        },
      },
    );
    for (let run = 0; run < 3; run += 1) await tick();
    expect(taken).toEqual([]);
    await tick().catch(() => undefined);
    expect(taken).toHaveLength(1);
    expect(taken[0]?.parsed).toMatchObject({ reason: 'attempts_exhausted' });
    expect(taken[0]?.parsed.recipients[0]).toMatchObject({ source, trackingId });
    await tick();
    expect(taken).toHaveLength(1);
    expect(unseen()).toEqual(headerScript === cut ? [1] : []);
  });
});

describe.skipIf(dovecotMissing)('M: big mails', () => {
  it('M25 the lead of a mail with a 30 MB attachment is read, and the attachment stays on the server', async () => {
    const dovecot = await startDovecot();
    const user = await dovecot.newUser();
    const boundary = 'b1';
    const headers = [`Content-Type: multipart/mixed; boundary=${boundary}`];
    const [head = '', text = ''] = base(1, { headers }).raw.split('\r\n\r\n');
    const attachment = Buffer.alloc(30 * 1024 * 1024, 7)
      .toString('base64')
      .replace(/.{76}/g, '$&\r\n');
    await user.deliver(
      [
        `${head}\r\n\r\n--${boundary}\r\nContent-Type: text/plain\r\n\r\n${text}`,
        `--${boundary}\r\nContent-Type: application/pdf; name=tour.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${attachment}`,
        `--${boundary}--\r\n`,
      ].join('\r\n'),
      new Date('2026-11-03T13:50:00Z'),
    );
    const wire = await countingProxy(user.settings.port);
    const { tick, taken } = await imapPoller(dynamoDb, { ...user.settings, port: wire.port });
    await tick();
    expect(taken.map(({ parsed }) => [parsed.outcome, parsed.fields.phone])).toEqual([
      ['lead', '+12125550147'],
    ]);
    expect(wire.bytes()).toBeLessThan(50_000);
    await wire.stop();
    await dovecot.stop();
  });
});

/** Passes a connection through and counts what the server sends. */
async function countingProxy(port: number) {
  let bytes = 0;
  const proxy = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    server.on('data', (chunk) => {
      bytes += chunk.length;
    });
    client.pipe(server).pipe(client);
    client.on('error', () => server.destroy());
    server.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    bytes: () => bytes,
    stop: () => new Promise<void>((resolve) => proxy.close(() => resolve())),
  };
}
