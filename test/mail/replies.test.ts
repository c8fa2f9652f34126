import { describe, expect, it } from 'vitest';
import { parseMail } from '../../src/mail/parse.ts';
import { alternatives, ana, baseText, type MailParts, mailSource, rawMail } from '../support/mails.ts';

const thread = { 'In-Reply-To': '<a1@forms.example>', References: '<a1@forms.example>' };
const staff = { From: 'Kim Park <kim@gym.example>', 'Message-ID': '<r1@gym.example>' };
const reply = { ...staff, ...thread, Subject: 'Re: Web Lead - Ana Lopez' };
const quote = (text: string) => text.replace(/^/gm, '> ');
const attribution = 'On Tue, Nov 3, 2026 at 9:15 AM Web Form <web@forms.example> wrote:';
const outlookHead =
  'From: Web Form <web@forms.example>\nSent: Tuesday, November 3, 2026 9:15 AM\nTo: lead-tracking+OTF0412@leads.example\nSubject: Web Lead - Ana Lopez';
const forwardHead =
  '---------- Forwarded message ---------\nFrom: Web Form <web@forms.example>\nDate: Tue, Nov 3, 2026 at 9:15 AM\nSubject: Web Lead - Ana Lopez\nTo: <owner@riverside.example>\n\n';
const html = baseText.replaceAll('\n', '<br>');
const parse = (parts: MailParts) => parseMail(mailSource(parts));

describe('a reply whose form is only in the mail that it quotes', () => {
  it.each([
    ['marked by >', `Called, no answer.\n\n${attribution}\n\n${quote(baseText)}`],
    [
      'below a wrapped attribution',
      `Called.\n\n${attribution.replace('<web', '<\nweb')}\n\n${quote(baseText)}`,
    ],
    ['without attribution', `Called.\n\n${quote(baseText)}`],
    ['without marks', `Called.\n\n${attribution}\n\n${baseText}`],
    ['with words below', `${attribution}\n\n${quote(baseText)}\n\nCalled, she comes on Saturday.`],
    ['with words between', `${quote('First Name: Ana')}\nNice name.\n${quote(baseText)}\nCalled.`],
    ['in Outlook', `Called.\n\n${'_'.repeat(32)}\n${outlookHead}\n\n${baseText}`],
    ['in an older Outlook', `Called.\n\n-----Original Message-----\n${outlookHead}\n\n${baseText}`],
    [
      'in a German Outlook',
      `Angerufen.\n\nVon: Web <web@forms.example>\nGesendet: Dienstag, 3. November 2026 09:15\nAn: leads@leads.example\nBetreff: Web Lead\n\n${baseText}`,
    ],
    [
      'in German',
      `Angerufen.\n\nAm Di., 3. Nov. 2026 um 09:15 Uhr schrieb Web <web@forms.example>:\n\n${quote(baseText)}`,
    ],
    [
      'below a signature with labels',
      `Called.\n\nKim Park\nPhone: (212) 555-0100\nEmail: kim@gym.example\n\n${attribution}\n\n${quote(baseText)}`,
    ],
    [
      'of a forward',
      `Thanks!\n\n${attribution}\n\n${quote(`FYI\n\n${forwardHead}\n${baseText}`)}`,
      'Re: Fwd: Web Lead - Ana Lopez',
    ],
    ['under a bare subject', `Called.\n\n${attribution}\n\n${quote(baseText)}`, 'Web Lead - Ana Lopez'],
    [
      'of a list of people',
      `Called all.\n\n${quote(`${baseText}\n\n${baseText.replace('Ana', 'Bo')}`)}`,
      'Re: 2 new leads',
    ],
  ])('is no lead: %s', async (_, text, Subject = reply.Subject) => {
    expect(await parse({ headers: { ...reply, Subject }, text })).toMatchObject({
      outcome: 'quarantined',
      reason: 'quoted_only',
    });
  });

  it.each([
    ['Gmail', `<div>Called.</div><div>${attribution.replace(/<(.*)>/, '&lt;$1&gt;')}<br></div>`, true],
    ['Outlook', `<p>Called.</p><p>${outlookHead.replace(/[<>]/g, '').replaceAll('\n', '<br>')}</p>`, false],
    ['no attribution', '<p>Called.</p>', true],
  ])('is no lead in HTML: %s', async (_, own, quoted) => {
    const form = quoted ? `<blockquote>${html}</blockquote>` : `<p>${html}</p>`;
    const expected = { outcome: 'quarantined', reason: 'quoted_only' };
    expect(await parse({ headers: reply, html: own + form })).toMatchObject(expected);
    const text = `Called.\n\n${attribution}\n\n${quote(baseText)}`;
    expect(await parse({ headers: reply, text, html: own + form })).toMatchObject(expected);
  });

  it('is no lead where only one of its bodies shows what is quoted', async () => {
    const parts = { text: `Called.\n\n${quote(baseText)}`, html: `<p>Called.</p><p>${html}</p>` };
    expect((await parse({ headers: reply, ...parts })).outcome).toBe('quarantined');
  });

  it('is no lead without thread headers if it says something', async () => {
    const headers = { ...staff, Subject: 'RE: Web Lead - Ana Lopez' };
    const text = `Called.\n\n${attribution}\n\n${quote(baseText)}`;
    expect((await parse({ headers, text })).outcome).toBe('quarantined');
  });

  it('is no second cancellation, unless its own words cancel', async () => {
    const cancelled = `${attribution}\n\n${quote(`The booking below has been canceled.\n\n${baseText}`)}`;
    const headers = { ...reply, Subject: 'Re: Canceled: Ana Lopez' };
    expect((await parse({ headers, text: `Thanks.\n\n${cancelled}` })).reason).toBe('quoted_only');
    const own = `Ana Lopez has cancelled her class.\n\n${attribution}\n\n${quote(baseText)}`;
    expect(await parse({ headers: reply, text: own })).toMatchObject({
      outcome: 'cancellation',
      fields: { phone: ana.phone },
    });
  });
});

describe('what stays a lead', () => {
  it.each([
    ['a form whose subject begins with Re:', { Subject: 'Re: Free class' }, baseText],
    ['a form with thread headers', thread, baseText],
    ['a form with both', { ...thread, Subject: 'Re: Free class' }, baseText],
    ['a form above a quotation', reply, `${baseText}\n\n${attribution}\n\n${quote('Thanks for your visit')}`],
    ['a form below a quotation', reply, `${attribution}\n\n${quote('Who are you?')}\n\n${baseText}`],
    [
      'a form whose message quotes',
      { Subject: 'Re: Website' },
      `${baseText}\nMessage: you said\n${quote('call me')}`,
    ],
    [
      'contacts without a name above a quotation',
      { Subject: 'Re: Website' },
      `Email: ana@x.example\nPhone: 212-555-0147\n\n${attribution}\n\n${quote('How do we reach you?')}`,
    ],
    [
      'a forward with thread headers',
      { ...thread, Subject: 'Fwd: Web Lead' },
      `FYI\n\n${forwardHead}${baseText}`,
    ],
    [
      'a forward of a reply',
      { ...thread, Subject: 'Fwd: Re: Web Lead' },
      `FYI\n\n${forwardHead}${quote(baseText)}`,
    ],
    ['a forward that kept Re: in its subject', reply, `FYI\n\n${forwardHead}${baseText}`],
    [
      'a forward under a subject of its own',
      { ...thread, Subject: 'Ana' },
      `FYI\n\n${outlookHead}\n\n${baseText}`,
    ],
    ['a mail sent on without a word', { Subject: 'Re: Web Lead' }, `${attribution}\n\n${quote(baseText)}`],
  ])('%s', async (_, headers, text) => {
    expect(await parse({ headers, text })).toMatchObject({
      outcome: 'lead',
      fields: { phone: ana.phone, email: ana.email },
    });
  });

  it('a forwarded block is no booking although the subject says Re:', async () => {
    const parsed = await parse({ headers: reply, text: `FYI\n\n${forwardHead}${baseText}` });
    expect(parsed.fields).toEqual({ ...ana, leadType: 'Web Lead' });
    expect(parsed.forwarded).toMatchObject({ from: 'web@forms.example', to: 'owner@riverside.example' });
  });

  it("a new form above another person's quoted one", async () => {
    const own = 'Name: Bo Chen\nPhone: 646-555-0188\nEmail: bo@x.example';
    const parsed = await parse({ headers: reply, text: `${own}\n\n${attribution}\n\n${quote(baseText)}` });
    expect(parsed.fields).toMatchObject({ firstName: 'Bo', phone: '+16465550188', email: 'bo@x.example' });
    const page = `<p>${own.replaceAll('\n', '<br>')}</p><blockquote>${html}</blockquote>`;
    expect((await parse({ headers: reply, html: page })).fields).toMatchObject({ firstName: 'Bo' });
  });

  it('a mail attached to a reply', async () => {
    const source = rawMail(
      { ...reply, 'Content-Type': 'multipart/mixed; boundary=b1' },
      alternatives([
        ['text/plain', `See attached.\n\n${attribution}\n\n${quote('Name: Bo Chen\nPhone: 646-555-0188')}`],
        ['message/rfc822', mailSource().toString()],
      ]),
    );
    expect(await parseMail(source)).toMatchObject({ outcome: 'lead', fields: ana });
  });
});
