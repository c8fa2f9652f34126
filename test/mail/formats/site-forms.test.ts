import { describe, expect, it } from 'vitest';
import { parseMail } from '../../../src/mail/parse.ts';
import { ana, mailSource } from '../../support/mails.ts';

const { phone: _, ...anaWithoutPhone } = ana;

describe('contact-form-7', () => {
  const headers = {
    From: 'Gym <wordpress@gym.example>',
    Subject: 'Gym "Free class"',
    'Reply-To': 'ana@x.example',
  };
  const footer = '\n-- \nThis e-mail was sent from a contact form on Gym (https://gym.example)\n';

  it('takes name and address from its From line, no number from the message', async () => {
    const parsed = await parseMail(
      mailSource({
        headers,
        text: `From: Ana Lopez <ana@x.example>\nSubject: Free class\n\nMessage Body:\nCall 212-555-0147${footer}`,
      }),
    );
    expect(parsed).toMatchObject({ outcome: 'lead', format: 'contact-form-7' });
    expect(parsed.fields).toEqual(anaWithoutPhone);
    expect(parsed.forwarded).toBeUndefined();
  });

  it.each([
    'From: Ana Lopez ana@x.example',
    'From: Ana Lopez [ana@x.example]',
    'From: "Lopez, Ana" <ana@x.example>',
  ])('reads %j', async (from) => {
    const parsed = await parseMail(
      mailSource({ headers, text: `${from}\nSubject: Hi\n\nMessage Body:\nHello${footer}` }),
    );
    expect(parsed.fields).toMatchObject(anaWithoutPhone);
  });

  it('reads the fields that the owner added', async () => {
    const parsed = await parseMail(
      mailSource({
        headers,
        text: `From: Ana Lopez <ana@x.example>\nSubject: Free class\nPhone: 212-555-0147\n\nMessage Body:\nHello${footer}`,
      }),
    );
    expect(parsed.fields).toEqual(ana);
  });

  it("gives nobody another person's number from the message", async () => {
    const head = 'From: Ana Lopez <ana@x.example>\nSubject: Hi\n\nMessage Body:\nMy friend too';
    const named = mailSource({ headers, text: `${head}\nName: Bo Chen\nPhone: 646-555-0188${footer}` });
    expect(await parseMail(named)).toMatchObject({ outcome: 'quarantined', reason: 'digest', fields: {} });
    const same = mailSource({ headers, text: `${head}\nName: Ana Lopez\nPhone: 212-555-0147${footer}` });
    expect((await parseMail(same)).fields).toEqual(ana);
  });

  it('is no forward even if the subject says so', async () => {
    const parsed = await parseMail(
      mailSource({
        headers: { ...headers, Subject: 'Fwd: Gym "Free class"' },
        text: `From: Ana Lopez <ana@x.example>\nSubject: Free class\n\nMessage Body:\nHello${footer}`,
      }),
    );
    expect(parsed.forwarded).toBeUndefined();
    expect(parsed.fields).toEqual(anaWithoutPhone);
  });

  it('stands in a forwarded mail too', async () => {
    const parsed = await parseMail(
      mailSource({
        headers: { Subject: 'Fwd: Gym "Free class"', From: 'owner@gym.example' },
        text: `---------- Forwarded message ---------\nFrom: Gym <wordpress@gym.example>\nDate: Tue, Nov 3, 2026 at 9:15 AM\nSubject: Gym "Free class"\nTo: <owner@gym.example>\n\n\nFrom: Ana Lopez <ana@x.example>\nSubject: Free class\n\nMessage Body:\nHello${footer}`,
      }),
    );
    expect(parsed.forwarded).toMatchObject({ from: 'wordpress@gym.example', to: 'owner@gym.example' });
    expect(parsed).toMatchObject({ format: 'contact-form-7', fields: anaWithoutPhone });
  });
});

describe('wpforms', () => {
  const field = (label: string, value: string) =>
    `<table width="100%" cellpadding="0"><tr><td style="color:#333"><strong>${label}</strong></td></tr><tr><td style="padding:5px 0">${value}</td></tr></table>`;
  const body = [
    field('Name', 'Ana Lopez'),
    field('Phone', '(212) 555-0147'),
    field('E-mail', '<a href="mailto:ana@x.example">ana@x.example</a>'),
    field('Comment or Message', 'Hi: there'),
  ].join('');

  it('attaches each value to the label in the row above', async () => {
    const parsed = await parseMail(
      mailSource({
        headers: { Subject: 'New Entry: Contact' },
        html: `<body>${body}<p>Sent from Gym</p></body>`,
      }),
    );
    expect(parsed).toMatchObject({ outcome: 'lead', format: 'wpforms' });
    expect(parsed.fields).toEqual(ana);
  });

  it('leaves an empty field empty', async () => {
    const html = [
      field('First', 'Ana'),
      field('Last', '&nbsp;'),
      field('Favorite color', 'Red'),
      field('Phone', ''),
      field('Email', 'ana@x.example'),
    ].join('');
    const { fields } = await parseMail(mailSource({ headers: { Subject: 'New Entry: Contact' }, html }));
    expect(fields).toEqual({ firstName: 'Ana', email: 'ana@x.example' });
  });
});

describe('gravity-forms', () => {
  it('reads label rows over value rows of one table', async () => {
    const rows = [
      ['Name', 'Ana Lopez'],
      ['Phone', '(212) 555-0147'],
      ['Email', "<a href='mailto:ana@x.example'>ana@x.example</a>"],
    ].map(
      ([label, value]) =>
        `<tr bgcolor="#EAF2FA"><td colspan="2"><font><strong>${label}</strong></font></td></tr><tr bgcolor="#FFFFFF"><td width="20">&nbsp;</td><td><font>${value}</font></td></tr>`,
    );
    const parsed = await parseMail(
      mailSource({
        headers: { Subject: 'New submission from Free Trial' },
        html: `<table>${rows.join('')}</table>`,
      }),
    );
    expect(parsed).toMatchObject({ outcome: 'lead', format: 'gravity-forms' });
    expect(parsed.fields).toEqual({ ...ana, leadType: 'Free Trial' });
  });
});

describe('elementor', () => {
  const metadata = [
    'Date: November 3, 2026',
    'Time: 9:15 am',
    'Page URL: https://gym.example/',
    'User Agent: Mozilla',
    'Remote IP: 192.0.2.1',
    'Powered by: Elementor',
  ];
  const fields = ['Name: Ana Lopez', 'Phone: 212.555.0147', 'Email: ana@x.example'];
  const headers = { Subject: 'New message from "Gym"' };

  it.each([
    ['HTML with a rule', { html: [...fields, '---', ...metadata].join('<br>') }],
    ['HTML without a rule', { html: [...fields, ...metadata].join('<br>') }],
    ['text lines', { text: [...fields, '', '---', '', ...metadata].join('\n') }],
    ['tags in text', { text: [...fields, '---', ...metadata].join('<br>') }],
  ])('takes no booking from the time of submission: %s', async (_, parts) => {
    const parsed = await parseMail(mailSource({ headers, ...parts }));
    expect(parsed).toMatchObject({ outcome: 'lead', format: 'elementor' });
    expect(parsed.fields).toEqual(ana);
  });

  it("keeps the owner's own date field above the rule", async () => {
    const html = [...fields, 'Date: 11/07/2026', 'Time: 6:00 PM', '---', ...metadata].join('<br>');
    const parsed = await parseMail(mailSource({ headers, html }));
    expect(parsed.fields).toEqual({ ...ana, bookedDate: '2026-11-07', bookedTime: '18:00' });
  });
});

describe('squarespace', () => {
  const headers = {
    From: 'Squarespace <form-submission@squarespace.info>',
    Subject: 'Form Submission - Free Trial',
  };
  const pair = (label: string, value: string) => `<p><b>${label}:</b> <span>${value}</span></p>`;

  it('reads each answer once, past the hidden preview', async () => {
    const html = `<div style="display:none;max-height:0">Name: Ana Lopez Email: ana@x.example Message: Hi</div><p>Sent via form submission from <a href="https://gym.example">Gym</a></p>${pair('Name', 'Ana Lopez')}${pair('Email', 'ana@x.example, accepts marketing: true')}${pair('Phone', '(212) 555-0147')}${pair('Message', 'Hello<br><br>Delivery: end of March')}${pair('SMS Consent', 'By checking this box you agree. Questions? Call (800) 555-0100')}<p>Manage Submissions</p><p>Does this submission look like spam? Report it here.</p>`;
    const parsed = await parseMail(mailSource({ headers, html }));
    expect(parsed).toMatchObject({ outcome: 'lead', format: 'squarespace' });
    expect(parsed.fields).toEqual({ ...ana, leadType: 'Free Trial' });
  });

  it('reads its text, message lines with colons included', async () => {
    const text =
      'Sent via form submission from Gym\n\nFirst Name: Ana\n\nLast Name: Lopez\n\nEmail: ana@x.example\n\nMessage: Hello\n\nDelivery: end of March\nName of my dog: Bo\n\nPhone: (212) 555-0147\n\nManage Submissions\n\nPhone: (800) 555-0100\n';
    const parsed = await parseMail(
      mailSource({ headers: { ...headers, Subject: 'New Form Submission - Riverside' }, text }),
    );
    expect(parsed.fields).toEqual(ana);
  });
});

describe('formsubmit', () => {
  it('skips the heading row Name | Value', async () => {
    const html =
      "<p>Someone just submitted your form on https://gym.example.</p><p>Here's what they had to say:</p><table><tr><th>Name</th><th>Value</th></tr><tr><td>name</td><td>Ana Lopez</td></tr><tr><td>Mobile</td><td>+971 50 123 4567 (UAE)</td></tr><tr><td>email</td><td>ana@x.example</td></tr></table>";
    const parsed = await parseMail(mailSource({ headers: { Subject: 'New submission' }, html }));
    expect(parsed).toMatchObject({ outcome: 'lead', format: 'formsubmit' });
    expect(parsed.fields).toEqual({ ...ana, phone: '+971501234567' });
  });

  it('reads the same as text', async () => {
    const text =
      "Someone just submitted your form on https://gym.example.\nHere's what they had to say:\n\nName | Value\nname | Ana Lopez\nMobile | (212) 555-0147\nemail | ana@x.example\n";
    expect((await parseMail(mailSource({ headers: { Subject: 'New submission' }, text }))).fields).toEqual(
      ana,
    );
  });
});

describe('wix', () => {
  it('reads the summary, not what follows it', async () => {
    const text =
      'A site visitor just submitted your form Contact on Gym\n\nSubmission Summary:\nName: Ana Lopez\nEmail: ana@x.example\nPhone: 212-555-0147\nMessage: hi\n\nView Submissions\n\nPhone: 800-555-0100\n';
    const parsed = await parseMail(
      mailSource({ headers: { Subject: '[Gym] Contact got a new submission' }, text }),
    );
    expect(parsed).toMatchObject({ outcome: 'lead', format: 'wix' });
    expect(parsed.fields).toEqual(ana);
  });
});

describe('hubspot', () => {
  it('reads label and value rows', async () => {
    const html =
      '<h1>New submission on HubSpot Form "Trial"</h1><table><tr><td><b>Page submitted on:</b></td><td><a href="https://gym.example">Gym</a></td></tr><tr><td>First name</td><td>Ana</td></tr><tr><td>Last name</td><td>Lopez</td></tr><tr><td>Phone number</td><td>(212) 555-0147</td></tr><tr><td>Email</td><td>ana@x.example</td></tr></table><p><a href="https://app.hubspot.example/c/1">View contact</a></p><p>HubSpot<br>Phone: 888-555-0100</p>';
    const parsed = await parseMail(
      mailSource({
        headers: { From: 'HubSpot <noreply@notifications.hubspot.com>', Subject: 'New submission' },
        html,
      }),
    );
    expect(parsed).toMatchObject({ outcome: 'lead', format: 'hubspot' });
    expect(parsed.fields).toEqual(ana);
  });
});
