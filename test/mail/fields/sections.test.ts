import { describe, expect, it } from 'vitest';
import { parseMail } from '../../../src/mail/parse.ts';
import { mailSource } from '../../support/mails.ts';

const fields = async (text: string) =>
  (await parseMail(mailSource({ headers: { Subject: 'Website' }, text }))).fields;

describe("the studio's own contact", () => {
  const lead = 'First Name: Ana\nLast Name: Lopez\nEmail: ana@x.example';
  const phone = '\nPhone: (646) 555-0188';

  it.each([
    ['a label', 'Studio: Riverside (212) 555-0100\n{lead}'],
    ['a label with phone', '{lead}\nStudio Phone: 212-555-0100\nLocation Phone Number: 212-555-0100'],
    ['a sentence', '{lead}\n\nQuestions? call us 212-555-0100'],
    [
      'a labelled line below a letterhead',
      '{lead}\n\nOrangeTheory Riverside\n12 Main Street\nPhone: (212) 555-0100\nEmail: riverside@gym.example',
    ],
    [
      'a letterhead above',
      'OrangeTheory Riverside\n12 Main Street\nPhone: (212) 555-0100\nEmail: riverside@gym.example\n\n{lead}',
    ],
    ['a signature', '{lead}\n-- \nRiverside Studio\nPhone: (212) 555-0100\nEmail: riverside@gym.example'],
    ['a rule', '{lead}\n----------\nHarbor Pilates\nTel: (212) 555-0100'],
    [
      'a heading',
      '{lead}\n\nStudio Information\nName: Riverside\nPhone: (212) 555-0100\nEmail: riverside@gym.example',
    ],
    ['a heading of its own', '{lead}\n\nLocation Details:\n\nName: Riverside\nPhone: (212) 555-0100'],
    ['support', '{lead}\n\nNeed help?\nPhone: (800) 555-0100'],
    ['thanks', '{lead}\n\nThanks,\nPhone: (800) 555-0100'],
    ['a line of its own without a gap', '{lead}\nHarbor Pilates Studio\nPhone: (212) 555-0100'],
    ['one line with the web address', '{lead}\n\nPhone: (212) 555-0100 | Web: gym.example'],
    ['a field about the studio above', 'Studio: Riverside\nPhone: (212) 555-0100\n\n{lead}\nMobile: n/a'],
    ['a platform', '{lead}\nSupport Phone: (800) 555-0100\nCustomer Service Number: (800) 555-0100'],
    [
      'staff',
      '{lead}\nCoach: Bo\nCoach Phone: 212-555-0100\nAssigned To: Cy\nSales Rep Email: cy@gym.example\nEmergency Contact Name: Dee\nEmergency Contact Phone: 212-555-0100\nReferred By Name: Eli',
    ],
  ])('is not the lead: %s', async (_, layout) => {
    expect(await fields(layout.replace('{lead}', lead + phone))).toEqual({
      firstName: 'Ana',
      lastName: 'Lopez',
      email: 'ana@x.example',
      phone: '+16465550188',
    });
    const withoutPhone = await fields(layout.replace('{lead}', lead));
    expect(withoutPhone).toEqual({ firstName: 'Ana', lastName: 'Lopez', email: 'ana@x.example' });
  });

  it.each([
    [{ To: 'riverside@leads.example' }],
    [{ To: 'studio@gym.example', 'Delivered-To': 'riverside@leads.example' }],
    [{ To: 'lead-tracking+OTF0412@leads.example' }, 'lead-tracking+otf0412@leads.example'],
  ])(
    "refuses the store's own address as the lead's: %j",
    async (headers, email = 'Riverside@leads.example') => {
      const text = `Name: Ana Lopez\nPhone: 212-555-0147\nEmail: ${email}`;
      const source = mailSource({ headers: { Subject: 'Website', ...headers }, text });
      expect((await parseMail(source)).fields).not.toHaveProperty('email');
    },
  );

  it('takes the address of a visitor whom the form writes to as well', async () => {
    const text = 'Name: Ana Lopez\nPhone: 212-555-0147\nEmail: ana@x.example';
    for (const headers of [
      { Cc: 'ana@x.example' },
      { To: 'ana@x.example', 'Delivered-To': 'riverside@leads.example' },
    ]) {
      expect((await parseMail(mailSource({ headers, text }))).fields.email).toBe('ana@x.example');
    }
  });
});

describe("the lead's own words", () => {
  it.each([
    'Name: Ana Lopez\nMessage: hi\nplease contact us at home.\nPhone: (212) 555-0147',
    'Name: Ana Lopez\nMessage: I left another gym.\nHarbor Fitness Club\nPhone: (212) 555-0147',
    'Name: Ana Lopez\nMessage: hello\n\nI like yoga\nPhone: (212) 555-0147',
    'Name\nAna Lopez\nFavorite place\nFitness club\nPhone\n(212) 555-0147',
    'Name: Ana Lopez\nWhich gym do you visit now?: Harbor Gym\nPhone: (212) 555-0147',
  ])('hide no field: %j', async (text) => {
    expect(await fields(text)).toEqual({ firstName: 'Ana', lastName: 'Lopez', phone: '+12125550147' });
  });
});

describe('several people', () => {
  const digest = async (text: string, headers = {}) =>
    parseMail(mailSource({ headers: { Subject: 'Website', ...headers }, text }));

  it.each([
    'Name: Ana Lopez\nPhone: 212-555-0147\n\nName: Bo Chen\nPhone: 646-555-0188\n\nName: Cy Dee\nEmail: cy@x.example',
    'Customer Name: Ana Lopez\n\nCustomer Name: Bo Chen\nPhone: 646-555-0188',
    '1. Name: Ana Lopez, Phone: 212-555-0147\n2. Name: Bo Chen, Phone: 646-555-0188',
    'Name | Phone | Email\nAna Lopez | 212-555-0147 | ana@x.example\nBo Chen | 646-555-0188 | bo@x.example',
    'Email: ana@x.example\nInterest: yoga\n\nEmail: bo@x.example\nInterest: spin',
    'Phone: 212-555-0147\nInterest: yoga\n\nPhone: 646-555-0188\nInterest: spin',
    'Name\nAna Lopez\nPhone\n212-555-0147\nName\nBo Chen\nPhone\n646-555-0188',
  ])('are a digest: %j', async (text) => {
    expect(await digest(text)).toMatchObject({ outcome: 'quarantined', reason: 'digest', fields: {} });
  });

  it.each([
    ['3 new leads', 'New requests\nAna L.\nPhone: 646-555-0188\nBo C.\nEmail: bo@x.example\nCy D.'],
    [
      'Website',
      'Here are your leads:\n\n1) Ana Lopez\nPhone: 646-555-0188\nEmail: ana@x.example\n\n2) Bo Chen\nEmail: bo@x.example',
    ],
    ['Your daily lead report', 'Name: Ana Lopez\nPhone: 212-555-0147\nAnd Bo Chen'],
    ['Website', 'You have 2 new requests.\n\nName: Ana Lopez\nPhone: 212-555-0147'],
  ])('are a digest where they are announced: %j', async (Subject, text) => {
    expect(await digest(text, { Subject })).toMatchObject({
      outcome: 'quarantined',
      reason: 'digest',
      fields: {},
    });
  });

  it.each(['1 new lead', 'New leads form: Ana', 'Booking summary'])(
    'are not announced by %j',
    async (Subject) => {
      expect((await digest('Name: Ana Lopez\nPhone: 212-555-0147', { Subject })).outcome).toBe('lead');
    },
  );

  it('are a digest in an HTML table, whatever the text part says', async () => {
    const html =
      '<table><tr><th>Name</th><th>Phone</th></tr><tr><td>Ana Lopez</td><td>212-555-0147</td></tr><tr><td>Bo Chen</td><td>646-555-0188</td></tr></table>';
    const parsed = await parseMail(mailSource({ text: 'Name: Ana Lopez\nPhone: 212-555-0147', html }));
    expect(parsed).toMatchObject({ outcome: 'quarantined', reason: 'digest', fields: {} });
  });

  it('are a digest without labels if the subject says so', async () => {
    const text = 'Ana Lopez, (212) 555-0147\nBo Chen, (646) 555-0188';
    expect(await digest(text, { Subject: 'Daily digest: 2 new leads' })).toMatchObject({
      outcome: 'quarantined',
      reason: 'digest',
    });
  });

  it.each([
    [
      'the same value twice',
      'Name: Ana Lopez\nPhone: 212-555-0147\n\nName: Ana Lopez\nPhone: (212) 555-0147',
    ],
    ['a short and a full name', 'Name: Ana\nPhone: 212-555-0147\n\nName: Ana Lopez'],
    ['two numbers of one person', 'Name: Ana Lopez\nPhone: 212-555-0147\nPhone: 646-555-0188'],
    [
      'siblings',
      'Parent Name: Ana Lopez\nPhone: 212-555-0147\nStudent Name: Mia Lopez\nStudent Name: Leo Lopez',
    ],
    ['two numbers apart', 'Name: Ana Lopez\nPhone: 212-555-0147\nEmail: ana@x.example\nPhone: 646-555-0188'],
    ['two addresses', 'Name: Ana Lopez\nPhone: 212-555-0147\nEmail: ana@x.example\nEmail: ana2@y.example'],
    [
      'an emergency contact',
      'Name: Ana Lopez\nPhone: 212-555-0147\nEmergency Contact\nName: Bo Chen\nPhone: 646-555-0188',
    ],
  ])('are not seen in %s', async (_, text) => {
    const parsed = await digest(text);
    expect(parsed.outcome).toBe('lead');
    expect(parsed.fields).toMatchObject({ firstName: 'Ana', phone: '+12125550147' });
  });
});

describe('what comes again and is nobody else', () => {
  const form = 'Name: Ana Lopez\nPhone: (212) 555-0147\nEmail: ana@x.example';
  const read = async (text: string) => parseMail(mailSource({ headers: { Subject: 'Website' }, text }));

  it.each([
    ['a phone in the message', `${form}\nMessage: I work days.\nPhone: 646-555-0188 is my work number`],
    ['a phone in a later paragraph of it', `${form}\nMessage: Hi\n\nI work days.\nPhone: 646-555-0188`],
    ['a phone in a message below its label', `${form}\nMessage:\nHello there\nPhone: 646-555-0188 (work)`],
    ['an address in the message', `${form}\nMessage: my other address is\nEmail: ana2@y.example`],
    ['a name in the message', `${form}\nMessage: I come with a friend.\nName: Bo Chen`],
    ['a name after a gap', `${form}\nComments: I come with a friend.\n\nName: Bo Chen`],
    ['a footer without a heading', `${form}\n\nPhone: (212) 555-0100\nEmail: riverside@gym.example`],
    ['a footer with its number alone', `${form}\n\nPhone: (212) 555-0100`],
    ['a footer on one line', `${form}\n\nRiverside Fitness | Tel: (212) 555-0100 | Email: desk@gym.example`],
    ["the store's own address", `${form}\nEmail: lead-tracking+OTF0412@leads.example`],
    ["the form's own sender", `${form}\n\nEmail: web@forms.example`],
  ])('%s', async (_, text) => {
    const parsed = await read(text);
    expect(parsed.outcome).toBe('lead');
    expect(parsed.fields).toEqual({
      firstName: 'Ana',
      lastName: 'Lopez',
      phone: '+12125550147',
      email: 'ana@x.example',
    });
  });

  it("a footer's address is not the lead's either", async () => {
    const text = 'Name: Ana Lopez\nPhone: (212) 555-0147\n\nEmail: desk@gym.example\nPhone: 212-555-0100';
    expect((await read(text)).fields).toEqual({ firstName: 'Ana', lastName: 'Lopez', phone: '+12125550147' });
  });

  it("the store's own address, without any name", async () => {
    const text = 'Email: riverside@leads.example\n\nEmail: ana@x.example\nPhone: 212-555-0147';
    const parsed = await parseMail(
      mailSource({ headers: { Subject: 'Website', To: 'riverside@leads.example' }, text }),
    );
    expect(parsed.fields).toEqual({ email: 'ana@x.example', phone: '+12125550147' });
  });

  it.each([
    ['a message in each record', `${form}\nMessage: hi\nName: Bo Chen\nPhone: 646-555-0188\nMessage: yo`],
    ['a message in the first alone', `${form}\nMessage: hi\n\nName: Bo Chen\nPhone: 646-555-0188`],
    ['another name with an address', `${form}\nMessage: hi\n\nName: Bo Chen\nEmail: bo@x.example`],
    ['a name without value', `${form}\n\nName:\nPhone: 646-555-0188\nEmail: bo@x.example`],
    [
      'the only phone below another address',
      'Name: Ana\nEmail: ana@x.example\nEmail: b@y.example\nPhone: 212-555-0147',
    ],
    [
      'the only valid phone below another',
      'Name: Ana\nEmail: ana@x.example\nPhone: 555-0147\n\nPhone: 212-555-0147',
    ],
    ['a phone in a message above the form', `Message: call work\nPhone: 646-555-0188\n${form}`],
    [
      'children of two families',
      'Student Name: Mia\nPhone: 212-555-0147\n\nStudent Name: Leo\nPhone: 646-555-0188',
    ],
  ])('is for a person to decide: %s', async (_, text) => {
    expect(await read(text)).toMatchObject({ outcome: 'quarantined', reason: 'digest', fields: {} });
  });
});
