import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mailKey } from '../../src/mail/mail-key.ts';
import { parseMail } from '../../src/mail/parse.ts';
import { recipientOf } from '../../src/mail/recipients.ts';
import { alternatives, baseText, type MailParts, mailSource, rawMail } from '../support/mails.ts';

const keyOf = async (parts: MailParts) => (await parseMail(mailSource(parts))).mailKey;

const recipient = fc
  .tuple(
    fc.constantFrom('delivered-to', 'to', 'cc'),
    fc.constantFrom('a@x.example', 'b@x.example', 'lead-tracking+A@x.example'),
  )
  .map(([source, address]) => recipientOf(source as 'to', address));
const parts = fc.record({
  messageId: fc.string({ minLength: 1 }).map((text) => `<${text.replace(/[\s<>]/g, '_')}>`),
  recipients: fc.array(recipient, { maxLength: 4 }),
  body: fc.string({ unit: 'grapheme' }),
  source: fc.uint8Array(),
});

describe('mailKey', () => {
  it('is 64 hexadecimal digits and a function of its arguments', () => {
    fc.assert(
      fc.property(parts, (mail) => {
        expect(mailKey(mail)).toMatch(/^[0-9a-f]{64}$/);
        expect(mailKey({ ...mail })).toBe(mailKey(mail));
      }),
    );
  });

  it('does not move with white space, line endings, angle brackets or the rest of the source', () => {
    fc.assert(
      fc.property(parts, fc.uint8Array(), (mail, source) => {
        const same = {
          ...mail,
          source,
          messageId: ` ${mail.messageId.slice(1, -1)}\r\n `,
          body: `\r\n${mail.body.replace(/ /g, ' \r\n\t')} `,
        };
        expect(mailKey(same)).toBe(mailKey(mail));
      }),
    );
  });

  it('moves with Message-ID, recipient used and body, which can not run together', () => {
    const base = {
      messageId: '<ab@x>',
      recipients: [recipientOf('to', 'c@x.example')],
      body: 'd',
      source: new Uint8Array(),
    };
    const keys = [
      base,
      { ...base, messageId: '<a@x>' },
      { ...base, messageId: '<ab@xc>', recipients: [recipientOf('to', '@x.example')] },
      { ...base, recipients: [recipientOf('to', 'c@x.exampled')], body: '' },
      { ...base, body: 'e' },
    ].map(mailKey);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('takes the tagged recipient, else the first To, else the first', () => {
    const key = (...recipients: ReturnType<typeof recipientOf>[]) =>
      mailKey({ messageId: '<a@x>', recipients, body: '', source: new Uint8Array() });
    const tagged = recipientOf('cc', 'lead-tracking+A@x.example');
    const to = recipientOf('to', 'a@x.example');
    const delivered = recipientOf('delivered-to', 'b@x.example');
    expect(key(delivered, to, tagged)).toBe(key(tagged));
    expect(key(delivered, to)).toBe(key(to));
    expect(key(delivered)).not.toBe(key(to));
  });
});

describe('the key of a mail', () => {
  it('differs for two people under one Message-ID, and for one mail to two stores', async () => {
    const ana = await keyOf({});
    expect(await keyOf({ text: baseText.replace('Ana', 'Bo') })).not.toBe(ana);
    expect(await keyOf({ headers: { To: 'lead-tracking+OTF0777@leads.example' } })).not.toBe(ana);
    expect(await keyOf({ headers: { 'Message-ID': '<a2@forms.example>' } })).not.toBe(ana);
  });

  it('stays the same whatever a relay adds', async () => {
    const added = { Received: 'by mx.example', 'X-Spam': 'no', Date: 'garbage', Subject: 'Fwd: again' };
    expect(await keyOf({ headers: added })).toBe(await keyOf({}));
  });

  it('hashes the source without a Message-ID', async () => {
    const headers = { 'Message-ID': null };
    expect(await keyOf({ headers })).toBe(await keyOf({ headers }));
    expect(await keyOf({ headers: { ...headers, 'X-Spam': 'no' } })).not.toBe(await keyOf({ headers }));
    expect(await keyOf({ headers: { 'Message-ID': '<>' } })).not.toBe(await keyOf({ headers }));
  });

  it('differs when two leads differ only in what is attached', async () => {
    const attached = async (name: string) => {
      const adf = `<adf><prospect><customer><contact><name part="first">${name}</name><phone>212-555-0147</phone></contact></customer></prospect></adf>`;
      const body = alternatives([
        ['text/plain', 'A lead is attached'],
        ['application/xml; name=lead.xml\nContent-Disposition: attachment', adf],
      ]);
      return (await parseMail(rawMail({ 'Content-Type': 'multipart/mixed; boundary=b1' }, body))).mailKey;
    };
    expect(await attached('Ana')).not.toBe(await attached('Bo'));
  });
});
