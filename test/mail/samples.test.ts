import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseMail } from '../../src/mail/parse.ts';

const folder = join(import.meta.dirname, '../../local/samples');
const files = readdirSync(folder).filter((name) => name.endsWith('.eml'));
const read = (name: string) => parseMail(readFileSync(join(folder, name)));

/** What each sample mail of the run on one machine must come to: outcome, format, person, phone, tag. */
const expected: Record<
  string,
  [outcome: string, format: string | undefined, name: string, phone: string | undefined]
> = {
  '01-web-lead': ['lead', 'web-lead', 'Ana Lopez', '+12125550147'],
  '02-online-intro': ['lead', 'intro-booking', 'Bo Chen', '+16465550188'],
  '03-wpforms': ['lead', 'wpforms', 'Dee Okafor', '+19175550123'],
  '04-elementor': ['lead', 'elementor', 'Eli Novak', '+12125550161'],
  '05-squarespace': ['lead', 'squarespace', 'Fay Martin', '+12125550172'],
  '06-contact-form-7': ['lead', 'contact-form-7', 'Gus Peters', undefined],
  '07-adf-body': ['lead', 'adf', 'Hana Sato', '+12125550183'],
  '08-adf-attachment': ['lead', 'adf', 'Ivan Petrov', '+19175550194'],
  '09-gmail-forward': ['lead', 'web-lead', 'Jo Kim', '+16465550105'],
  '10-outlook-forward': ['lead', 'web-lead', 'Kay Weber', '+19175550116'],
  '11-forward-as-attachment': ['lead', 'web-lead', 'Lou Diaz', '+12125550127'],
  '12-calendly-booking': ['lead', 'calendly', 'Mia Rossi', '+16465550138'],
  '13-calendly-cancellation': ['cancellation', 'calendly', 'Mia Rossi', '+16465550138'],
  '14-formsubmit': ['lead', 'formsubmit', 'Noor Haddad', '+971501234567'],
  '15-swim-school': ['lead', 'swim-school', 'Dan Yates', '+12125550149'],
  '16-auto-reply': ['skipped', undefined, '', undefined],
  '17-quarantined-digest': ['quarantined', 'html-table', '', undefined],
  '18-html-table-only': ['lead', 'html-table', "Rosa O'Neil", '+12125550164'],
  '19-bounce': ['skipped', undefined, '', undefined],
  '20-meta-lead': ['lead', 'meta-lead', 'Sam Ito', '+16465550175'],
  '21-auto-forwarded': ['lead', 'labelled-text', 'Tia Blum', '+12125550186'],
  '22-web-lead-again': ['lead', 'web-lead', 'Ana Lopez', '+12125550147'],
  '23-tnef-only': ['quarantined', undefined, '', undefined],
};

describe('sample mails', () => {
  it('are all expected', () => {
    expect(files.map((name) => name.replace('.eml', ''))).toEqual(Object.keys(expected));
  });

  it.each(files)('%s', async (name) => {
    const [outcome, format, person, phone] = expected[name.replace('.eml', '')] ?? [];
    const parsed = await read(name);
    const { firstName = '', lastName = '' } = parsed.fields;
    expect([parsed.outcome, outcome === 'skipped' ? undefined : parsed.format]).toEqual([outcome, format]);
    expect([`${firstName} ${lastName}`.trim(), parsed.fields.phone]).toEqual([person, phone]);
    const stores = ['OTF0412', 'OTF0777', 'SWIM12', 'riverside@leads.example', 'harbor@leads.example'];
    expect(stores).toContain(parsed.recipients[0]?.trackingId ?? parsed.recipients[0]?.address);
  });

  it('have keys of their own', async () => {
    const keys = await Promise.all(files.map(async (name) => (await read(name)).mailKey));
    expect(new Set(keys).size).toBe(files.length);
  });

  it('tell booking, extension, forward and lead type', async () => {
    expect((await read('02-online-intro.eml')).fields).toMatchObject({
      leadType: 'Online Intro',
      bookedDate: '2026-11-07',
      bookedTime: '09:15',
    });
    expect((await read('04-elementor.eml')).fields).not.toHaveProperty('bookedDate');
    expect((await read('09-gmail-forward.eml')).forwarded).toMatchObject({
      from: 'web@forms.example',
      to: 'owner@riverside.example',
    });
    expect((await read('10-outlook-forward.eml')).fields).toMatchObject({
      phoneExtension: '4',
      leadType: 'Web Lead',
    });
    expect((await read('11-forward-as-attachment.eml')).forwarded).toMatchObject({
      to: 'lead-tracking+otf0412@leads.example',
    });
    expect((await read('12-calendly-booking.eml')).fields).toMatchObject({
      leadType: 'Free Intro Class',
      bookedDate: '2026-11-09',
      bookedTime: '18:00',
    });
  });
});
