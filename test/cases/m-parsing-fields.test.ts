import { describe, expect, it } from 'vitest';
import { parseMail } from '../../src/mail/parse.ts';
import { ana, baseText, type MailParts, mailSource } from '../support/mails.ts';

const parse = (parts: MailParts = {}) => parseMail(mailSource(parts));
const website = { Subject: 'Website' };
const fieldsOf = async (text: string) => (await parse({ headers: website, text })).fields;

describe('M44 the visitor only in Reply-To', () => {
  const headers = {
    From: 'Gym <wordpress@gym.example>',
    'Reply-To': 'Ana Lopez <Ana@x.example>',
    Subject: 'Website',
  };

  it('M44 is an e-mail, never the sender of the site', async () => {
    const parsed = await parse({ headers, text: 'Message: I would like a trial' });
    expect(parsed).toMatchObject({
      outcome: 'lead',
      replyTo: 'ana@x.example',
      from: 'wordpress@gym.example',
    });
    expect(parsed.fields).toEqual({ firstName: 'Ana', lastName: 'Lopez' });
  });

  it('M44 an e-mail line in the body comes first, and its name is not mixed with another', async () => {
    const parsed = await parse({ headers, text: 'Name: Bo Chen\nEmail: bo@x.example' });
    expect(parsed.fields).toEqual({ firstName: 'Bo', lastName: 'Chen', email: 'bo@x.example' });
    const other = await parse({ headers, text: 'Email: bo@x.example\nMessage: hi' });
    expect(other.fields).toEqual({ email: 'bo@x.example' });
  });

  it('M44 is an e-mail where the body is the message alone', async () => {
    const parsed = await parse({ headers, text: 'I would like to try a class on Saturday.' });
    expect(parsed).toMatchObject({ outcome: 'lead', format: 'reply-to', replyTo: 'ana@x.example' });
    expect(parsed.fields).toEqual({ firstName: 'Ana', lastName: 'Lopez' });
  });

  it('M44 no newsletter becomes a lead by its Reply-To', async () => {
    for (const other of [
      { From: 'News <no-reply@brand.example>', 'Reply-To': 'support@brand.example' },
      { From: 'News <no-reply@brand.example>', 'Reply-To': 'info@other.example' },
      { From: 'Bo <bo@x.example>', 'Reply-To': 'Bo <bo@y.example>' },
    ]) {
      const parsed = await parse({ headers: { ...headers, ...other }, text: 'Our fall program is here.' });
      expect(parsed).toMatchObject({ outcome: 'quarantined', reason: 'unparsed' });
    }
  });

  it("M44 the store's own address is no visitor", async () => {
    const own = {
      ...headers,
      To: 'riverside@leads.example',
      'Reply-To': 'Riverside <riverside@leads.example>',
    };
    const parsed = await parse({ headers: own, text: 'Name: Ana Lopez\nPhone: 212-555-0147' });
    expect(parsed).toMatchObject({ outcome: 'lead', fields: { firstName: 'Ana', phone: '+12125550147' } });
    expect(parsed).not.toHaveProperty('replyTo');
  });

  it('M44 a Reply-To equal to From says nothing', async () => {
    const same = { ...headers, 'Reply-To': 'WordPress@gym.example' };
    const parsed = await parse({ headers: same, text: 'Name: Ana Lopez\nMessage: hi' });
    expect(parsed).toMatchObject({ outcome: 'quarantined', reason: 'no_contact' });
    expect(parsed).not.toHaveProperty('replyTo');
  });
});

describe('layouts', () => {
  it('M47 a heading row Name | Value is no data', async () => {
    const row = (...cells: string[]) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
    const rows = [
      row('name', 'Ana Lopez'),
      row('Mobile', '+971 50 123 4567 (UAE)'),
      row('email', 'ana@x.example'),
    ].join('');
    for (const heading of [
      row('Name', 'Value'),
      row('<b>Name</b>', '<b>Value</b>'),
      row('Field', 'Value'),
      row('Question', 'Answer'),
      '',
    ]) {
      const { fields } = await parse({ headers: website, html: `<table>${heading}${rows}</table>` });
      expect(fields).toEqual({ ...ana, phone: '+971501234567' });
    }
  });

  it('M49 a label row above its value row', async () => {
    const table = (label: string, value: string) =>
      `<table><tr><td><strong>${label}</strong></td></tr><tr><td>${value}</td></tr></table>`;
    const fields = [
      ['Name', 'Ana Lopez'],
      ['Phone', '(212) 555-0147'],
      ['Favorite class', 'Orange 60'],
      ['E-mail', 'ana@x.example'],
    ] as const;
    const tables = fields.map(([label, value]) => table(label, value)).join('');
    const one = `<table>${fields.map(([label, value]) => `<tr><td>${label}</td></tr><tr><td>${value}</td></tr>`).join('')}</table>`;
    const wrapped = `<table><tr><td>${tables}</td></tr></table>`;
    for (const html of [tables, one, wrapped]) {
      expect((await parse({ headers: { Subject: 'New Entry: Contact' }, html })).fields).toEqual(ana);
      expect((await parse({ headers: website, html })).fields).toEqual(ana);
    }
  });

  it('M50 the time of submission is no booking, and no intro', async () => {
    const fields = ['Name: Ana Lopez', 'Phone: 212.555.0147', 'Email: ana@x.example'];
    const metadata = [
      'Date: November 3, 2026',
      'Time: 9:15 am',
      'Page URL: https://gym.example/',
      'Powered by: Elementor',
    ];
    for (const separator of [['---'], ['----------'], []]) {
      for (const joint of ['<br>', '<br>\n', '<br/>']) {
        const parsed = await parse({
          headers: { Subject: 'New message from "Gym"' },
          html: [...fields, ...separator, ...metadata].join(joint),
        });
        expect(parsed.fields).toEqual(ana);
      }
      const text = [
        ...fields,
        '',
        ...separator,
        ...metadata.slice(0, 3),
        'User Agent: Mozilla/5.0',
        'Remote IP: 192.0.2.1',
      ].join('\n');
      expect((await parse({ headers: website, text })).fields).toEqual(ana);
    }
  });

  it('M53 no name', async () => {
    const parsed = await parse({ headers: website, text: 'Email: ana@x.example\nPhone: (212) 555-0147' });
    expect(parsed).toMatchObject({ outcome: 'lead' });
    expect(parsed.fields).toEqual({ email: ana.email, phone: ana.phone });
    expect(await fieldsOf('Name:\nEmail: ana@x.example')).toEqual({ email: ana.email });
    expect(await fieldsOf('Name: N/A\nEmail: ana@x.example')).toEqual({ email: ana.email });
  });

  it('M55 Fwd: in the subject alone', async () => {
    for (const subject of ['Fwd: your trial', 'FW: your trial', 'Fw: [Gym] your trial', 'WG: trial']) {
      const parsed = await parse({
        headers: { Subject: subject },
        text: 'Hi there!\nEmail: ana@x.example\nPhone: 212-555-0147',
      });
      expect(parsed).toMatchObject({ outcome: 'lead', fields: { email: ana.email, phone: ana.phone } });
      expect(parsed).not.toHaveProperty('forwarded');
    }
  });
});

describe('M51 phone values', () => {
  const phoneOf = async (value: string) => {
    const { phone, phoneRaw, phoneExtension } = await fieldsOf(
      `Name: Ana Lopez\nEmail: ana@x.example\nPhone: ${value}`,
    );
    return { phone, phoneRaw, phoneExtension };
  };

  it.each([
    ['212-555-0147 x123', '+12125550147', undefined, '123'],
    ['1-800-FLOWERS', undefined, '1-800-FLOWERS', undefined],
    ['555-0147', undefined, '555-0147', undefined],
    ['123-456-7890', undefined, '123-456-7890', undefined],
    ['212-555-0147, 646-555-0188', '+12125550147', undefined, undefined],
    ['+2125550147', '+12125550147', undefined, undefined],
    ['2125550147.0', '+12125550147', undefined, undefined],
    ['911', undefined, '911', undefined],
    ['000-000-0000', undefined, '000-000-0000', undefined],
    ['212-555-01475', undefined, '212-555-01475', undefined],
    ['N/A', undefined, undefined, undefined],
  ])('M51 %s', async (value, phone, phoneRaw, phoneExtension) => {
    expect(await phoneOf(value)).toEqual({ phone, phoneRaw, phoneExtension });
  });
});

describe('M52 whose number it is', () => {
  it("M52 the studio's number is never the lead's", async () => {
    const lead = 'First Name: Ana\nLast Name: Lopez\nEmail: ana@x.example';
    const layouts = [
      'Studio: Riverside (212) 555-0100\n{lead}\nfooter: call us 212-555-0100',
      'Studio: Riverside (212) 555-0100\n{lead}\n\ncall us 212-555-0100',
      '{lead}\n\nRiverside Studio, (212) 555-0100',
      'Riverside Studio (212) 555-0100\n\n{lead}',
      '{lead}\nLocation Phone: 212-555-0100\nStudio Number: 212-555-0100',
      '{lead}\n\nOrangeTheory Fitness Riverside\nPhone: 212-555-0100',
      'Message: call the desk at 212-555-0100\n{lead}',
    ];
    for (const layout of layouts) {
      const withPhone = await fieldsOf(layout.replace('{lead}', `${lead}\nPhone: (646) 555-0188`));
      expect(withPhone).toMatchObject({
        firstName: 'Ana',
        lastName: 'Lopez',
        email: ana.email,
        phone: '+16465550188',
      });
      const without = await fieldsOf(layout.replace('{lead}', lead));
      expect(without).toMatchObject({ firstName: 'Ana', lastName: 'Lopez', email: ana.email });
      expect(without).not.toHaveProperty('phone');
    }
  });
});

describe('bookings', () => {
  const booking = (date: string, time: string) =>
    parse({
      headers: { Subject: 'Online Intro - Ana Lopez', 'Message-ID': `<${date}@forms.example>` },
      text: `${baseText}\nClass Date: ${date}\nClass Time: ${time}`,
    });

  it('M57 each mail tells its own booking, a web lead none', async () => {
    expect((await booking('11-07-2026', '9:15 AM')).fields).toEqual({
      ...ana,
      leadType: 'Online Intro',
      bookedDate: '2026-11-07',
      bookedTime: '09:15',
    });
    expect((await booking('11-09-2026', '6:00 PM')).fields).toMatchObject({
      bookedDate: '2026-11-09',
      bookedTime: '18:00',
    });
    const web = await parse();
    expect(web.fields).toEqual({ ...ana, leadType: 'Web Lead' });
  });

  it('M58 a cancellation is no lead, and tells of whom', async () => {
    const text =
      'Event Type:\nFree Intro Class\n\nInvitee:\nAna Lopez\n\nInvitee Email:\nana@x.example\n\nText Reminder Number:\n+1 212-555-0147\n\nEvent Date/Time:\n09:15am - Saturday, November 7, 2026 (Eastern Time - US & Canada)\n\nView event in Calendly';
    for (const subject of [
      'Canceled: Ana Lopez - 09:15am Sat, Nov 7, 2026',
      'Cancelled: Free Intro Class',
      'Fwd: Canceled: Ana Lopez',
      'CANCELED: Ana Lopez',
    ]) {
      const parsed = await parse({ headers: { Subject: subject }, text });
      expect(parsed).toMatchObject({ outcome: 'cancellation', reason: 'booking_cancelled' });
      expect(parsed.fields).toMatchObject({ ...ana, bookedDate: '2026-11-07', bookedTime: '09:15' });
    }
    const word = await parse({
      headers: { Subject: 'Riverside' },
      text: `Your booking has been cancelled.\n\n${baseText}`,
    });
    expect(word).toMatchObject({ outcome: 'cancellation', fields: ana });
  });
});

describe('M59 placeholders and lists', () => {
  it('M59 a placeholder is no name, a platform no contact', async () => {
    for (const name of ['Potential Customer', 'New Customer', 'Unknown', 'Google User']) {
      const text = `Customer Name: ${name}\nService: Training\n\nNeed help? Call us at (800) 555-0199\nSupport Phone: (800) 555-0199`;
      expect(await parse({ headers: website, text })).toMatchObject({
        outcome: 'quarantined',
        reason: 'no_contact',
        fields: {},
      });
      const withPhone = await parse({ headers: website, text: `${text}\n\nCustomer Phone: 212-555-0147` });
      expect(withPhone.fields).toEqual({ phone: ana.phone });
    }
  });

  it('M59 a digest is never a mixture of two people', async () => {
    const digests = [
      'Name: Ana Lopez\nPhone: 212-555-0147\n\nName: Bo Chen\nEmail: bo@x.example\n\nName: Cy Dee\nPhone: 646-555-0188',
      'Ana Lopez\nPhone: 212-555-0147\n\nBo Chen\nPhone: 646-555-0188\n\nCy Dee\nPhone: 917-555-0123',
      'Lead 1\nName: Ana Lopez\nPhone: 212-555-0147\nLead 2\nName: Bo Chen\nPhone: 646-555-0188',
      '• Ana Lopez - Phone: 212-555-0147\n• Bo Chen - Phone: 646-555-0188',
      'Name\tPhone\tEmail\nAna Lopez\t212-555-0147\tana@x.example\nBo Chen\t646-555-0188\tbo@x.example',
    ];
    for (const text of digests) {
      const parsed = await parse({ headers: { Subject: 'Your daily digest' }, text });
      expect(parsed).toMatchObject({ outcome: 'quarantined', reason: 'digest', fields: {} });
    }
    const html = digests[4]
      ?.split('\n')
      .map(
        (row) =>
          `<tr>${row
            .split('\t')
            .map((cell) => `<td>${cell}</td>`)
            .join('')}</tr>`,
      )
      .join('');
    expect(await parse({ headers: website, html: `<table>${html}</table>` })).toMatchObject({
      outcome: 'quarantined',
      reason: 'digest',
    });
  });

  it('M61 one person however written', async () => {
    const first = await fieldsOf('Name: Ana Lopez\nEmail: Ana@X.example\nPhone: (212) 555-0147');
    const second = await fieldsOf('Name: Ana Lopez\nEmail: ana@x.example\nPhone: +1 212 555 0147');
    expect(second).toEqual(first);
    const third = await fieldsOf('Email: ANA@x.example\nPhone: 1.212.555.0147\nName:');
    expect(third).toEqual({ email: first.email, phone: first.phone });
  });
});
