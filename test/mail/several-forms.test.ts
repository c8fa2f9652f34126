import { describe, expect, it } from 'vitest';
import { parseMail } from '../../src/mail/parse.ts';
import { alternatives, ana, baseText, mailSource, rawMail } from '../support/mails.ts';

const headers = { From: 'Owner <owner@gym.example>', Subject: 'Fwd: Web Lead - Ana Lopez' };
const gmailBlock =
  '---------- Forwarded message ---------\nFrom: Web <web@forms.example>\nDate: Tue, Nov 3, 2026 at 9:15 AM\nSubject: Web Lead - Ana Lopez\nTo: <lead-tracking+OTF0412@leads.example>\n';

describe('forms of several people passed on in one mail', () => {
  const bo = 'First Name: Bo\nLast Name: Chen\nPhone: (646) 555-0188\nEmail: bo@x.example';
  const mixed = (...parts: [string, string][]) =>
    parseMail(
      rawMail({ Subject: 'Fwd: leads', 'Content-Type': 'multipart/mixed; boundary=b1' }, alternatives(parts)),
    );
  const attached = (text: string): [string, string] => [
    'message/rfc822',
    mailSource({ headers: { 'Message-ID': `<${text.length}@x>` }, text }).toString(),
  ];
  const adf = (name: string, email: string): [string, string] => [
    'application/x-adf+xml; name=lead.adf\nContent-Disposition: attachment; filename=lead.adf',
    `<adf><prospect><customer><contact><name part="full">${name}</name><email>${email}</email></contact></customer></prospect></adf>`,
  ];
  const digest = { outcome: 'quarantined', reason: 'digest', fields: {} };

  it('M59 are a digest: nobody is lost behind the first', async () => {
    expect(await mixed(['text/plain', 'two leads'], attached(baseText), attached(bo))).toMatchObject(digest);
    expect(await mixed(['text/plain', bo], attached(baseText))).toMatchObject(digest);
    expect(await mixed(adf('Ana Lopez', 'ana@x.example'), adf('Bo Chen', 'bo@x.example'))).toMatchObject(
      digest,
    );
    const blocks = `FYI\n\n${gmailBlock}${baseText}\n\n${gmailBlock}${bo}`;
    expect(await parseMail(mailSource({ headers, text: blocks }))).toMatchObject(digest);
  });

  it('are one lead if they are one person, or one of them is no form', async () => {
    const again = baseText.replace('Lopez', 'Lopez-Garcia');
    for (const parsed of [
      await mixed(['text/plain', 'two mails'], attached(baseText), attached(again)),
      await mixed(['text/plain', 'See attached.\n\nKim Park\nPhone: (212) 555-0100'], attached(baseText)),
      await mixed(['text/plain', ''], attached('Lunch at noon'), attached(baseText)),
      await parseMail(mailSource({ headers, text: `${gmailBlock}${baseText}\n\n${gmailBlock}${again}` })),
    ]) {
      expect(parsed).toMatchObject({ outcome: 'lead', fields: { phone: ana.phone, email: ana.email } });
    }
  });

  it('are read from the middle of a chain whose original is none', async () => {
    const text = `${gmailBlock}${baseText}\n\n${gmailBlock}Lunch at noon`;
    expect((await parseMail(mailSource({ headers, text }))).fields).toMatchObject(ana);
  });
});
