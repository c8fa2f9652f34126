import { afterEach, describe, expect, it } from 'vitest';
import { openImapMailbox } from '../../src/mail/imap-mailbox.ts';
import { type Mailbox, MailboxError, type MailboxErrorCode } from '../../src/mail/mailbox.ts';
import {
  bye,
  cut,
  refuse,
  type Script,
  type ScriptedMail,
  type ScriptedServer,
  stall,
  startScriptedImapServer,
  stopInLiteral,
} from '../support/scripted-imap-server.ts';

const base: ScriptedMail = {
  uid: 1,
  raw: 'From: web@forms.example\r\nSubject: Web Lead\r\n\r\nFirst Name: Ana\r\n',
};
const short = { connectionTimeout: 500, greetingTimeout: 500, socketTimeout: 500, commandTimeout: 2_000 };

let server: ScriptedServer | undefined;
afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function open(scripts: Record<string, Script>, mails = [{ ...base }]): Promise<Mailbox> {
  server = await startScriptedImapServer(scripts, mails);
  return openImapMailbox(server.settings, 'INBOX', short);
}

async function failure(work: Promise<unknown>): Promise<MailboxError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof MailboxError)) throw new Error('expected a MailboxError');
  return error;
}

const codeOf = async (work: Promise<unknown>): Promise<MailboxErrorCode> => (await failure(work)).code;

describe('opening', () => {
  it.each<[MailboxErrorCode, Record<string, Script>]>([
    ['login_refused', { LOGIN: refuse('NO [AUTHENTICATIONFAILED] Invalid credentials') }],
    ['login_refused', { LOGIN: refuse('NO [EXPIRED] password expired') }],
    ['login_refused', { LOGIN: refuse('NO LOGIN failed.') }],
    ['login_unavailable', { LOGIN: refuse('NO [UNAVAILABLE] try later') }],
    ['login_unavailable', { LOGIN: refuse('NO [LIMIT] too many logins') }],
    ['login_unavailable', { LOGIN: refuse('NO [INUSE] busy') }],
    ['login_unavailable', { LOGIN: refuse('BAD internal state') }],
    ['login_unavailable', { GREETING: bye('Too many connections') }],
    ['login_unavailable', { LOGIN: bye('shutting down') }],
    ['throttled', { LOGIN: refuse('BAD Request is throttled. Suggested Backoff Time: 60000 milliseconds') }],
    ['timeout', { GREETING: stall }],
    ['timeout', { LOGIN: stall }],
    ['timeout', { SELECT: stall }],
    ['connect_failed', { GREETING: cut }],
    ['connect_failed', { LOGIN: cut }],
    ['connection_lost', { SELECT: cut }],
    ['mailbox_unavailable', { SELECT: refuse('NO no such mailbox') }],
    ['mailbox_unavailable', { SELECT: refuse('BAD User is authenticated but not connected.') }],
  ])('ends in %s (%#)', async (code, scripts) => {
    expect(await codeOf(open(scripts))).toBe(code);
  });

  it('is connect_failed where nobody listens', async () => {
    const { settings, stop } = await startScriptedImapServer();
    await stop();
    expect(await codeOf(openImapMailbox(settings, 'INBOX', short))).toBe('connect_failed');
  });

  it('sends no password without TLS to another machine', async () => {
    server = await startScriptedImapServer();
    // 0.0.0.0 reaches this machine, but is no loopback address.
    const settings = { ...server.settings, host: '0.0.0.0' };
    expect(await codeOf(openImapMailbox(settings, 'INBOX', short))).toBe('connect_failed');
    expect(server.received.filter((line) => line.startsWith('LOGIN'))).toEqual([]);
  });

  it('says neither user name, password nor server text in the message', async () => {
    const error = await failure(
      open({ LOGIN: refuse('NO [AUTHENTICATIONFAILED] leads@test.example: secret is wrong') }),
    );
    expect(error.message).toBe('The IMAP server refused the login (connect, AUTHENTICATIONFAILED)');
    expect(error.cause).toBeUndefined();
  });
});

describe('searching', () => {
  it.each<[MailboxErrorCode, Script]>([
    ['search_refused', refuse('NO not now')],
    ['search_refused', refuse('BAD what')],
    ['throttled', refuse('BAD Request is throttled. Suggested Backoff Time: 60000 milliseconds')],
    ['timeout', stall],
    ['connection_lost', cut],
  ])('ends in %s (%#)', async (code, script) => {
    const mailbox = await open({ 'UID SEARCH': script });
    expect(await codeOf(mailbox.unseen())).toBe(code);
    await mailbox.close();
  });

  it('M14 leaves out the last mail, which n:* names although its UID is lower', async () => {
    const mailbox = await open(
      {},
      [3, 7].map((uid) => ({ ...base, uid })),
    );
    expect(await mailbox.from(8)).toEqual([]);
    expect(await mailbox.from(7)).toEqual([7]);
    expect(server?.received).toContain('UID SEARCH UID 8:*');
    await mailbox.close();
  });

  it('does not say "no mail" when STATUS counts unseen mail', async () => {
    const mailbox = await open({ 'UID SEARCH': ({ tag, say }) => say('* SEARCH', `${tag} OK done`) });
    expect(await codeOf(mailbox.unseen())).toBe('search_refused');
    await mailbox.close();
  });

  it('takes a mail that came between SEARCH and STATUS', async () => {
    const mailbox = await open({
      'UID SEARCH': ({ count, tag, say, usual }) =>
        count === 1 ? say('* SEARCH', `${tag} OK done`) : usual(),
    });
    expect(await mailbox.unseen()).toEqual([1]);
    await mailbox.close();
  });

  it('says "no mail" when SEARCH and STATUS agree', async () => {
    const mailbox = await open({}, [{ ...base, seen: true }]);
    expect(await mailbox.unseen()).toEqual([]);
    await mailbox.close();
  });
});

describe('fetching', () => {
  it.each<[MailboxErrorCode, Script]>([
    ['fetch_refused', refuse('NO can not read')],
    ['fetch_refused', refuse('BAD what')],
    ['throttled', refuse('NO [LIMIT] bandwidth exceeded')],
    ['throttled', refuse('BAD Request is throttled. Suggested Backoff Time: 60000 milliseconds')],
    ['timeout', stall],
    ['connection_lost', cut],
  ])('ends in %s (%#)', async (code, script) => {
    const mailbox = await open({ 'UID FETCH': script });
    const started = Date.now();
    expect(await codeOf(mailbox.fetch(1))).toBe(code);
    expect(Date.now() - started).toBeLessThan(1_500);
    await mailbox.close();
  });

  it.each(['BODY[] NIL', 'BODY[] ""', ''])(
    'takes a row with %j for a failure, not for an empty mail',
    async (item) => {
      const mailbox = await open({
        'UID FETCH': ({ line, tag, say, usual }) =>
          line.includes('BODY.PEEK[]')
            ? say(`* 1 FETCH (UID 1 ${item})`.replace(' )', ')'), `${tag} OK done`)
            : usual(),
      });
      expect(await codeOf(mailbox.fetch(1))).toBe('fetch_refused');
      await mailbox.close();
    },
  );

  it('takes OK without any row for a failure while the mail is there, for gone when it is not', async () => {
    const mailbox = await open({ 'UID FETCH': refuse('OK done') });
    expect(await codeOf(mailbox.fetch(1))).toBe('fetch_refused');
    expect(await mailbox.fetch(99)).toBeUndefined();
    await mailbox.close();
  });

  it('puts the rows of one mail together, and leaves those of others alone', async () => {
    const mailbox = await open({
      'UID FETCH': ({ tag, say }) =>
        say(
          '* 2 FETCH (UID 2 FLAGS (\\Flagged))',
          '* 1 FETCH (UID 1 FLAGS (\\Seen))',
          '* 1 FETCH (UID 1 INTERNALDATE "03-Nov-2026 14:15:00 +0000" RFC822.SIZE 66)',
          `${tag} OK done`,
        ),
    });
    expect(await mailbox.envelopes([1])).toEqual(
      new Map([[1, { uid: 1, receivedAt: new Date('2026-11-03T14:15:00Z'), size: 66, seen: true, to: [] }]]),
    );
    await mailbox.close();
  });

  it('asks for date and size alone when a corrupt mail makes the server refuse the envelopes', async () => {
    const mailbox = await open({
      'UID FETCH': ({ line, tag, say, usual }) =>
        line.includes('ENVELOPE') ? say(`${tag} NO one is corrupt`) : usual(),
    });
    const envelope = {
      uid: 1,
      receivedAt: new Date('2026-11-03T14:15:00Z'),
      size: base.raw.length,
      seen: false,
      to: [],
    };
    expect(await mailbox.envelopes([1, 99])).toEqual(new Map([[1, envelope]]));
    expect((await mailbox.fetch(1))?.source.toString()).toBe(base.raw);
    await mailbox.close();
  });

  it('never lets an existing mail look gone, whatever FETCH leaves out', async () => {
    for (const answer of ['OK done', 'NO can not', 'BAD what']) {
      const mailbox = await open({ 'UID FETCH': refuse(answer) });
      expect(await codeOf(mailbox.envelopes([1]))).toBe('fetch_refused');
      await mailbox.close();
      await server?.stop();
    }
  });

  it('keeps memory: a literal larger than announced sizes allow ends the connection', async () => {
    const mailbox = await open({
      'UID FETCH': ({ line, socket, usual }) =>
        line.includes('BODY.PEEK[]') ? socket.write('* 1 FETCH (UID 1 BODY[] {500000000}\r\n') : usual(),
    });
    expect(await codeOf(mailbox.fetch(1))).toBe('connection_lost');
    await mailbox.close();
  });

  it('bounds a command that keeps talking without end', async () => {
    let talk: NodeJS.Timeout | undefined;
    const mailbox = await open({
      'UID FETCH': ({ say }) => {
        talk = setInterval(() => say('* OK still working'), 100);
      },
    });
    expect(await codeOf(mailbox.fetch(1))).toBe('timeout');
    clearInterval(talk);
    await mailbox.close();
  });
});

describe('marking seen', () => {
  it('is true when the flag stuck', async () => {
    const mailbox = await open({});
    expect(await mailbox.markSeen(1)).toBe(true);
    expect(server?.mails[0]?.seen).toBe(true);
    await mailbox.close();
  });

  it('is false when STORE says OK and the flag did not stick', async () => {
    const mailbox = await open({ 'UID STORE': refuse('OK done') });
    expect(await mailbox.markSeen(1)).toBe(false);
    await mailbox.close();
  });

  it('is false when STORE is refused', async () => {
    const mailbox = await open({ 'UID STORE': refuse('NO read-only') });
    expect(await mailbox.markSeen(1)).toBe(false);
    await mailbox.close();
  });

  it.each<[MailboxErrorCode, Script]>([
    ['connection_lost', cut],
    ['timeout', stall],
    ['throttled', refuse('BAD Request is throttled. Suggested Backoff Time: 60000 milliseconds')],
  ])('rejects with %s when the connection dies under STORE', async (code, script) => {
    const mailbox = await open({ 'UID STORE': script });
    expect(await codeOf(mailbox.markSeen(1))).toBe(code);
    await mailbox.close();
  });

  it('is true for a mail that is gone: nothing is left to mark', async () => {
    const mailbox = await open({});
    expect(await mailbox.markSeen(99)).toBe(true);
    await mailbox.close();
  });

  it('sends nothing in a read-only run', async () => {
    server = await startScriptedImapServer({}, [{ ...base }]);
    const mailbox = await openImapMailbox({ ...server.settings, readOnly: true }, 'INBOX', short);
    expect(await mailbox.markSeen(1)).toBe(true);
    await mailbox.close();
    expect(server.received.filter((line) => /STORE|SELECT/.test(line))).toEqual([]);
    expect(server.received).toContain('EXAMINE INBOX');
  });
});

describe('closing', () => {
  it.each<[string, Script]>([
    ['a server that does not answer', stall],
    ['a cut connection', cut],
    ['a refusal', refuse('NO stay')],
  ])('neither hangs nor rejects with %s', async (_, script) => {
    const mailbox = await open({ LOGOUT: script });
    const started = Date.now();
    await mailbox.close();
    await mailbox.close();
    expect(Date.now() - started).toBeLessThan(2_500);
  });

  it('keeps quiet connections alive between two commands', async () => {
    const mailbox = await open({});
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(await mailbox.unseen()).toEqual([1]);
    await mailbox.close();
  });

  it('leaves later commands a MailboxError', async () => {
    const mailbox = await open({ 'UID FETCH': stopInLiteral });
    await mailbox.close();
    expect(await codeOf(mailbox.unseen())).toBe('connection_lost');
    expect(await codeOf(mailbox.markSeen(1))).toBe('connection_lost');
    expect(await codeOf(mailbox.fetch(1))).toBe('connection_lost');
  });
});
