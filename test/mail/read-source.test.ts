import { describe, expect, it } from 'vitest';
import { parseMail } from '../../src/mail/parse.ts';
import { alternatives, ana, baseText, mailSource, rawMail } from '../support/mails.ts';

const multipart = (type: string) => ({ 'Content-Type': `${type}; boundary=b1` });
const latin1 = (text: string) => Buffer.from(text.replace(/\n/g, '\r\n'), 'latin1');
const jose = baseText.replace('Ana', 'José');

describe('where the lead may stand', () => {
  it.each<[string, Buffer]>([
    ['text', mailSource()],
    [
      'HTML alone in an alternative',
      rawMail(
        multipart('multipart/alternative'),
        alternatives([['text/html', baseText.replaceAll('\n', '<br>')]]),
      ),
    ],
    ['HTML beside an empty text', mailSource({ text: '\n', html: baseText.replaceAll('\n', '<br>') })],
    [
      'HTML beside a stub',
      mailSource({ text: 'This e-mail needs an HTML viewer.', html: baseText.replaceAll('\n', '<br>') }),
    ],
    [
      'HTML beside glued text',
      mailSource({
        text: 'First NameAnaLast NameLopezPhone(212) 555-0147',
        html: baseText.replaceAll('\n', '<br>'),
      }),
    ],
    ['text beside an empty HTML', mailSource({ text: baseText, html: '<html><body></body></html>' })],
    [
      'a text part sent as attachment',
      rawMail(
        multipart('multipart/mixed'),
        alternatives([['text/plain; name=lead.txt\nContent-Disposition: attachment', baseText]]),
      ),
    ],
    [
      'an HTML attachment',
      rawMail(
        multipart('multipart/mixed'),
        alternatives([
          ['text/plain', 'see file'],
          [
            'text/html; name=lead.html\nContent-Disposition: attachment',
            `<html>${baseText.replaceAll('\n', '<br>')}</html>`,
          ],
        ]),
      ),
    ],
    ['Content-Type: text', rawMail({ 'Content-Type': 'text' }, baseText)],
    ['no Content-Type', rawMail({}, baseText)],
    [
      'a multipart without boundary',
      rawMail({ 'Content-Type': 'multipart/alternative' }, alternatives([['text/plain', baseText]])),
    ],
    [
      'a multipart with another boundary than its lines',
      rawMail(
        { 'Content-Type': 'multipart/alternative;\r\n boundary="other"' },
        alternatives([['text/plain', baseText]]),
      ),
    ],
    [
      'a multipart without final boundary',
      rawMail(multipart('multipart/mixed'), alternatives([['text/plain', baseText]]).replace('--b1--', '')),
    ],
    ['text that calls itself base64', rawMail({ 'Content-Transfer-Encoding': 'base64' }, baseText)],
    [
      'base64 with junk',
      rawMail({ 'Content-Transfer-Encoding': 'base64' }, `${Buffer.from(baseText).toString('base64')}\n!!`),
    ],
    [
      'quoted-printable',
      rawMail(
        { 'Content-Transfer-Encoding': 'quoted-printable' },
        baseText.replace('@', '=40').replace('Lopez', 'Lop=\nez'),
      ),
    ],
    ['no headers at all', Buffer.from(baseText)],
    ['an empty header block', Buffer.from(`\r\n${baseText}`)],
    ['bare line feeds', Buffer.from(mailSource().toString().replaceAll('\r\n', '\n'))],
    ['a byte order mark', rawMail({ 'Content-Type': 'text/plain; charset=utf-8' }, `\ufeff${baseText}`)],
    ['UTF-16', rawMail({ 'Content-Type': 'text/plain; charset=utf-16le' }, Buffer.from(baseText, 'utf16le'))],
    [
      'format=flowed',
      rawMail({ 'Content-Type': 'text/plain; format=flowed' }, baseText.replaceAll('\n', ' \n')),
    ],
    [
      'a mail with a picture',
      rawMail(
        multipart('multipart/mixed'),
        alternatives([
          ['text/plain', baseText],
          ['image/png\nContent-Transfer-Encoding: base64', 'iVBORw0KGgo='],
        ]),
      ),
    ],
  ])('reads %s', async (_, source) => {
    const parsed = await parseMail(source);
    expect(parsed.outcome).toBe('lead');
    expect(parsed.fields).toMatchObject(ana);
  });

  it.each<[string, Buffer]>([
    ['unknown charset', rawMail({ 'Content-Type': 'text/plain; charset=x-unknown' }, latin1(jose))],
    ['UTF-8 under an unknown charset', rawMail({ 'Content-Type': 'text/plain; charset=x-unknown' }, jose)],
    ['latin1 labelled utf-8', rawMail({ 'Content-Type': 'text/plain; charset="utf-8"' }, latin1(jose))],
    ['latin1 without a label', rawMail({}, latin1(jose))],
    ['latin1 with a type alone', rawMail({ 'Content-Type': 'text/plain' }, latin1(jose))],
    [
      'quoted-printable latin1 labelled utf-8',
      rawMail(
        { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Transfer-Encoding': 'quoted-printable' },
        jose.replace('é', '=E9'),
      ),
    ],
    [
      'charset in the HTML alone',
      rawMail(
        { 'Content-Type': 'text/html' },
        latin1(`<meta charset="iso-8859-1">${jose.replaceAll('\n', '<br>')}`),
      ),
    ],
    [
      'latin1 in a part',
      rawMail(multipart('multipart/mixed'), latin1(alternatives([['text/plain; charset=utf-8', jose]]))),
    ],
    [
      'latin1 in an attachment',
      rawMail(
        multipart('multipart/mixed'),
        latin1(alternatives([['text/plain; name=lead.txt\nContent-Disposition: attachment', jose]])),
      ),
    ],
    ['correct latin1', rawMail({ 'Content-Type': 'text/plain; charset=iso-8859-1' }, latin1(jose))],
    ['correct UTF-8', rawMail({ 'Content-Type': 'text/plain; charset=utf-8' }, jose)],
  ])('reads José: %s', async (_, source) => {
    expect((await parseMail(source)).fields).toMatchObject({ ...ana, firstName: 'José' });
  });

  it('keeps valid UTF-8 beside a damaged byte', async () => {
    const bytes = Buffer.concat([Buffer.from(jose), Buffer.from([0x0a, 0xe9, 0x0a])]);
    const { fields, text } = await parseMail(rawMail({ 'Content-Type': 'text/plain; charset=utf-8' }, bytes));
    expect(fields.firstName).toBe('José');
    expect(text).toContain('\ufffd');
  });
});

describe('what can not be read', () => {
  it.each<[string, Buffer, string]>([
    ['nothing', Buffer.alloc(0), 'no_text'],
    ['headers alone', rawMail({}, ''), 'no_text'],
    ['blank text', rawMail({}, ' \n \n'), 'no_text'],
    [
      'a picture alone',
      rawMail({ 'Content-Type': 'image/png', 'Content-Transfer-Encoding': 'base64' }, 'iVBORw0KGgo='),
      'no_text',
    ],
    [
      'winmail.dat alone',
      rawMail(
        multipart('multipart/mixed'),
        alternatives([
          ['application/ms-tnef; name=winmail.dat\nContent-Transfer-Encoding: base64', 'eJ8+IgAA'],
        ]),
      ),
      'tnef_only',
    ],
    [
      'winmail.dat of unknown type beside blank text',
      rawMail(
        multipart('multipart/mixed'),
        alternatives([
          ['text/plain', '\n'],
          [
            'application/octet-stream; name="winmail.dat"\nContent-Disposition: attachment; filename="winmail.dat"\nContent-Transfer-Encoding: base64',
            'eJ8+IgAA',
          ],
        ]),
      ),
      'tnef_only',
    ],
    [
      '1,001 parts',
      rawMail(
        multipart('multipart/mixed'),
        alternatives(Array.from({ length: 1001 }, () => ['text/plain', baseText] as const)),
      ),
      'too_many_parts',
    ],
    ['1.2 MB of headers', rawMail({ 'X-Long': 'x'.repeat(1_200_000) }, baseText), 'too_many_parts'],
    [
      'random bytes',
      Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) % 256)),
      'unparsed',
    ],
  ])('%s is quarantined with a reason', async (_, source, reason) => {
    const parsed = await parseMail(source);
    expect(parsed.outcome).toBe('quarantined');
    expect(reason === 'unparsed' ? ['unparsed', 'no_text'] : [reason]).toContain(parsed.reason);
    expect(parsed.mailKey).toMatch(/^[0-9a-f]{64}$/);
  });

  it('still shows recipient and subject of a mail with too many parts', async () => {
    const parsed = await parseMail(
      rawMail(
        multipart('multipart/mixed'),
        alternatives(Array.from({ length: 1001 }, () => ['text/plain', ''] as const)),
      ),
    );
    expect(parsed).toMatchObject({
      subject: 'Web Lead - Ana Lopez',
      from: 'web@forms.example',
      messageId: '<a1@forms.example>',
    });
    expect(parsed.recipients).toEqual([
      { source: 'to', address: 'lead-tracking+otf0412@leads.example', trackingId: 'OTF0412' },
    ]);
  });

  it('tells a missing From, To and Date by their absence', async () => {
    const parsed = await parseMail(
      mailSource({ headers: { From: null, To: null, Date: null, Subject: null, 'Message-ID': null } }),
    );
    expect(parsed).toMatchObject({ outcome: 'lead', recipients: [], fields: ana });
    for (const absent of ['from', 'replyTo', 'subject', 'messageId', 'rawDate', 'forwarded'])
      expect(parsed).not.toHaveProperty(absent);
  });
});
