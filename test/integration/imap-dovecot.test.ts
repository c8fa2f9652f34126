import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openImapMailbox } from '../../src/mail/imap-mailbox.ts';
import type { ImapSettings, Mailbox } from '../../src/mail/mailbox.ts';
import { type Dovecot, type DovecotUser, dovecotMissing, startDovecot } from '../support/dovecot.ts';

const lead = (name: string, more = '') =>
  [
    'From: Web Form <web@forms.example>',
    'To: "Leads, all" <lead-tracking+OTF0412@leads.example>',
    `Message-ID: <${name}@forms.example>`,
    `Subject: Web Lead - ${name}`,
    ...(more ? [more] : []),
    '',
    `First Name: ${name}`,
    'Phone: (212) 555-0147',
    '',
  ].join('\r\n');

const at = (iso: string) => new Date(iso);

let dovecot: Dovecot;
let user: DovecotUser;
beforeAll(async () => {
  if (!dovecotMissing) dovecot = await startDovecot({ tls: true });
});
beforeEach(async () => {
  if (!dovecotMissing) user = await dovecot.newUser();
});
afterAll(() => dovecot?.stop());

describe.skipIf(dovecotMissing)('the adapter against Dovecot', () => {
  async function withMailbox<T>(
    work: (mailbox: Mailbox) => Promise<T>,
    name = 'INBOX',
    settings: ImapSettings = user.settings,
  ): Promise<T> {
    const mailbox = await openImapMailbox(settings, name);
    try {
      return await work(mailbox);
    } finally {
      await mailbox.close();
    }
  }

  it('answers every question about an empty box', async () => {
    await withMailbox(async (mailbox) => {
      expect(mailbox.uidNext).toBe(1);
      expect(await mailbox.unseen()).toEqual([]);
      expect(await mailbox.from(1)).toEqual([]);
      expect(await mailbox.since(at('2026-01-01T00:00:00Z'))).toEqual([]);
      expect(await mailbox.envelopes([])).toEqual(new Map());
      expect(await mailbox.fetch(1)).toBeUndefined();
    });
  });

  it('reads envelope, INTERNALDATE and source, leaves the mail UNSEEN, then flags it', async () => {
    const raw = lead('Ana');
    await user.deliver(raw, at('2026-11-03T14:15:00Z'));
    await withMailbox(async (mailbox) => {
      const [uid = 0] = await mailbox.unseen();
      const envelope = {
        uid,
        receivedAt: at('2026-11-03T14:15:00Z'),
        size: raw.length,
        seen: false,
        messageId: '<Ana@forms.example>',
        subject: 'Web Lead - Ana',
        from: 'web@forms.example',
        to: ['lead-tracking+OTF0412@leads.example'],
      };
      expect(await mailbox.envelopes([uid, 4711])).toEqual(new Map([[uid, envelope]]));
      const fetched = await mailbox.fetch(uid);
      expect(fetched).toEqual({ ...envelope, source: Buffer.from(raw), reduced: false });
      expect(await mailbox.unseen()).toEqual([uid]);
      expect(await mailbox.markSeen(uid)).toBe(true);
      expect(await mailbox.unseen()).toEqual([]);
    });
    await withMailbox(async (mailbox) => expect(await mailbox.unseen()).toEqual([]));
  });

  it('compares INTERNALDATE as an instant, not as a day', async () => {
    await user.deliver(lead('Early'), at('2026-11-03T01:00:00Z'));
    await user.deliver(lead('Late'), at('2026-11-03T02:00:00Z'));
    await withMailbox(async (mailbox) => {
      const found = await mailbox.since(at('2026-11-03T01:30:00Z'));
      const envelopes = await mailbox.envelopes(found);
      expect([...envelopes.values()].map(({ subject }) => subject)).toEqual(['Web Lead - Late']);
    });
  });

  it('opens a folder of its own UIDs beside INBOX, and refuses one that is not there', async () => {
    await user.deliver(lead('Ana'), new Date(), 'Leads');
    expect(await withMailbox((mailbox) => mailbox.unseen())).toEqual([]);
    expect(await withMailbox((mailbox) => mailbox.unseen(), 'Leads')).toEqual([1]);
    await expect(withMailbox(async () => 0, 'Nowhere')).rejects.toMatchObject({
      code: 'mailbox_unavailable',
    });
  });

  it('flags nothing in a read-only run, and says so by leaving the mail UNSEEN', async () => {
    await user.deliver(lead('Ana'));
    const readOnly = { ...user.settings, readOnly: true };
    await withMailbox(async (mailbox) => expect(await mailbox.markSeen(1)).toBe(true), 'INBOX', readOnly);
    expect(await withMailbox((mailbox) => mailbox.unseen())).toEqual([1]);
  });

  it('shows a new UIDVALIDITY after the server lost its UID list', async () => {
    await user.deliver(lead('Ana'));
    const before = await withMailbox(async ({ uidValidity }) => uidValidity);
    await new Promise((resolve) => setTimeout(resolve, 1_100)); // UIDVALIDITY is a time in seconds
    await user.resetUidValidity();
    const after = await withMailbox(async ({ uidValidity }) => uidValidity);
    expect(after).toBeGreaterThan(before);
  });

  it('reads 300 mails: searches once, envelopes in one go, each source exactly', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `Lead${index}`);
    for (const name of names) await user.deliver(lead(name));
    await withMailbox(async (mailbox) => {
      const unseen = await mailbox.unseen();
      expect(unseen).toHaveLength(300);
      expect(await mailbox.from(251)).toEqual(unseen.slice(250));
      expect((await mailbox.envelopes(unseen)).size).toBe(300);
      const subjects = new Set<string>();
      for (const uid of unseen) {
        const fetched = await mailbox.fetch(uid);
        subjects.add(fetched?.subject ?? '');
        expect(fetched?.source.toString()).toContain(`Subject: ${fetched?.subject}\r\n`);
        if (uid % 10 === 0) expect(await mailbox.markSeen(uid)).toBe(true);
      }
      expect(subjects.size).toBe(300);
      expect(await mailbox.unseen()).toHaveLength(270);
    });
  });

  it('refuses a wrong password without saying whose', async () => {
    const refused = openImapMailbox({ ...user.settings, pass: 'wrong' }, 'INBOX');
    await expect(refused).rejects.toMatchObject({
      code: 'login_refused',
      message: 'The IMAP server refused the login (connect, AUTHENTICATIONFAILED)',
    });
  });
});

describe.skipIf(dovecotMissing)('STARTTLS', () => {
  it('is used towards another machine, and the certificate is checked', async () => {
    // 0.0.0.0 reaches this machine, but is no loopback address.
    const elsewhere = { ...user.settings, host: '0.0.0.0' };
    await expect(openImapMailbox(elsewhere, 'INBOX')).rejects.toMatchObject({ code: 'connect_failed' });
    const tls = { ca: dovecot.certificate ?? '' };
    const mailbox = await openImapMailbox(elsewhere, 'INBOX', { tls });
    expect(await mailbox.unseen()).toEqual([]);
    await mailbox.close();
  });
});

/** Turning megabytes of text into HTML takes mailparser seconds. */
const quick = { skipTextToHtml: true };

const attachment = (megabytes: number) =>
  Buffer.alloc(megabytes * 1024 * 1024, 7)
    .toString('base64')
    .replace(/.{76}/g, '$&\r\n');

describe.skipIf(dovecotMissing)('a mail over 5 MB', () => {
  /** Delivers, fetches twice (the bytes must not change), parses. */
  async function fetchTwice(raw: string) {
    await user.deliver(raw);
    const fetchLast = async () => {
      const mailbox = await openImapMailbox(user.settings, 'INBOX');
      const fetched = await mailbox.fetch(mailbox.uidNext - 1);
      await mailbox.close();
      if (!fetched) throw new Error('gone');
      return fetched;
    };
    const fetched = await fetchLast();
    const again = await fetchLast();
    expect(fetched.reduced).toBe(true);
    expect(again.source.equals(fetched.source)).toBe(true);
    return { fetched, small: await simpleParser(fetched.source, quick) };
  }

  it('reads the same to the parser, text, HTML, ADF and forwarded mail, without the attachment', async () => {
    const raw = [
      'From: =?utf-8?Q?Jos=C3=A9?= <web@forms.example>',
      'To: lead-tracking+OTF0412@leads.example',
      'Message-ID: <big@forms.example>',
      'Subject: Web Lead - Ana',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed;',
      ' boundary="outer=_1"',
      '',
      'This is a multi-part message.',
      '--outer=_1',
      'Content-Type: multipart/alternative; boundary=inner',
      '',
      '--inner',
      'Content-Type: text/plain; charset=iso-8859-1',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'First Name: Jos=E9',
      '--inner',
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from('<p>First Name: José</p>').toString('base64'),
      '--inner--',
      '--outer=_1',
      'Content-Type: image/jpeg; name="photo.jpg"',
      'Content-Disposition: attachment; filename="photo.jpg"',
      'Content-Transfer-Encoding: base64',
      '',
      attachment(6),
      '--outer=_1',
      'Content-Type: application/x-adf+xml; name="lead.adf"',
      'Content-Disposition: attachment; filename="lead.adf"',
      '',
      '<adf><prospect/></adf>',
      '--outer=_1',
      'Content-Type: message/rfc822',
      'Content-Disposition: attachment',
      '',
      'From: ana@x.example',
      'Subject: inner',
      'Content-Type: text/plain; charset=utf-8',
      '',
      'Phone: (212) 555-0147',
      '--outer=_1--',
      '',
    ].join('\r\n');
    const { fetched, small } = await fetchTwice(raw);
    const whole = await simpleParser(raw, quick);
    expect(fetched.source.length).toBeLessThan(5_000);
    expect(small.text).toBe(whole.text);
    expect(small.text).toContain('First Name: José');
    expect(small.html).toBe(whole.html);
    expect(small.from?.text).toBe(whole.from?.text);
    expect(small.messageId).toBe('<big@forms.example>');
    const names = (mail: typeof small) => mail.attachments.map((part) => [part.contentType, part.filename]);
    expect(names(small)).toEqual(names(whole));
    const content = (mail: typeof small, type: string) =>
      mail.attachments.find((part) => part.contentType === type)?.content.toString();
    expect(content(small, 'application/x-adf+xml')).toBe(content(whole, 'application/x-adf+xml'));
    expect(content(small, 'message/rfc822')).toContain('Phone: (212) 555-0147');
    expect(content(small, 'image/jpeg')).toBe('');
  });

  it('keeps a forwarded mail whole in its text parts, its big attachment left out', async () => {
    const inner = [
      'From: ana@x.example',
      'Subject: inner',
      'Content-Type: multipart/mixed; boundary=in',
      '',
      '--in',
      'Content-Type: text/plain',
      '',
      'Phone: (212) 555-0147',
      '--in',
      'Content-Type: application/pdf; name=a.pdf',
      'Content-Transfer-Encoding: base64',
      '',
      attachment(6),
      '--in--',
    ];
    const raw = [
      'From: web@forms.example',
      'Subject: Fwd: lead',
      'Content-Type: multipart/mixed; boundary=out',
      '',
      '--out',
      'Content-Type: message/rfc822',
      '',
      ...inner,
      '--out--',
      '',
    ].join('\r\n');
    const { fetched, small } = await fetchTwice(raw);
    expect(fetched.source.length).toBeLessThan(2_000);
    const forwarded = await simpleParser(small.attachments[0]?.content ?? '');
    expect(forwarded.subject).toBe('inner');
    expect(forwarded.text).toContain('Phone: (212) 555-0147');
  });

  it('cuts a single text of 7 MB at 1 MB', async () => {
    const raw = `From: web@forms.example\r\nSubject: long\r\nContent-Type: text/plain\r\n\r\nFirst Name: Ana\r\n${'word word word word\r\n'.repeat(350_000)}`;
    const { fetched, small } = await fetchTwice(raw);
    expect(fetched.source.length).toBeLessThan(1_048_576 + 200);
    expect(small.text?.startsWith('First Name: Ana')).toBe(true);
  });
});
