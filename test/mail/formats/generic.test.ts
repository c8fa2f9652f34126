import { describe, expect, it } from 'vitest';
import { parseMail } from '../../../src/mail/parse.ts';
import { ana, mailSource } from '../../support/mails.ts';

const headers = { Subject: 'Website', From: 'web@forms.example' };
const text = async (body: string) => parseMail(mailSource({ headers, text: body }));
const html = async (body: string) => parseMail(mailSource({ headers, html: body }));

describe('labelled-text', () => {
  it.each([
    ['colon', 'Name: Ana Lopez\nPhone: (212) 555-0147\nEmail: ana@x.example'],
    ['colon without a blank', 'Name:Ana Lopez\nPhone:(212) 555-0147\nEmail:ana@x.example'],
    ['blank before the colon', 'Name : Ana Lopez\nPhone : (212) 555-0147\nEmail : ana@x.example'],
    ['full-width colon', 'Name：Ana Lopez\nPhone：(212) 555-0147\nEmail：ana@x.example'],
    ['dash', 'Name - Ana Lopez\nPhone - (212) 555-0147\nEmail - ana@x.example'],
    ['en dash', 'Name – Ana Lopez\nPhone – (212) 555-0147\nEmail – ana@x.example'],
    ['equals without blanks', 'full_name=Ana Lopez\nphone_number=2125550147\nemail=ana@x.example'],
    ['arrow sign', 'Name → Ana Lopez\nPhone → (212) 555-0147\nEmail → ana@x.example'],
    [
      'questions',
      'What is your name? Ana Lopez\nWhat is your phone number? (212) 555-0147\nWhat is your email? ana@x.example',
    ],
    [
      'Spanish',
      'Nombre: Ana\nApellidos: Lopez\nTeléfono: (212) 555-0147\nCorreo electrónico: ana@x.example\nMensaje: hola',
    ],
    ['French', 'Prénom : Ana\nNom : Lopez\nTéléphone : (212) 555-0147\nCourriel : ana@x.example'],
    ['equals', 'Name = Ana Lopez\nPhone = (212) 555-0147\nEmail = ana@x.example'],
    ['arrow', 'Name => Ana Lopez\nPhone => (212) 555-0147\nEmail => ana@x.example'],
    ['aligned with blanks', 'Name        Ana Lopez\nPhone       (212) 555-0147\nEmail       ana@x.example'],
    ['tabs', 'Name\tAna Lopez\nPhone\t(212) 555-0147\nEmail\tana@x.example'],
    ['colon and tabs', 'Name:\t\tAna Lopez\nPhone:\t(212) 555-0147\nEmail:\tana@x.example'],
    ['bars', 'Name | Ana Lopez\nPhone | (212) 555-0147\nEmail | ana@x.example'],
    ['a table in bars', '| Name | Ana Lopez |\n| Phone | (212) 555-0147 |\n| Email | ana@x.example |'],
    ['label above value', 'Name\nAna Lopez\nPhone\n(212) 555-0147\nEmail\nana@x.example'],
    [
      'label above value, blank lines',
      'Name:\n\nAna Lopez\n\nPhone:\n\n(212) 555-0147\n\nEmail:\n\nana@x.example',
    ],
    [
      'label above value, unknown label between',
      'Name\nAna Lopez\nFavorite color\nRed\nPhone\n(212) 555-0147\nEmail\nana@x.example',
    ],
    ['upper case without colon', 'FULL NAME\nAna Lopez\nPHONE\n(212) 555-0147\nEMAIL ADDRESS\nana@x.example'],
    ['bullets', '• Name: Ana Lopez\n* Phone: (212) 555-0147\n- Email: ana@x.example'],
    ['emoji', '👤 Name: Ana Lopez\n📞 Phone: (212) 555-0147\n📧 Email: ana@x.example'],
    ['bold in Markdown', '**Name:** Ana Lopez\n**Phone:** (212) 555-0147\n**Email:** ana@x.example'],
    ['numbers', '1. Name: Ana Lopez\n2. Phone: (212) 555-0147\n3. Email: ana@x.example'],
    ['quoted', '> Name: Ana Lopez\n> Phone: (212) 555-0147\n> Email: ana@x.example'],
    ['indented', '    Name: Ana Lopez\n\tPhone: (212) 555-0147\n    Email: ana@x.example'],
    ['one line', 'Name: Ana Lopez Phone: (212) 555-0147 Email: ana@x.example'],
    ['one line, slashes', 'Name: Ana Lopez / Phone: (212) 555-0147 / Email: ana@x.example'],
    ['one line, commas', 'Name: Ana Lopez, Phone: (212) 555-0147, Email: ana@x.example'],
    [
      'one line after a sentence',
      'You have a new lead. Name: Ana Lopez Phone: (212) 555-0147 Email: ana@x.example',
    ],
    [
      'a message before the rest',
      'Message: I would like to know: is it free?\nName: Ana Lopez\nPhone: (212) 555-0147\nEmail: ana@x.example',
    ],
    [
      'a message of several paragraphs',
      'Name: Ana Lopez\nMessage: Hello\n\nI have a question.\nPhone: (212) 555-0147\nEmail: ana@x.example',
    ],
    ['brackets', '[Name] Ana Lopez\n[Phone] (212) 555-0147\n[Email] ana@x.example'],
    ['dash without a blank', 'Name- Ana Lopez\nPhone- (212) 555-0147\nEmail—ana@x.example'],
    ['JSON', '{"name": "Ana Lopez", "phone": "(212) 555-0147", "email": "ana@x.example"}'],
    ['dots', 'Name ..... Ana Lopez\nPhone.....: (212) 555-0147\nEmail ..... ana@x.example'],
    ['lost line breaks', 'First Name: AnaLast Name: LopezPhone: (212) 555-0147Email: ana@x.example'],
    ['name and address together', 'Contact: Ana Lopez <ana@x.example>\nPhone: (212) 555-0147'],
    ['no colon at all', 'Full Name Ana Lopez\nPhone (212) 555-0147\nEmail ana@x.example'],
    ['no colon before a number', 'Name: Ana Lopez\nPhone (212) 555-0147\nEmail ana@x.example'],
    ['required marks', 'Name *: Ana Lopez\nPhone (required): (212) 555-0147\nEmail*: ana@x.example'],
    [
      'questions',
      'What is your name?: Ana Lopez\nBest number to reach you?: (212) 555-0147\nYour e-mail?: ana@x.example',
    ],
    ['Last, First', 'Name: Lopez, Ana\nPhone: (212) 555-0147\nEmail: ana@x.example'],
    ['synonyms', 'Member Name: Ana Lopez\nWhatsApp: (212) 555-0147\nE-mail Address: ana@x.example'],
    ['quoted values', 'Name: "Ana Lopez"\nPhone: "(212) 555-0147"\nEmail: <ana@x.example>'],
    [
      'a heading and a rule',
      'NEW CONTACT\n==========\nName: Ana Lopez\nPhone: (212) 555-0147\nEmail: ana@x.example\n==========',
    ],
    [
      'an e-mail twice',
      'Name: Ana Lopez\nEmail: ana@x.example\nConfirm Email: ana@x.example\nPhone: (212) 555-0147',
    ],
    ['contact before name', 'Email: ana@x.example\nPhone: (212) 555-0147\nName: Ana Lopez'],
    ['sections', 'Personal\nName: Ana Lopez\n\nContact details\nPhone: (212) 555-0147\nEmail: ana@x.example'],
  ])('reads %s', async (_, body) => {
    const parsed = await text(body);
    expect(parsed.outcome).toBe('lead');
    expect(parsed.fields).toEqual(ana);
  });

  it.each([
    ['Assigned To:\nName: Ana Lopez\nPhone:\nEmail: ana@x.example'],
    ['Name: Ana Lopez\nAssigned To:\nEmail: ana@x.example\nPhone:\n'],
    ['Name: Ana Lopez\nHow did you hear about us?:\nPhone: \nEmail: ana@x.example'],
    ['Name: Ana Lopez\nPhone: N/A\nEmail: ana@x.example'],
  ])('lets an empty value take nothing: %j', async (body) => {
    expect((await text(body)).fields).toEqual({
      firstName: 'Ana',
      lastName: 'Lopez',
      email: 'ana@x.example',
    });
  });

  it('lets an empty last name take nothing from the text below', async () => {
    const { fields } = await text('First Name: Ana\nEmail: ana@x.example\nLast Name:\n\nSee you soon');
    expect(fields).toEqual({ firstName: 'Ana', email: 'ana@x.example' });
  });

  it('keeps what was written for a phone that is none', async () => {
    const { fields } = await text('Name: Ana Lopez\nPhone: 1-800-FLOWERS\nEmail: ana@x.example');
    expect(fields).toEqual({
      firstName: 'Ana',
      lastName: 'Lopez',
      email: 'ana@x.example',
      phoneRaw: '1-800-FLOWERS',
    });
  });

  it('takes the valid one of two phones', async () => {
    const { fields } = await text('Name: Ana Lopez\nHome Phone: 555-0147\nMobile: 212-555-0147 x12');
    expect(fields).toMatchObject({ phone: '+12125550147', phoneExtension: '12' });
  });
});

describe('html-table', () => {
  const rows = (pairs: readonly (readonly [string, string])[]) =>
    pairs.map(([label, value]) => `<tr><td>${label}</td><td>${value}</td></tr>`).join('');
  const pairs = [
    ['Name', 'Ana Lopez'],
    ['Phone', '(212) 555-0147'],
    ['Email', 'ana@x.example'],
  ] as const;

  it.each([
    ['two columns', `<table>${rows(pairs)}</table>`],
    [
      'th beside td',
      `<table>${pairs.map(([label, value]) => `<tr><th>${label}</th><td>${value}</td></tr>`).join('')}</table>`,
    ],
    [
      'labels with colon and markup',
      `<table>${rows(pairs.map(([label, value]) => [`<p><b>${label}:</b></p>`, `<p><span>${value}</span></p>`]))}</table>`,
    ],
    [
      'inside a layout table',
      `<table><tr><td><img src="logo.png"></td></tr><tr><td><table>${rows(pairs)}</table></td></tr></table>`,
    ],
    [
      'a spacer column',
      `<table>${pairs.map(([label, value]) => `<tr><td>${label}</td><td width="10">&nbsp;</td><td>${value}</td></tr>`).join('')}</table>`,
    ],
    [
      'a column of colons',
      `<table>${pairs.map(([label, value]) => `<tr><td>${label}</td><td>:</td><td>${value}</td></tr>`).join('')}</table>`,
    ],
    [
      'colons before the values',
      `<table>${rows(pairs.map(([label, value]) => [label, `: ${value}`]))}</table>`,
    ],
    [
      'spans without a gap',
      pairs.map(([label, value]) => `<div><span>${label}</span><span>${value}</span></div>`).join(''),
    ],
    [
      'two pairs a row',
      `<table><tr><td>Name</td><td>Ana Lopez</td><td>Phone</td><td>(212) 555-0147</td></tr><tr><td>Email</td><td>ana@x.example</td></tr></table>`,
    ],
    [
      'a heading row',
      `<table><tr><th>Name</th><th>Phone</th><th>Email</th></tr><tr><td>Ana Lopez</td><td>(212) 555-0147</td><td>ana@x.example</td></tr></table>`,
    ],
    [
      'a heading row with unknown columns',
      `<table><tr><th>Date added</th><th>Full Name</th><th>Phone Number</th><th>E-mail</th></tr><tr><td>today</td><td>Ana Lopez</td><td>(212) 555-0147</td><td>ana@x.example</td></tr></table>`,
    ],
    ['Field | Value', `<table><tr><th>Field</th><th>Value</th></tr>${rows(pairs)}</table>`],
    ['Question | Answer', `<table><tr><th>Question</th><th>Answer</th></tr>${rows(pairs)}</table>`],
    [
      'definition list',
      `<dl>${pairs.map(([label, value]) => `<dt>${label}</dt><dd>${value}</dd>`).join('')}</dl>`,
    ],
    [
      'list',
      `<ul>${pairs.map(([label, value]) => `<li><strong>${label}</strong> ${value}</li>`).join('')}</ul>`,
    ],
    [
      'bold labels above values',
      pairs.map(([label, value]) => `<strong>${label}</strong><br>${value}<br><br>`).join(''),
    ],
    ['headings above values', pairs.map(([label, value]) => `<h4>${label}</h4><p>${value}</p>`).join('')],
    ['divs', pairs.map(([label, value]) => `<div><div>${label}</div><div>${value}</div></div>`).join('')],
    ['paragraphs', pairs.map(([label, value]) => `<p><b>${label}:</b> <span>${value}</span></p>`).join('')],
    ['breaks', pairs.map(([label, value]) => `${label}: ${value}`).join('<br>')],
    [
      'links',
      `<table>${rows([
        ['Name', 'Ana Lopez'],
        ['Phone', '<a href="tel:+12125550147">Call</a>'],
        ['Email', '<a href="mailto:ana@x.example">Write</a>'],
      ])}</table>`,
    ],
    [
      'parallel columns',
      '<table><tr><td>Name<br>Phone<br>Email</td><td>Ana Lopez<br>(212) 555-0147<br>ana@x.example</td></tr></table>',
    ],
  ])('reads %s', async (_, body) => {
    const parsed = await html(`<html><body>${body}</body></html>`);
    expect(parsed.outcome).toBe('lead');
    expect(parsed.fields).toEqual(ana);
  });
});

describe('what is not a lead', () => {
  it.each([
    'Dear subscriber, our fall newsletter is here. Visit us at 12 Main Street or call (212) 555-0100.',
    'Lunch?\n\nBo',
    'Please find the invoice attached. Total: $20. Due: 11/30/2026.',
  ])('no format knows %j', async (body) => {
    expect(await text(body)).toMatchObject({ outcome: 'quarantined', reason: 'unparsed', fields: {} });
  });

  it('knows a form without phone and e-mail', async () => {
    expect(await text('Name: Ana Lopez\nMessage: hi')).toMatchObject({
      outcome: 'quarantined',
      reason: 'no_contact',
      fields: { firstName: 'Ana' },
    });
  });
});

describe('a booking', () => {
  it('whose day and time stand between bars', async () => {
    const body =
      'Name: Ana Lopez\nPhone: 212-555-0147\nClass: Nov 7 2026 | 6:30pm-7:30pm | Studio: Riverside';
    expect((await text(body)).fields).toMatchObject({ bookedDate: '2026-11-07', bookedTime: '18:30' });
  });

  it('is not the moment at which a form was sent', async () => {
    const body =
      'Date: 11/03/2026\nTime: 9:15 AM\nName: Ana Lopez\nPhone: 212-555-0147\nIP Address: 192.0.2.1\nPage URL: https://gym.example';
    expect((await text(body)).fields).not.toHaveProperty('bookedDate');
  });
});
