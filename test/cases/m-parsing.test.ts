import { describe, expect, it } from 'vitest';
import { parseMail } from '../../src/mail/parse.ts';
import { cpuSeconds } from '../support/cpu-time.ts';
import { alternatives, ana, baseText, type MailParts, mailSource, rawMail } from '../support/mails.ts';

const parse = (parts: MailParts = {}) => parseMail(mailSource(parts));
const multipart = (type: string) => ({ 'Content-Type': `multipart/${type}; boundary=b1` });
const latin1 = (text: string) => Buffer.from(text.replace(/\n/g, '\r\n'), 'latin1');

describe('headers that nobody can rely on', () => {
  it('M29 unparseable Date: the lead is read, the same twice, and the Date is kept as written', async () => {
    const dates = [
      'Di, 3 Nov 2026 28:15:00 0200',
      'garbage',
      'Tue, 3 Nov 2026 29:15:00 IST',
      '31 Feb 2026',
      '',
      null,
    ];
    for (const date of dates) {
      const source = mailSource({ headers: { Date: date } });
      const parsed = await parseMail(source);
      expect(parsed).toMatchObject({ outcome: 'lead', fields: ana });
      expect(parsed.rawDate).toBe(date || undefined);
      expect(await parseMail(source)).toEqual(parsed);
    }
  });

  it('M29 the mail key does not move with the Date', async () => {
    const keys = await Promise.all(
      ['garbage', 'Tue, 3 Nov 2026 09:15:00 -0500', null].map(
        async (date) => (await parse({ headers: { Date: date } })).mailKey,
      ),
    );
    expect(new Set(keys).size).toBe(1);
  });

  it('M30 plausible but wrong dates are kept as text alone', async () => {
    for (const date of [
      'Tue, 3 Nov 2099 09:15:00 +0000',
      'Wed, 3 Nov 100 09:15:00 -0500',
      'Thu, 1 Jan 1970 00:00:00 +0000',
    ]) {
      const parsed = await parse({ headers: { Date: date } });
      expect(parsed).toMatchObject({ outcome: 'lead', rawDate: date });
      expect(JSON.stringify(parsed.fields)).not.toMatch(/2099|1970/);
    }
  });

  it('M32 malformed From: recovered or absent, the lead from the body', async () => {
    const senders: [string, string | undefined][] = [
      ['Ana Lopez <ana@x.example', 'ana@x.example'],
      ['"Ana, Gym" <ana@x.example>', 'ana@x.example'],
      ['Lopez, Ana <ana@x.example>', 'ana@x.example'],
      ['Ana<ana@x.example>', 'ana@x.example'],
      ['<<ana@x.example>>', 'ana@x.example'],
      ['Web Site', undefined],
      ['=?utf-8?Q?broken', undefined],
      ['', undefined],
    ];
    for (const [From, address] of senders) {
      const parsed = await parse({ headers: { From } });
      expect(parsed).toMatchObject({ outcome: 'lead', fields: ana });
      expect([address, undefined]).toContain(parsed.from);
    }
  });

  it('M33 no From at all', async () => {
    const parsed = await parse({ headers: { From: null } });
    expect(parsed).toMatchObject({ outcome: 'lead', fields: ana });
    expect(parsed).not.toHaveProperty('from');
  });

  it('M18 no Message-ID: a key of its own, the same at the next poll', async () => {
    const first = mailSource({ headers: { 'Message-ID': null } });
    const other = mailSource({ headers: { 'Message-ID': null }, text: baseText.replace('Ana', 'Bo') });
    const parsed = await parseMail(first);
    expect(parsed).toMatchObject({ outcome: 'lead', fields: ana });
    expect((await parseMail(first)).mailKey).toBe(parsed.mailKey);
    expect((await parseMail(other)).mailKey).not.toBe(parsed.mailKey);
  });

  it('M45 two To headers are both read', async () => {
    const { recipients } = await parse({
      headers: { To: ['studio@gym.example', 'lead-tracking+OTF0412@leads.example'] },
    });
    expect(recipients.map(({ address, trackingId }) => trackingId ?? address)).toEqual([
      'studio@gym.example',
      'OTF0412',
    ]);
  });

  it('M67 invalid Resent-Date', async () => {
    for (const date of ['Tue, 3 Nov 2026 29:15:00 +0100', 'garbage', '']) {
      expect(await parse({ headers: { 'Resent-Date': date } })).toMatchObject({
        outcome: 'lead',
        fields: ana,
      });
    }
  });
});

describe('M42 the tracking address', () => {
  const tags = async (headers: MailParts['headers']) =>
    (await parse({ headers: headers ?? {} })).recipients.flatMap(({ trackingId }) => trackingId ?? []);
  const otf0412 = 'lead-tracking+OTF0412@leads.example';
  const otf0777 = 'lead-tracking+OTF0777@leads.example';

  it.each(['Delivered-To', 'X-Forwarded-To', 'X-Original-To', 'Cc'])('M42 (a, b) in %s', async (name) => {
    expect(await tags({ To: 'studio@gym.example', [name]: otf0412 })).toEqual(['OTF0412']);
  });

  it('M42 (c) in upper case', async () => {
    const { recipients } = await parse({ headers: { To: 'LEAD-TRACKING+otf0412@LEADS.EXAMPLE' } });
    expect(recipients).toEqual([
      { source: 'to', address: 'lead-tracking+otf0412@leads.example', trackingId: 'otf0412' },
    ]);
  });

  it('M42 (d) undisclosed recipients: none, and still a lead', async () => {
    expect(await parse({ headers: { To: 'undisclosed-recipients:;' } })).toMatchObject({
      outcome: 'lead',
      recipients: [],
    });
  });

  it('M42 (e) two in To: both, in the order of the header', async () => {
    expect(await tags({ To: `${otf0412}, ${otf0777}` })).toEqual(['OTF0412', 'OTF0777']);
    expect(await tags({ To: `${otf0777}, ${otf0412}` })).toEqual(['OTF0777', 'OTF0412']);
  });

  it('M42 (f) never from a display name', async () => {
    for (const To of [
      `"${otf0412}" <x@y.example>`,
      `${otf0412} <x@y.example>`,
      `=?utf-8?Q?${otf0412.replace('@', '=40')}?= <x@y.example>`,
    ]) {
      expect(await tags({ To })).toEqual([]);
    }
    expect(await tags({ To: 'x@y.example', 'Delivered-To': `"${otf0412}" <x@y.example>` })).toEqual([]);
  });

  it('M42 (g) the top delivery header comes first; lower ones, which anybody can write, do not count', async () => {
    expect(await tags({ 'Delivered-To': [otf0412, otf0777], To: 'studio@gym.example' })).toEqual(['OTF0412']);
    expect(await tags({ 'Delivered-To': otf0412, To: otf0777 })).toEqual(['OTF0412', 'OTF0777']);
  });
});

describe('M43 automatic mail', () => {
  it('M43 (a) an automatic reply that quotes a lead is skipped', async () => {
    const headers = { Subject: 'Automatic reply: Web Lead', 'Auto-Submitted': 'auto-replied' };
    const text = `I am away.\n\n> ${baseText.replaceAll('\n', '\n> ')}`;
    expect(await parse({ headers, text })).toMatchObject({
      outcome: 'skipped',
      reason: 'auto_reply',
      fields: {},
    });
  });

  it('M43 (b) a bounce is skipped', async () => {
    const headers = {
      'Content-Type': 'multipart/report; report-type=delivery-status; boundary=b1',
      'Return-Path': '<>',
    };
    const body = alternatives([
      ['text/plain', baseText],
      ['message/delivery-status', 'Action: failed'],
    ]);
    expect(await parseMail(rawMail(headers, body))).toMatchObject({
      outcome: 'skipped',
      reason: 'bounce',
      fields: {},
    });
  });

  it.each([
    [{ 'Auto-Submitted': 'auto-generated', Precedence: 'bulk' }],
    [{ 'Auto-Submitted': 'auto-generated' }],
    [{ 'Auto-Submitted': 'no' }],
    [{ 'Auto-Submitted': 'auto-notified' }],
  ])('M43 (c, d, e) %j is a lead', async (headers) => {
    expect(await parse({ headers })).toMatchObject({ outcome: 'lead', fields: ana });
  });
});

describe('bodies that are damaged or hidden', () => {
  it('M24 a NUL in the body does not stop the mail', async () => {
    const parsed = await parse({ text: baseText.replace('Ana', 'Ana\0') });
    expect(parsed).toMatchObject({ outcome: 'lead', fields: ana });
  });

  it('M24 over 1,000 parts is quarantined with a reason', async () => {
    for (const parts of [1001, 5000]) {
      const body = alternatives(Array.from({ length: parts }, () => ['text/plain', 'x'] as const));
      expect(await parseMail(rawMail(multipart('mixed'), body))).toMatchObject({
        outcome: 'quarantined',
        reason: 'too_many_parts',
      });
    }
  });

  it('M25 the lead is read from the text part beside an attachment that was left out', async () => {
    const attachment =
      'video/mp4; name=tour.mp4\nContent-Disposition: attachment; filename=tour.mp4\nContent-Transfer-Encoding: base64';
    const parsed = await parseMail(
      rawMail(
        multipart('mixed'),
        alternatives([
          ['text/plain', baseText],
          [attachment, ''],
        ]),
      ),
    );
    expect(parsed).toMatchObject({ outcome: 'lead', fields: ana });
  });

  it('M34 bytes that are not what the charset says', async () => {
    const jose = baseText.replace('Ana', 'José');
    for (const type of [
      'text/plain; charset=x-unknown',
      'text/plain; charset=utf-8',
      'text/plain',
      'text/html; charset=utf-8',
    ]) {
      const parsed = await parseMail(
        rawMail(
          { 'Content-Type': type },
          latin1(type.includes('html') ? jose.replaceAll('\n', '<br>') : jose),
        ),
      );
      expect(parsed).toMatchObject({ outcome: 'lead', fields: { ...ana, firstName: 'José' } });
      expect(parsed.text).not.toContain('\0');
    }
  });

  it('M36 alternatives without usable text', async () => {
    const html = baseText.replaceAll('\n', '<br>');
    const mails = [
      rawMail(multipart('alternative'), alternatives([['text/html', html]])),
      mailSource({ text: 'This e-mail needs an HTML viewer.', html }),
      mailSource({ text: '\n', html }),
      mailSource({ text: 'First NameAnaLast NameLopezPhone(212) 555-0147Emailana@x.example', html }),
    ];
    for (const source of mails)
      expect(await parseMail(source)).toMatchObject({ outcome: 'lead', fields: ana });
  });

  it('M37 table cells do not run together', async () => {
    const row = (label: string, value: string) => `<tr><td>${label}</td><td>${value}</td></tr>`;
    const html = `<table>${row('First Name', 'Ana')}${row('Last Name', "O'Neil")}${row('Phone', '(212) 555-0147')}${row('E-mail', 'ana@x.example')}</table>`;
    expect((await parse({ headers: { Subject: 'Website' }, html })).fields).toEqual({
      ...ana,
      lastName: "O'Neil",
    });
    expect(
      (await parse({ headers: { Subject: 'Website' }, html: html.replaceAll('><', '>\n  <') })).fields,
    ).toEqual({ ...ana, lastName: "O'Neil" });
  });

  it('M39 NUL, control characters and lone surrogates are removed everywhere', async () => {
    const headers = {
      Subject: '=?utf-8?Q?Web_Lead=00_=0D=0ABcc:_x=1B[31m?=',
      'Reply-To': '=?utf-8?Q?A=00na?= <a\0na@y.example>',
      'Content-Type': 'text/html; charset=utf-8',
    };
    const html = baseText
      .replace('Ana', 'An&#0;a\0')
      .replace('Lopez', 'Lo\u0007p&#xD800;ez')
      .replaceAll('\n', '<br>');
    const parsed = await parseMail(rawMail(headers, html));
    expect(parsed.fields).toMatchObject({ phone: ana.phone, email: ana.email });
    const text = JSON.stringify(parsed);
    expect(text).not.toMatch(/\\u0000|\\u0007|\\u001b|\\r|\\ud800/i);
    expect(parsed.subject).not.toContain('\n');
  });

  it('M39 an escaped surrogate in an encoded word', async () => {
    for (const subject of ['=?utf-7?Q?+2AA-?=', '=?utf-16be?B?2AA=?=', '=?utf-8?Q?=ED=A0=80?=']) {
      const parsed = await parse({ headers: { Subject: `Web Lead ${subject}` } });
      expect(parsed).toMatchObject({ outcome: 'lead', fields: ana });
      expect(parsed.subject?.isWellFormed()).toBe(true);
    }
  });

  it('M41 a body in winmail.dat alone is shown as such', async () => {
    for (const type of [
      'application/ms-tnef',
      'application/vnd.ms-tnef; name=winmail.dat',
      'application/octet-stream; name=winmail.dat',
    ]) {
      const source = rawMail(
        multipart('mixed'),
        alternatives([[`${type}\nContent-Transfer-Encoding: base64`, 'eJ8+IgAA']]),
      );
      expect(await parseMail(source)).toMatchObject({ outcome: 'quarantined', reason: 'tnef_only' });
    }
  });

  it('M64 a bare = in quoted-printable', async () => {
    const headers = {
      'Content-Type': 'text/plain; charset=utf-8',
      'Content-Transfer-Encoding': 'quoted-printable',
    };
    const text = `${baseText}\nSource: https://gym.example/?utm=4567&id=AB`;
    expect((await parseMail(rawMail(headers, text))).fields).toMatchObject(ana);
    expect(
      (await parseMail(rawMail(headers, `Page URL: https://gym.example/?a=b&utm=C3=A9\n${baseText}`))).fields,
    ).toMatchObject(ana);
  });
});

/** The lead, a big table, and five messages of the same kind, `levels` deep. */
function manyMessages(levels: number): Buffer {
  const table = `<table>${'<tr><td>Color</td><td>red</td></tr>'.repeat(10_000)}</table>`;
  const nested = (level: number): string => {
    const boundary = `n${level}`;
    const parts = ['text/html; name=a.html', 'text/html; name=b.html'].map(
      (type) =>
        `--${boundary}\r\nContent-Type: ${type}\r\nContent-Disposition: attachment\r\n\r\n${table}\r\n`,
    );
    const inner =
      level === 0
        ? []
        : Array.from(
            { length: 3 },
            () => `--${boundary}\r\nContent-Type: message/rfc822\r\n\r\n${nested(level - 1)}\r\n`,
          );
    return `Subject: x\r\nContent-Type: multipart/mixed; boundary=${boundary}\r\n\r\n${[...parts, ...inner].join('')}--${boundary}--\r\n`;
  };
  return rawMail(
    multipart('mixed'),
    alternatives([
      ['text/plain', baseText],
      ['message/rfc822', nested(levels)],
    ]),
  );
}

describe('M38 mails made to cost time', () => {
  const big = 'word word word word word ';
  it.each<[string, Buffer]>([
    [
      '(a) 2 MB of format=flowed in one line',
      rawMail({ 'Content-Type': 'text/plain; format=flowed' }, `${baseText}\n${'word '.repeat(400_000)}`),
    ],
    [
      '(a) 2 MB of format=flowed in joined lines',
      rawMail({ 'Content-Type': 'text/plain; format=flowed' }, `${baseText}\n${`${big}\n`.repeat(80_000)}`),
    ],
    [
      '(a) lead lines joined too',
      rawMail(
        { 'Content-Type': 'text/plain; format=flowed' },
        `${baseText.replaceAll('\n', ' \n')} \n${`${big}\n`.repeat(80_000)}`,
      ),
    ],
    [
      '(b) a table of 60,000 rows',
      mailSource({
        html: `<p>${baseText.replaceAll('\n', '<br>')}</p><table>${'<tr><td>Row</td><td>value value value value value value value value</td></tr>'.repeat(60_000)}</table>`,
      }),
    ],
    [
      '(b) 60,000 rows in the table of the lead',
      mailSource({
        html: `<table>${baseText
          .split('\n')
          .map((line) => `<tr><td>${line.replace(': ', '</td><td>')}</td></tr>`)
          .join('')}${'<tr><td>a</td><td>b</td></tr>'.repeat(60_000)}</table>`,
      }),
    ],
    [
      '(c) 20,000 nested divs',
      mailSource({ html: `<p>${baseText.replaceAll('\n', '<br>')}</p>${'<div>'.repeat(20_000)}x` }),
    ],
    [
      '(c) 20,000 nested tables',
      mailSource({ html: `<p>${baseText.replaceAll('\n', '<br>')}</p>${'<table><tr><td>'.repeat(20_000)}x` }),
    ],
    ['4 MB of text', mailSource({ text: `${baseText}\n${'line of text\n'.repeat(330_000)}` })],
    ['2 MB of labels', mailSource({ text: `${baseText}\n${'Color: red\n'.repeat(200_000)}` })],
    ['2 MB of colons', mailSource({ text: `${baseText}\n${':'.repeat(2_000_000)}` })],
    ['2 MB without white space', mailSource({ text: `${baseText}\n${'x'.repeat(2_000_000)}` })],
    ['2 MB of at signs', mailSource({ text: `${baseText}\n${'a@'.repeat(1_000_000)}` })],
    [
      '2 MB of digits below a phone label',
      mailSource({ text: `${baseText}\nMobile: ${'2 '.repeat(1_000_000)}` }),
    ],
    [
      '2 MB of blanks in a forward',
      mailSource({
        headers: { Subject: 'Fwd: Web Lead - Ana Lopez' },
        text: `${baseText}\n${' '.repeat(2_000_000)}`,
      }),
    ],
    [
      'a 3 MB picture in the HTML before the lead',
      mailSource({
        html: `<img src="data:image/png;base64,${'iVBORw0KGgo'.repeat(270_000)}"><p>${baseText.replaceAll('\n', '<br>')}</p>`,
      }),
    ],
    ['big attachments and messages in messages, each with more', manyMessages(3)],
    [
      'addresses after an open bracket',
      mailSource({ html: `<p>${baseText.replaceAll('\n', '<br>')}</p><${'a@b.co,'.repeat(60_000)}` }),
    ],
    ['words that announce a list', mailSource({ text: `${baseText}\n${'daily '.repeat(300_000)}` })],
    ['words that announce a list, first', mailSource({ text: `${'daily '.repeat(1000)}\n${baseText}` })],
    [
      'addresses on long lines',
      mailSource({ text: `${baseText}\n${`word ${'a@'.repeat(1900)} x\n`.repeat(100)}` }),
    ],
    [
      'part headers without end, damaged',
      rawMail(
        { 'Content-Type': 'text/plain; charset=utf-8' },
        Buffer.concat([
          Buffer.from(`${baseText}\r\n`),
          Buffer.from('\xe9\r\n', 'latin1'),
          Buffer.from('content-type: text/plain\r\n x\r\n'.repeat(20_000)),
        ]),
      ),
    ],
    [
      '990 parts',
      rawMail(
        multipart('mixed'),
        alternatives([
          ['text/plain', baseText],
          ...Array.from({ length: 990 }, () => ['text/plain', 'x'] as const),
        ]),
      ),
    ],
    [
      '200 attached messages',
      rawMail(
        multipart('mixed'),
        alternatives([
          ['text/plain', baseText],
          ...Array.from({ length: 200 }, () => ['message/rfc822', 'Subject: x\n\nhello'] as const),
        ]),
      ),
    ],
  ])('M38 %s', async (_, source) => {
    const seconds = await cpuSeconds(async () => {
      expect(await parseMail(source)).toMatchObject({ outcome: 'lead', fields: ana });
    });
    expect(seconds).toBeLessThan(5);
  });

  it.each([
    're ',
    're: ',
    '[x] ',
    '[',
    'Fwd: ',
    'New ',
    'a - ',
    '"',
    'cancel ',
    'class ',
    'daily ',
    'out of office ',
  ])('M38 a subject of nothing but %j', async (word) => {
    const source = mailSource({ headers: { Subject: `${word.repeat(20_000)}x` } });
    const seconds = await cpuSeconds(async () => {
      expect((await parseMail(source)).fields).toMatchObject(word === 'out of office ' ? {} : ana);
    });
    expect(seconds).toBeLessThan(1);
  });
});
