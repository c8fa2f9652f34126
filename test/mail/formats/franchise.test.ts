import { describe, expect, it } from 'vitest';
import { parseMail } from '../../../src/mail/parse.ts';
import { ana, mailSource } from '../../support/mails.ts';

const read = (subject: string, text: string) =>
  parseMail(mailSource({ headers: { Subject: subject }, text }));

describe('web-lead', () => {
  it('reads labelled lines, the type from the subject, no booking', async () => {
    const parsed = await read(
      'Web Lead - Ana Lopez - Riverside',
      'First Name: Ana\nLast Name: Lopez\nPhone: (212) 555-0147\nEmail: ana@x.example\nStudio: Riverside #0412\nSource: Website',
    );
    expect(parsed).toMatchObject({ outcome: 'lead', format: 'web-lead' });
    expect(parsed.fields).toEqual({ ...ana, leadType: 'Web Lead', source: 'Website' });
  });

  it('keeps the studio out of the fields, wherever its numbers stand', async () => {
    const { fields } = await read(
      'Web Lead - Ana Lopez - Riverside',
      'OrangeTheory Riverside Studio\n12 Main Street\nPhone: (212) 555-0100\nEmail: riverside@gym.example\n\nNew web lead\n\nFirst Name: Ana\nLast Name: Lopez\nPhone: (212) 555-0147\nEmail: ana@x.example\nStudio Phone: (212) 555-0100\nStudio Email: riverside@gym.example',
    );
    expect(fields).toMatchObject(ana);
  });

  it('reads field names with underscores and in upper case', async () => {
    const { fields } = await read(
      'Web Lead',
      'first_name: Ana\nlast_name: Lopez\nphone_number: 2125550147\nemail_address: ANA@X.EXAMPLE',
    );
    expect(fields).toMatchObject(ana);
    const shouted = await read(
      'WEB LEAD',
      'FIRST NAME\nAna\nLAST NAME\nLopez\nPHONE\n212-555-0147\nEMAIL\nana@x.example',
    );
    expect(shouted.fields).toMatchObject({ ...ana, leadType: 'Web Lead' });
  });
});

describe('intro-booking', () => {
  it.each([
    ['Class Date: 11-07-2026\nClass Time: 9:15 AM', '2026-11-07', '09:15'],
    ['Intro Date: 11/7/2026\nIntro Time: 6:00 PM', '2026-11-07', '18:00'],
    ['Appointment Date: 2026-11-07\nAppointment Time: 14:30', '2026-11-07', '14:30'],
    ['Date: Saturday, November 7, 2026\nTime: 9:15am', '2026-11-07', '09:15'],
    ['Class Date & Time: 11/07/2026 9:15 AM', '2026-11-07', '09:15'],
    ['Class: Orange 60\nClass Date: 11-07-26\nClass Time: 12:00 PM', '2026-11-07', '12:00'],
  ])('%j', async (lines, bookedDate, bookedTime) => {
    const parsed = await read(
      'Online Intro - Ana Lopez - Riverside',
      `First Name: Ana\nLast Name: Lopez\nPhone: (212) 555-0147\nEmail: ana@x.example\nStudio: Riverside #0412\n${lines}\nCoach: TBD`,
    );
    expect(parsed).toMatchObject({ outcome: 'lead', format: 'intro-booking' });
    expect(parsed.fields).toMatchObject({ ...ana, leadType: 'Online Intro', bookedDate, bookedTime });
  });

  it('leaves an impossible date or time out', async () => {
    const { fields } = await read(
      'Online Intro - Ana Lopez',
      'First Name: Ana\nPhone: (212) 555-0147\nClass Date: 02-30-2026\nClass Time: 25:00',
    );
    expect(fields).not.toHaveProperty('bookedDate');
    expect(fields).not.toHaveProperty('bookedTime');
    expect(fields.phone).toBe(ana.phone);
  });
});

describe('swim-school', () => {
  const labels = [
    ['Location Email', 'riverside@swim.example'],
    ['Franchise Code', '12'],
    ['Location Code', '3'],
    ['Class ID', '99'],
    ['Student Name', 'Dan Yates'],
    ['Email', 'Dan Yates <dan@x.example>'],
    ['Phone', '(212) 555-0147'],
    ['UTM Source', 'google'],
    ['HubSpot Cookie', 'abc123'],
    ['How did you hear about us?', ''],
  ];
  it.each([
    ['label: value', labels.map(([label, value]) => `${label}: ${value}`).join('\n')],
    ['label - value', labels.map(([label, value]) => `${label} - ${value}`).join('\n')],
    ['alternate lines', labels.map(([label, value]) => `${label}\n${value}`).join('\n')],
    ['alternate lines with colon', labels.map(([label, value]) => `${label}:\n${value}`).join('\n')],
    ['blank lines between', labels.map(([label, value]) => `${label}\n\n${value}\n`).join('\n')],
  ])('reads %s', async (_, text) => {
    const parsed = await read('New enrollment', text);
    expect(parsed).toMatchObject({ outcome: 'lead', format: 'swim-school' });
    expect(parsed.fields).toMatchObject({
      firstName: 'Dan',
      lastName: 'Yates',
      email: 'dan@x.example',
      phone: '+12125550147',
    });
    expect(parsed.fields).not.toHaveProperty('source');
  });

  it('takes the parent before the student, and no address from an e-mail field that holds a name', async () => {
    const { fields } = await read(
      'New enrollment',
      'Location Email: riverside@swim.example\nFranchise Code: 12\nStudent Name: Mia Yates\nParent Name: Dan Yates\nEmail: Dan Yates\nPhone: (212) 555-0147',
    );
    expect(fields).toMatchObject({ firstName: 'Dan', lastName: 'Yates', phone: '+12125550147' });
    expect(fields).not.toHaveProperty('email');
  });
});
