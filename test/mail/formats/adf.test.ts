import { describe, expect, it } from 'vitest';
import { parseMail } from '../../../src/mail/parse.ts';
import { cpuSeconds } from '../../support/cpu-time.ts';
import { alternatives, ana, mailSource, rawMail } from '../../support/mails.ts';

const contact =
  '<contact><name part="first">Ana</name><name part="last">Lopez</name><email>ana@x.example</email><phone type="mobile" time="evening">212-555-0147</phone></contact>';
const vendor =
  '<vendor><vendorname>Gym</vendorname><contact><name part="full">Gym Riverside</name><email>riverside@gym.example</email><phone>212-555-0100</phone></contact></vendor>';
const provider =
  '<provider><name part="full">AdNet</name><email>help@adnet.example</email><phone>800-555-0100</phone></provider>';
const adf = (customer: string, more = '') =>
  `<?xml version="1.0"?><?adf version="1.0"?><adf><prospect><requestdate>2026-11-03T09:15:00-05:00</requestdate>\n<customer>${customer}<comments>Free class?</comments></customer>\n${vendor}${provider}${more}</prospect></adf>`;
const headers = { Subject: 'ADF' };

describe('adf', () => {
  it.each([
    ['text body', mailSource({ headers, text: adf(contact) })],
    ['html body', mailSource({ headers, html: adf(contact) })],
    [
      'html body, escaped',
      mailSource({
        headers,
        html: `<pre>${adf(contact).replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</pre>`,
      }),
    ],
    [
      'below a greeting',
      mailSource({ headers, text: `New lead!\nPhone: 800-555-0100\n\n${adf(contact)}\n-- \nAdNet` }),
    ],
    ['attachment', attached('application/x-adf+xml; name=lead.adf')],
    ['attachment called xml', attached('application/xml; name=lead.xml')],
    ['attachment of unknown type', attached('application/octet-stream; name=lead.xml')],
    [
      'attachment in base64',
      attached(
        'text/xml; name=lead.xml\nContent-Transfer-Encoding: base64',
        Buffer.from(adf(contact)).toString('base64'),
      ),
    ],
  ])('reads customer/contact alone: %s', async (_, source) => {
    const parsed = await parseMail(source);
    expect(parsed).toMatchObject({ outcome: 'lead', format: 'adf' });
    expect(parsed.fields).toEqual(ana);
  });

  it.each([
    [
      'upper case',
      adf(contact)
        .replace('<?adf version="1.0"?>', '<?ADF VERSION="1.0"?>')
        .replace(/<(\/?)(\w+)/g, (_, slash, tag) => `<${slash}${tag.toUpperCase()}`),
    ],
    ['mailto', adf(contact.replace('ana@x', 'mailto:ana@x'))],
    [
      'only a full name',
      adf(
        '<contact><name part="full">Ana Lopez</name><email>ana@x.example</email><phone>212-555-0147</phone></contact>',
      ),
    ],
    [
      'a name without part',
      adf('<contact><name>Ana Lopez</name><email>ana@x.example</email><phone>212-555-0147</phone></contact>'),
    ],
    [
      'CDATA',
      adf(
        '<contact><name part="first"><![CDATA[Ana]]></name><name part="last">Lopez</name><email>ana@x.example</email><phone>212-555-0147</phone></contact>',
      ),
    ],
    [
      'a fax before the phone',
      adf(contact.replace('<phone', '<phone type="fax">212-555-0199</phone><phone')),
    ],
    [
      'an invalid phone before a valid one',
      adf(contact.replace('<phone', '<phone type="home">555-0147</phone><phone')),
    ],
    ['not well-formed: a URL in angle brackets', adf(contact, '<url><https://gym.example></url>')],
    ['not well-formed: a bare ampersand', adf(contact).replace('Free class?', 'Ana & Bo')],
    ['not well-formed: unclosed', adf(contact).replace('</prospect></adf>', '')],
    ['empty request date', adf(contact).replace('2026-11-03T09:15:00-05:00', '')],
    ['white space before the prolog', `\n  ${adf(contact)}`],
  ])('bears %s', async (_, text) => {
    const parsed = await parseMail(mailSource({ headers, text }));
    expect(parsed).toMatchObject({ outcome: 'lead', format: 'adf' });
    expect(parsed.fields).toEqual(ana);
  });

  it('names the lead type of the document', async () => {
    const parsed = await parseMail(
      mailSource({ headers, text: adf(contact, '<leadtype>Trade-in</leadtype>') }),
    );
    expect(parsed.fields.leadType).toBe('Trade-in');
  });

  it('has no contact if only vendor and provider have one', async () => {
    const parsed = await parseMail(
      mailSource({ headers, text: adf('<contact><name part="full">Ana Lopez</name></contact>') }),
    );
    expect(parsed).toMatchObject({
      outcome: 'quarantined',
      reason: 'no_contact',
      fields: { firstName: 'Ana', lastName: 'Lopez' },
    });
  });

  it('expands no entities', async () => {
    const bomb = `<?xml version="1.0"?><!DOCTYPE adf [<!ENTITY a "AAAAAAAAAA"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>${adf(contact.replace('Ana', '&b;').replace('Lopez', '&x;')).replace(/^.*?(?=<adf>)/, '')}`;
    const { fields } = await parseMail(mailSource({ headers, text: bomb }));
    expect(fields).toEqual({ email: ana.email, phone: ana.phone });
  });

  it('keeps two customers apart as a digest', async () => {
    const other = contact.replace('Ana', 'Bo').replace('Lopez', 'Chen').replace('ana@', 'bo@');
    const two = adf(contact).replace(
      '</prospect></adf>',
      `</prospect><prospect><customer>${other}</customer></prospect></adf>`,
    );
    expect(await parseMail(mailSource({ headers, text: two }))).toMatchObject({
      outcome: 'quarantined',
      reason: 'digest',
      fields: {},
    });
  });

  it('takes 10,000 nested elements in its stride', async () => {
    const source = mailSource({ headers, text: `<adf>${'<a>'.repeat(60_000)}` });
    expect(await cpuSeconds(() => parseMail(source))).toBeLessThan(2);
  });
});

function attached(type: string, body = adf(contact)): Buffer {
  return rawMail(
    { ...headers, 'Content-Type': 'multipart/mixed; boundary=b1' },
    alternatives([
      ['text/plain', 'A new lead is attached.'],
      [`${type}\nContent-Disposition: attachment`, body],
    ]),
  );
}
