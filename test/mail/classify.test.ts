import { describe, expect, it } from 'vitest';
import { parseMail } from '../../src/mail/parse.ts';
import { alternatives, baseText, type MailParts, mailSource, rawMail } from '../support/mails.ts';

const outcome = async (headers: MailParts['headers'], text = baseText) => {
  const { outcome, reason } = await parseMail(mailSource({ headers: headers ?? {}, text }));
  return [outcome, reason];
};

describe('automatic answers', () => {
  it.each([
    { 'Auto-Submitted': 'auto-replied' },
    { 'Auto-Submitted': 'Auto-Replied (vacation)' },
    { 'auto-submitted': 'auto-replied; owner-email="a@x.example"' },
    { Precedence: 'auto_reply' },
    { Subject: 'Automatic reply: Web Lead' },
    { Subject: 'Out of Office: Web Lead' },
    { Subject: 'Out of Office' },
    { Subject: 'Out of the office Re: Web Lead' },
    { Subject: 'Auto-Reply: Web Lead' },
    { Subject: 'Autoreply - thanks' },
    { Subject: 'RE: Automatic reply: Web Lead' },
    { Subject: '=?utf-8?Q?R=C3=A9ponse_automatique=C2=A0:_Web_Lead?=' },
    { Subject: 'I am currently out of office' },
    { Subject: 'Out of office until Monday' },
    { Subject: 'Automatisk svar: Web Lead' },
    { Subject: 'Autosvar: Web Lead' },
    { Subject: '自动回复: Web Lead' },
    { Subject: 'Automatic reply' },
    { Subject: 'Auto-reply from Kim' },
    { 'X-Autoreply': 'yes', 'In-Reply-To': '<a1@forms.example>' },
    { 'X-Autorespond': 'vacation', Subject: 'Re: Web Lead' },
  ])('%j is skipped', async (headers) => {
    expect(await outcome(headers)).toEqual(['skipped', 'auto_reply']);
  });

  it.each([
    { 'Auto-Submitted': 'auto-generated' },
    {
      'Auto-Submitted': 'auto-generated (rule)',
      'X-MS-Exchange-Generated-Message-Source': 'Mailbox Rules Agent',
    },
    { 'Auto-Submitted': 'no' },
    { Precedence: 'bulk' },
    { Precedence: 'list', 'List-Id': '<forms.example>' },
    { 'X-Auto-Response-Suppress': 'All' },
    { 'X-Autoreply': 'no' },
    { 'Return-Path': '<>' },
    { Subject: 'Web Lead - out of office hours' },
    { Subject: 'Automatic Fitness: Web Lead' },
    { Subject: 'Automatic reply campaign: Web Lead' },
    { Subject: 'Auto response form - Ana Lopez' },
    { 'X-Autoresponder': 'forms.example 2.1' },
    { 'X-Autoreply': 'yes' },
    { From: 'postmaster@gym.example' },
  ])('%j is a lead', async (headers) => {
    expect(await outcome(headers)).toEqual(['lead', undefined]);
  });
});

describe('a header that may mean an automatic answer', () => {
  const headers = { 'X-Autoreply': 'yes' };
  it.each([
    'I am away until Monday.',
    `I am away.\n\n${baseText.replace(/^/gm, '> ')}`,
    'Phone: 212-555-0147',
    'Name: Kim Park',
  ])('skips a mail without a form of its own: %j', async (text) => {
    expect(await outcome(headers, text)).toEqual(['skipped', 'auto_reply']);
  });
});

describe('bounces', () => {
  const report = alternatives([
    ['text/plain', `Undeliverable.\n\n${baseText}`],
    ['message/delivery-status', 'Final-Recipient: rfc822; ana@x.example\nAction: failed'],
    ['message/rfc822', mailSource().toString()],
  ]);

  it.each([
    { 'Content-Type': 'multipart/report; report-type=delivery-status; boundary=b1', 'Return-Path': '<>' },
    { 'Content-Type': 'multipart/report; boundary=b1;\r\n report-type="delivery-status"' },
    { 'Content-Type': 'multipart/mixed; boundary=b1' },
  ])('%j is skipped', async (headers) => {
    expect(await parseMail(rawMail(headers, report))).toMatchObject({
      outcome: 'skipped',
      reason: 'bounce',
      fields: {},
    });
  });

  it.each([
    { From: 'Mail Delivery Subsystem <MAILER-DAEMON@mx.example>', 'Return-Path': '<>', Subject: 'Web Lead' },
    { From: 'postmaster@mx.example', Subject: 'Undeliverable: Web Lead' },
    { From: 'mailer-daemon@mx.example', Subject: 'Delivery Status Notification (Failure)' },
    { 'X-Failed-Recipients': 'ana@x.example' },
    { 'X-MS-Exchange-Message-Is-Ndr': '' },
    {
      From: 'Microsoft Outlook <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@gym.example>',
      Subject: 'Undeliverable: Web Lead',
    },
  ])('%j is skipped', async (headers) => {
    expect(await outcome(headers)).toEqual(['skipped', 'bounce']);
  });
});

describe('cancellations', () => {
  it.each([
    'Canceled: Ana Lopez - 09:15am Sat, Nov 7, 2026',
    'Cancelled: Free Intro Class with Ana Lopez',
    'Cancellation: Ana Lopez',
    'Booking cancelled',
    'Your booking has been canceled - Ana Lopez',
    'Appointment Canceled - Ana Lopez',
    'Intro class cancellation',
    'Ana Lopez cancelled her appointment',
    'Fwd: Canceled: Ana Lopez - 09:15am',
    '[EXTERNAL] Cancelled: class',
  ])('by subject: %j', async (Subject) => {
    const parsed = await parseMail(mailSource({ headers: { Subject } }));
    expect(parsed).toMatchObject({
      outcome: 'cancellation',
      reason: 'booking_cancelled',
      fields: { email: 'ana@x.example', phone: '+12125550147' },
    });
  });

  it.each([
    `The booking below has been canceled.\n\n${baseText}`,
    `Hi Riverside,\n\nAna Lopez has cancelled her class.\n\n${baseText}`,
    `${baseText}\nBooking Status: Cancelled`,
    `Status: Canceled\n${baseText}`,
  ])('by its words: %j', async (text) => {
    expect(await outcome({ Subject: 'Riverside' }, text)).toEqual(['cancellation', 'booking_cancelled']);
  });

  it.each([
    'text/calendar; method=CANCEL',
    'application/ics; name=invite.ics\nContent-Disposition: attachment; filename=invite.ics',
    'application/octet-stream; name=invite.ics',
  ])('by a calendar part: %j', async (type) => {
    const source = rawMail(
      { Subject: 'Ana Lopez', 'Content-Type': 'multipart/mixed; boundary=b1' },
      alternatives([
        ['text/plain', baseText],
        [type, 'BEGIN:VCALENDAR\nMETHOD:CANCEL\nEND:VCALENDAR'],
      ]),
    );
    expect(await parseMail(source)).toMatchObject({
      outcome: 'cancellation',
      fields: { phone: '+12125550147' },
    });
  });

  it('even if the person can only be guessed', async () => {
    expect(await outcome({ Subject: 'Canceled: Ana Lopez' }, 'See you another time.')).toEqual([
      'cancellation',
      'booking_cancelled',
    ]);
  });

  it.each([
    ['Web Lead - Ana Lopez', `${baseText}\nMessage: My old gym cancelled my class`],
    ['Web Lead - Ana Lopez', `Message: my last booking has been cancelled by you\n${baseText}`],
    [
      'Web Lead - Ana Lopez',
      `${baseText}\n\nCancellation policy: bookings may be cancelled 12 hours before.`,
    ],
    ['Membership cancellation', baseText],
    ['Booking confirmed', `${baseText}\nStatus: Confirmed`],
    ['Class booked (cancellation policy inside)', baseText],
  ])('not in %j', async (Subject, text) => {
    expect((await outcome({ Subject }, text))[0]).toBe('lead');
  });
});
