import { describe, expect, it } from 'vitest';
import { parseMail } from '../../src/mail/parse.ts';
import { baseText, mailSource } from '../support/mails.ts';

const typeOf = async (subject: string, text = baseText) =>
  (await parseMail(mailSource({ headers: { Subject: subject }, text }))).fields.leadType;

describe('lead type', () => {
  it.each([
    ['Web Lead - Ana Lopez - Riverside', 'Web Lead'],
    ['WEB LEAD: Ana Lopez', 'Web Lead'],
    ['New Web Lead from Ana Lopez', 'Web Lead'],
    ['Ana Lopez - Web Lead', 'Web Lead'],
    ['Fwd: Web Lead - Ana Lopez', 'Web Lead'],
    ['[EXTERNAL] RE: Web Lead - Ana Lopez', 'Web Lead'],
    ['Online Intro - Ana Lopez - Riverside', 'Online Intro'],
    ['Online Intro Booking: Ana Lopez', 'Online Intro'],
    ['online intro offer (self-booked) - Ana Lopez', 'Online Intro'],
    ['Member Referral - Ana Lopez', 'Member Referral'],
    ['VIP Class | Ana Lopez', 'VIP Class'],
    ['Free Trial: Ana Lopez', 'Free Trial'],
    ['New inquiry from Ana Lopez', 'inquiry'],
    ['Form Submission - Guest Pass', 'Guest Pass'],
  ])('%j is %s', async (subject, expected) => {
    expect(await typeOf(subject)).toBe(expected);
  });

  it.each([
    'Ana Lopez',
    'New lead: Ana Lopez',
    'New lead',
    'New message from "Intro Gym"',
    'Gym "Free class"',
    'Form Submission - Riverside',
    'You have a new booking',
    'Hello',
    '',
    'I have an inquiry',
    'Question about class times',
    'About my booking',
    'Is the class free',
    'Interested in a trial class',
    'Schedule a tour',
    'Lost my pass',
    'Ana booked a tour',
    'Session Fitness - contact',
  ])('%j names none', async (subject) => {
    expect(await typeOf(subject)).toBeUndefined();
  });

  it("is never the person's name", async () => {
    const text = 'First Name: Grace\nLast Name: Lead\nPhone: 212-555-0147';
    expect(await typeOf('Grace Lead', text)).toBeUndefined();
    expect(await typeOf('Lead, Grace - Riverside', text)).toBeUndefined();
  });

  it('comes from a line that names it before the subject', async () => {
    expect(await typeOf('Web Lead - Ana Lopez', `Lead Type: Phone Inquiry\n${baseText}`)).toBe(
      'Phone Inquiry',
    );
    expect(await typeOf('Ana Lopez', `Lead Type: web lead\n${baseText}`)).toBe('Web Lead');
    expect(await typeOf('Ana Lopez', `Lead Type: Google Lead\n${baseText}`)).toBe('Google Lead');
    expect(await typeOf('Ana Lopez', `Type: Online Intro\n${baseText}`)).toBe('Online Intro');
    expect(await typeOf('Ana Lopez', `Type: Residential\n${baseText}`)).toBeUndefined();
    expect(await typeOf('Ana Lopez', `Lead Type: N/A\n${baseText}`)).toBeUndefined();
  });

  it.each([
    `${baseText}\nMessage: I have an inquiry`,
    `Message: an inquiry about web leads\n${baseText}`,
    `Message: online intro please\n${baseText}`,
    `I saw the online intro\n\n${baseText}`,
    `Web leads are great\n\n${baseText}`,
    `${baseText}\nService: I want to ask about a class`,
    `${baseText}\nInquiry: do you have a trial class`,
  ])('is no ordinary word of a text: %j', async (text) => {
    expect(await typeOf('Website', text)).toBeUndefined();
  });

  it('comes from a heading above the fields', async () => {
    expect(await typeOf('Riverside', `NEW WEB LEAD\n\n${baseText}`)).toBe('Web Lead');
  });
});
