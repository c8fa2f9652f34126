import { describe, expect, it } from 'vitest';
import { parseMail } from '../../src/mail/parse.ts';
import { cpuSeconds } from '../support/cpu-time.ts';
import { alternatives, ana, baseText, mailSource, rawMail } from '../support/mails.ts';

const headers = {
  From: 'Owner <owner@gym.example>',
  To: 'riverside@leads.example',
  Subject: 'Fwd: Web Lead - Ana Lopez',
};
const original = { from: 'web@forms.example', to: 'lead-tracking+otf0412@leads.example' };
const gmailBlock =
  '---------- Forwarded message ---------\nFrom: Web <web@forms.example>\nDate: Tue, Nov 3, 2026 at 9:15 AM\nSubject: Web Lead - Ana Lopez\nTo: <lead-tracking+OTF0412@leads.example>\n';

describe('a mail forwarded in its text', () => {
  it.each<[string, string, Partial<typeof headers>]>([
    ['Gmail', `FYI\n\n${gmailBlock}\n\n${baseText}\n`, {}],
    ['Gmail, subject edited', `${gmailBlock}\n\n${baseText}\n`, { Subject: 'new one for you' }],
    [
      'Gmail, prefix in upper case',
      `${gmailBlock}\n\n${baseText}\n`,
      { Subject: 'FWD: Web Lead - Ana Lopez' },
    ],
    [
      'Gmail, external tag',
      `${gmailBlock}\n\n${baseText}\n`,
      { Subject: '[EXTERNAL] Fwd: Web Lead - Ana Lopez' },
    ],
    [
      'Apple Mail',
      `Begin forwarded message:\n\nFrom: Web <web@forms.example>\nSubject: Web Lead - Ana Lopez\nDate: November 3, 2026 at 9:15:00 AM EST\nTo: lead-tracking+OTF0412@leads.example\n\n${baseText}\n`,
      {},
    ],
    [
      'Apple Mail, quoted',
      `> Begin forwarded message:\n> \n> From: Web <web@forms.example>\n> Subject: Web Lead - Ana Lopez\n> Date: November 3, 2026 at 9:15:00 AM EST\n> To: lead-tracking+OTF0412@leads.example\n> \n${baseText.replace(/^/gm, '> ')}\n`,
      {},
    ],
    [
      'Outlook with a separator',
      `________________________________\nFrom: Web <web@forms.example>\nSent: Tuesday, November 3, 2026 9:15 AM\nTo: lead-tracking+OTF0412@leads.example <lead-tracking+OTF0412@leads.example>\nSubject: Web Lead - Ana Lopez\n\n${baseText}\n`,
      { Subject: 'Fw: Web Lead - Ana Lopez' },
    ],
    [
      'Outlook without separator',
      `FYI\n\nFrom: Web <web@forms.example>\nSent: Tuesday, November 3, 2026 9:15 AM\nTo: lead-tracking+OTF0412@leads.example\nSubject: Web Lead - Ana Lopez\n\n${baseText}\n`,
      { Subject: 'FW: Web Lead - Ana Lopez' },
    ],
    [
      'Outlook without separator, subject edited',
      `FYI\n\nFrom: Web <web@forms.example>\nSent: Tuesday, November 3, 2026 9:15 AM\nTo: lead-tracking+OTF0412@leads.example\nSubject: Web Lead - Ana Lopez\n\n${baseText}\n`,
      { Subject: 'Riverside lead' },
    ],
    [
      'Outlook, original message',
      `-----Original Message-----\nFrom: Web <web@forms.example>\nSent: Tuesday, November 3, 2026 9:15 AM\nTo: lead-tracking+OTF0412@leads.example\nSubject: Web Lead - Ana Lopez\n\n${baseText}\n`,
      { Subject: 'FW: Web Lead - Ana Lopez' },
    ],
    [
      'bold markers',
      `*From:* Web <web@forms.example>\n*Sent:* Tuesday, November 3, 2026 9:15 AM\n*To:* lead-tracking+OTF0412@leads.example\n*Subject:* Web Lead - Ana Lopez\n\n${baseText}\n`,
      {},
    ],
    [
      'Yahoo',
      `   ----- Forwarded Message -----\nFrom: Web <web@forms.example>\nTo: lead-tracking+OTF0412@leads.example <lead-tracking+OTF0412@leads.example>\nSent: Tuesday, November 3, 2026 at 09:15:00 AM EST\nSubject: Web Lead - Ana Lopez\n\n${baseText}\n`,
      {},
    ],
    [
      'Thunderbird',
      `-------- Forwarded Message --------\nSubject: \tWeb Lead - Ana Lopez\nDate: \tTue, 3 Nov 2026 09:15:00 -0500\nFrom: \tWeb <web@forms.example>\nTo: \tlead-tracking+OTF0412@leads.example\n\n\n\n${baseText}\n`,
      {},
    ],
    [
      'German Outlook',
      `Von: Web <web@forms.example>\nGesendet: Dienstag, 3. November 2026 09:15\nAn: lead-tracking+OTF0412@leads.example\nBetreff: Web Lead - Ana Lopez\n\n${baseText}\n`,
      { Subject: 'WG: Web Lead - Ana Lopez' },
    ],
  ])('is read from the original: %s', async (_, text, changed) => {
    const parsed = await parseMail(mailSource({ headers: { ...headers, ...changed }, text }));
    expect(parsed.outcome).toBe('lead');
    expect(parsed.fields).toEqual({ ...ana, leadType: 'Web Lead' });
    expect(parsed.forwarded).toMatchObject(original);
    expect(parsed.forwarded?.date).toMatch(/3|2026/);
    expect(parsed.from).toBe('owner@gym.example');
    expect(parsed.recipients).toEqual([
      { source: 'to', address: 'riverside@leads.example' },
      { source: 'forwarded-original', address: original.to, trackingId: 'OTF0412' },
    ]);
  });

  it('is read from HTML, tables of the original included', async () => {
    const html = `<div>FYI</div><div class="gmail_quote"><div dir="ltr">---------- Forwarded message ---------<br>From: <strong>Web</strong> <span>&lt;<a href="mailto:web@forms.example">web@forms.example</a>&gt;</span><br>Date: Tue, Nov 3, 2026 at 9:15 AM<br>Subject: Web Lead - Ana Lopez<br>To: &lt;<a href="mailto:lead-tracking+OTF0412@leads.example">lead-tracking+OTF0412@leads.example</a>&gt;<br></div><br><br><table><tr><td>First Name</td><td>Ana</td></tr><tr><td>Last Name</td><td>Lopez</td></tr><tr><td>Phone</td><td>(212) 555-0147</td></tr><tr><td>Email</td><td>ana@x.example</td></tr></table></div>`;
    const parsed = await parseMail(mailSource({ headers, html }));
    expect(parsed.fields).toEqual({ ...ana, leadType: 'Web Lead' });
    expect(parsed.forwarded).toMatchObject(original);
  });

  it('is read from Outlook HTML', async () => {
    const html = `<p>FYI</p><div style="border-top:solid"><p><b>From:</b> Web &lt;web@forms.example&gt; <br><b>Sent:</b> Tuesday, November 3, 2026 9:15 AM<br><b>To:</b> lead-tracking+OTF0412@leads.example<br><b>Subject:</b> Web Lead - Ana Lopez</p></div><p>First Name: Ana<br>Last Name: Lopez<br>Phone: (212) 555-0147<br>Email: ana@x.example</p>`;
    const parsed = await parseMail(
      mailSource({ headers: { ...headers, Subject: 'FW: Web Lead - Ana Lopez' }, html }),
    );
    expect(parsed.fields).toEqual({ ...ana, leadType: 'Web Lead' });
    expect(parsed.forwarded).toMatchObject(original);
  });

  it('does not take the forwarding person for the lead', async () => {
    const text = `Please call her.\nBo Owner\nPhone: 646-555-0188\nEmail: owner@gym.example\n\n${gmailBlock}\n\n${baseText}\n`;
    expect((await parseMail(mailSource({ headers, text }))).fields).toEqual({ ...ana, leadType: 'Web Lead' });
  });

  it('is read above the original if that holds no lead', async () => {
    const text = `I want to start!\nName: Ana Lopez\nPhone: (212) 555-0147\nEmail: ana@x.example\n\n---------- Forwarded message ---------\nFrom: Riverside <news@gym.example>\nDate: Tue, Nov 3, 2026 at 9:15 AM\nSubject: Your free trial\nTo: <ana@x.example>\n\n\nCome and see us.\n`;
    const parsed = await parseMail(
      mailSource({ headers: { ...headers, Subject: 'Fwd: Your free trial' }, text }),
    );
    expect(parsed).toMatchObject({ outcome: 'lead', fields: ana, forwarded: { from: 'news@gym.example' } });
  });

  it('keeps the names where Outlook gives no address', async () => {
    const text = `From: Web Forms\nSent: Tuesday, November 3, 2026 9:15 AM\nTo: Riverside\nSubject: Web Lead - Ana Lopez\n\n${baseText}\n`;
    const parsed = await parseMail(
      mailSource({ headers: { ...headers, Subject: 'FW: Web Lead - Ana Lopez' }, text }),
    );
    expect(parsed.forwarded).toMatchObject({ from: 'Web Forms', to: 'Riverside' });
    expect(parsed.recipients).toEqual([{ source: 'to', address: 'riverside@leads.example' }]);
  });

  it.each([
    [
      'Samsung',
      '-------- Original message --------\nFrom: {from} \nDate: 11/3/26 9:15 AM (GMT-05:00) \nTo: {to} \nSubject: Web Lead - Ana Lopez \n',
    ],
    [
      'Proton',
      '------- Forwarded Message -------\nFrom: {from}\nDate: On Tuesday, November 3rd, 2026 at 9:15 AM\nSubject: Web Lead - Ana Lopez\nTo: {to}\n',
    ],
    [
      'Zoho',
      '============ Forwarded message ============\nFrom: {from}\nTo: <{to}>\nDate: Tue, 03 Nov 2026 09:15:00 -0500\nSubject: Web Lead - Ana Lopez\n============ Forwarded message ============\n',
    ],
    [
      'link texts',
      'From: Web <web@forms.example<mailto:web@forms.example>>\nSent: Tuesday, November 3, 2026 9:15 AM\nTo: {to}<mailto:{to}>\nSubject: Web Lead - Ana Lopez\n',
    ],
    [
      'no blank line',
      '---------- Forwarded message ---------\nFrom: {from}\nDate: Tue, Nov 3, 2026 at 9:15 AM\nSubject: Web Lead - Ana Lopez\nTo: <{to}>',
    ],
    ['French', 'De : {from}\nEnvoyé : mardi 3 novembre 2026 09:15\nÀ : {to}\nObjet : Web Lead - Ana Lopez\n'],
  ])('is read in other clients: %s', async (_, block) => {
    const filled = block
      .replaceAll('{from}', 'Web <web@forms.example>')
      .replaceAll('{to}', 'lead-tracking+OTF0412@leads.example');
    const Subject = block.startsWith('De') ? 'TR : Web Lead - Ana Lopez' : headers.Subject;
    const parsed = await parseMail(
      mailSource({ headers: { ...headers, Subject }, text: `FYI\n\n${filled}\n${baseText}\n` }),
    );
    expect(parsed.fields).toEqual({ ...ana, leadType: 'Web Lead' });
    expect(parsed.forwarded).toMatchObject(original);
  });

  it('is followed through nested forwards to the innermost', async () => {
    const inner = `${gmailBlock}\n\n${baseText}\n`;
    const text = `see below\n\n---------- Forwarded message ---------\nFrom: Front Desk <desk@gym.example>\nDate: Tue, Nov 3, 2026 at 10:00 AM\nSubject: Fwd: Web Lead - Ana Lopez\nTo: Owner <owner@gym.example>\n\n\nfor you\n\n${inner}`;
    const parsed = await parseMail(mailSource({ headers, text }));
    expect(parsed.fields).toEqual({ ...ana, leadType: 'Web Lead' });
    expect(parsed.forwarded).toMatchObject(original);
    expect(parsed.recipients.map(({ address }) => address)).toEqual([
      'riverside@leads.example',
      original.to,
      'owner@gym.example',
    ]);
  });

  it('reads all of a wrapped list of recipients', async () => {
    const text = `${gmailBlock.replace('To: <lead-tracking+OTF0412@leads.example>', 'To: Owner <owner@gym.example>, Harbor Leads\n <lead-tracking+OTF0777@leads.example>\nCc: desk@gym.example,\n bo@gym.example')}\n\n${baseText}\n`;
    const parsed = await parseMail(mailSource({ headers, text }));
    expect(parsed.fields).toEqual({ ...ana, leadType: 'Web Lead' });
    expect(parsed.recipients).toContainEqual({
      source: 'forwarded-original',
      address: 'lead-tracking+otf0777@leads.example',
      trackingId: 'OTF0777',
    });
  });
});

describe('a message forwarded as an attachment', () => {
  const inner = mailSource().toString();
  const attached = (type: string, body = inner, note = 'See attached') =>
    rawMail(
      { ...headers, 'Content-Type': 'multipart/mixed; boundary=b1' },
      alternatives([
        ['text/plain', note],
        [type, body],
      ]),
    );

  it.each([
    ['without disposition', 'message/rfc822'],
    ['inline', 'message/rfc822\nContent-Disposition: inline'],
    [
      'as attachment',
      'message/rfc822; name="lead.eml"\nContent-Disposition: attachment; filename="lead.eml"',
    ],
    [
      'as a file of unknown type',
      'application/octet-stream; name="lead.eml"\nContent-Disposition: attachment; filename="lead.eml"',
    ],
  ])('is read %s', async (_, type) => {
    const parsed = await parseMail(attached(type));
    expect(parsed).toMatchObject({
      outcome: 'lead',
      forwarded: { ...original, date: 'Tue, 3 Nov 2026 09:15:00 -0500' },
    });
    expect(parsed.fields).toEqual({ ...ana, leadType: 'Web Lead' });
    expect(parsed.recipients.at(-1)).toEqual({
      source: 'forwarded-original',
      address: original.to,
      trackingId: 'OTF0412',
    });
  });

  it('is read in base64', async () => {
    const type =
      'application/octet-stream; name="lead.eml"\nContent-Disposition: attachment; filename="lead.eml"\nContent-Transfer-Encoding: base64';
    expect((await parseMail(attached(type, Buffer.from(inner).toString('base64')))).fields).toMatchObject(
      ana,
    );
  });

  it('is read two levels down, and not without end', async () => {
    const nest = (source: string, level: number) =>
      `From: desk@gym.example\r\nTo: owner@gym.example\r\nSubject: Fwd\r\nContent-Type: multipart/mixed; boundary=n${level}\r\n\r\n--n${level}\r\nContent-Type: message/rfc822\r\n\r\n${source}\r\n--n${level}--\r\n`;
    expect((await parseMail(attached('message/rfc822', nest(inner, 1)))).fields).toMatchObject(ana);
    const deep = Array.from({ length: 60 }).reduce<string>((source, _, level) => nest(source, level), inner);
    expect((await parseMail(attached('message/rfc822', deep))).outcome).toBe('quarantined');
  });

  it("leaves the mail's own lead where the attachment has none", async () => {
    const parsed = await parseMail(
      attached('message/rfc822', 'From: a@x.example\r\nSubject: menu\r\n\r\nLunch at noon\r\n', baseText),
    );
    expect(parsed.fields).toMatchObject(ana);
    expect(parsed.forwarded).toBeUndefined();
  });
});

describe('what is no forward', () => {
  it.each([
    [
      'a quotation',
      'Re: Website',
      'Email: ana@x.example\nPhone: 212-555-0147\n\nOn Tue, Nov 3, 2026, "Web" <web@forms.example> wrote:\n> Thanks',
    ],
    [
      'a quotation under another subject',
      'Website',
      'Email: ana@x.example\nPhone: 212-555-0147\n\nOn Tue, Nov 3, 2026, "Web" <web@forms.example> wrote:\n> Thanks',
    ],
    [
      'a reply in Outlook',
      'RE: Website',
      'Email: ana@x.example\nPhone: 212-555-0147\n\nFrom: Web <web@forms.example>\nSent: Tuesday, November 3, 2026 9:15 AM\nTo: ana@x.example\nSubject: Website\n\nThanks',
    ],
    ['a subject alone', 'Fwd: your trial', 'Hi, I am Ana.\nEmail: ana@x.example\nPhone: 212-555-0147'],
    ['a subject alone, FW', 'FW: class', 'Name: Ana Lopez\nEmail: ana@x.example\nPhone: 212-555-0147'],
    [
      'labels From and Subject of a form',
      'Website',
      'From: Ana Lopez\nSubject: Trial\nEmail: ana@x.example\nPhone: 212-555-0147',
    ],
    [
      'a booking from and to',
      'Booking',
      'From: 9:00 AM\nTo: 10:00 AM\nDate: 11/07/2026\nSubject: Class\nEmail: ana@x.example\nPhone: 212-555-0147',
    ],
    ['a rule of underscores', 'Website', `${'_'.repeat(32)}\nEmail: ana@x.example\nPhone: 212-555-0147`],
    [
      'words about a forward',
      'Website',
      'This was a forwarded message for you.\nEmail: ana@x.example\nPhone: 212-555-0147',
    ],
  ])('%s', async (_, subject, text) => {
    const parsed = await parseMail(mailSource({ headers: { Subject: subject }, text }));
    expect(parsed.forwarded).toBeUndefined();
    expect(parsed.outcome).toBe('lead');
    expect(parsed.fields).toMatchObject({ email: ana.email, phone: ana.phone });
  });

  it.each([
    ['blanks', ' '.repeat(50_000)],
    ['tabs', '\t'.repeat(50_000)],
    ['line feeds', '\n'.repeat(50_000)],
    ['blanks on lines', ' \n'.repeat(50_000)],
    ['one long line', `${'a <b> '.repeat(10_000)}`],
    ['many long lines', `${`${'a <b> "c" '.repeat(40)}\n`.repeat(200)}`],
    ['dashes', '-'.repeat(50_000)],
    ['underscores', `${'_'.repeat(32)}\n`.repeat(2000)],
    ['quotation marks', '> '.repeat(50_000)],
    ['header lines', 'From: a@x.example\nTo: b@x.example\n'.repeat(2000)],
    ['address lists', `${gmailBlock}To: ${'a@x.example, '.repeat(5000)}`],
    ['forward blocks', gmailBlock.repeat(300)],
  ])('does not hang on %s', async (_, text) => {
    const source = mailSource({ headers, text: `${baseText}\n${text}` });
    expect(await cpuSeconds(() => parseMail(source))).toBeLessThan(1);
  });
});
