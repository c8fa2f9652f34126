import { describe, expect, it } from 'vitest';
import { parseMail } from '../../../src/mail/parse.ts';
import { ana, mailSource } from '../../support/mails.ts';

const calendly = (extra = '') =>
  `Hi Riverside,\n\nA new event has been scheduled.\n\nEvent Type:\nFree Intro Class\n\nInvitee:\nAna Lopez\n\nInvitee Email:\nana@x.example\n\nText Reminder Number:\n+1 212-555-0147\n\nEvent Date/Time:\n09:15am - Saturday, November 7, 2026 (Eastern Time - US & Canada)\n\nLocation:\nThis is a Zoom web conference.\nPhone: +1 646 558 8656\n\nInvitee Time Zone:\nEastern Time - US & Canada\n\nQuestions:\n\nWhat is your goal?\nFeel better\n${extra}\nView event in Calendly\n\nPro Tip! Take Calendly anywhere. Phone: 800-555-0100\n`;
const calendlyHeaders = {
  From: 'Calendly <notifications@calendly.com>',
  Subject: 'New Event: Ana Lopez - 09:15am Sat, Nov 7, 2026 - Free Intro Class',
};
const booked = { ...ana, leadType: 'Free Intro Class', bookedDate: '2026-11-07', bookedTime: '09:15' };

describe('calendly', () => {
  it('reads values below their labels, not the dial-in number', async () => {
    const parsed = await parseMail(mailSource({ headers: calendlyHeaders, text: calendly() }));
    expect(parsed).toMatchObject({ outcome: 'lead', format: 'calendly' });
    expect(parsed.fields).toEqual(booked);
  });

  it('reads its HTML', async () => {
    const html = calendly()
      .split('\n\n')
      .map((block) => `<p><strong>${block.replace(/:\n/, ':</strong><br>').replaceAll('\n', '<br>')}</p>`)
      .join('');
    expect((await parseMail(mailSource({ headers: calendlyHeaders, html }))).fields).toEqual(booked);
  });

  it('has no phone when only the meeting has one', async () => {
    const text = calendly().replace('Text Reminder Number:\n+1 212-555-0147\n\n', '');
    expect((await parseMail(mailSource({ headers: calendlyHeaders, text }))).fields).not.toHaveProperty(
      'phone',
    );
  });

  it('takes a changed booking as a lead with the new time', async () => {
    const headers = {
      ...calendlyHeaders,
      Subject: 'Updated: Ana Lopez - 06:00pm Mon, Nov 9, 2026 - Free Intro Class',
    };
    const text = calendly().replace(
      '09:15am - Saturday, November 7, 2026',
      '06:00pm - Monday, November 9, 2026',
    );
    const parsed = await parseMail(mailSource({ headers, text }));
    expect(parsed.outcome).toBe('lead');
    expect(parsed.fields).toMatchObject({ bookedDate: '2026-11-09', bookedTime: '18:00' });
  });
});

describe('meta-lead', () => {
  it.each([
    'full_name: Ana Lopez\nemail: ana@x.example\nphone_number: p:+12125550147\ncampaign_name: Fall\nform_id: 123456789012345',
    'Full name: Ana Lopez Phone number: +12125550147 Email: ana@x.example',
    'New lead from Messenger. Full name: Ana Lopez Phone number: 212-555-0147 Email: ana@x.example',
  ])('%j', async (text) => {
    const parsed = await parseMail(mailSource({ headers: { Subject: 'New lead' }, text }));
    expect(parsed).toMatchObject({ outcome: 'lead', format: 'meta-lead' });
    expect(parsed.fields).toEqual(ana);
  });
});

describe('service-platform', () => {
  const headers = {
    From: '"Ana Lopez via Google" <alias-1@leads.google.example>',
    Subject: 'New booking request',
  };

  it('takes the name from the sender when the body has a placeholder, the booking from one line', async () => {
    const text =
      '📅 New request\n\n• Customer Name: Potential Customer\n📞 Phone: 212-555-0147\n✉️ E-mail: ana@x.example\n🗓 Date/Time: Monday, Dec 22, 2026 @ 1:00 PM – 3:00 PM\n\nQuestions? Call us at (800) 555-0199\nSupport Phone: 800-555-0199\n';
    const parsed = await parseMail(mailSource({ headers, text }));
    expect(parsed).toMatchObject({ outcome: 'lead', format: 'service-platform' });
    expect(parsed.fields).toMatchObject({ ...ana, bookedDate: '2026-12-22', bookedTime: '13:00' });
  });

  it.each([
    ['Date & Time: 12/22/2026 14:30', '2026-12-22', '14:30'],
    ['Requested Time: July 10, 2026, 3:00 PM', '2026-07-10', '15:00'],
    ['Preferred Date: 12/22/2026\nPreferred Time: 9:15am', '2026-12-22', '09:15'],
  ])('reads %j', async (line, bookedDate, bookedTime) => {
    const text = `Customer: Ana Lopez\nPhone Number: 212-555-0147\nEmail: ana@x.example\n${line}\n`;
    const parsed = await parseMail(
      mailSource({
        headers: { From: '"Ana L. via Yelp" <r@messaging.yelp.com>', Subject: 'New inquiry' },
        text,
      }),
    );
    expect(parsed.fields).toMatchObject({ ...ana, bookedDate, bookedTime });
  });

  it('has no contact when the platform hides it', async () => {
    const text =
      'Customer Name: Potential Customer\nService: Personal training\n\nNeed help? Support Phone: (800) 555-0199\nCall us: 800-555-0199\n';
    const parsed = await parseMail(
      mailSource({
        headers: { From: 'Google <noreply@google.com>', Subject: 'You have a new message' },
        text,
      }),
    );
    expect(parsed).toMatchObject({ outcome: 'quarantined', reason: 'no_contact', fields: {} });
  });
});

describe('machine-block', () => {
  it('reads the lines between begin and end', async () => {
    const text =
      'Phone: 800-555-0100\n\n### BEGIN CREATE CONTACT ###\n# first_name:Ana\n# last_name:Lopez\n# email:ana@x.example\n# phone:212-555-0147\n### END CREATE CONTACT ###\n\nEmail: support@crm.example\n';
    const parsed = await parseMail(mailSource({ headers: { Subject: 'contact' }, text }));
    expect(parsed).toMatchObject({ outcome: 'lead', format: 'machine-block' });
    expect(parsed.fields).toEqual(ana);
  });
});
