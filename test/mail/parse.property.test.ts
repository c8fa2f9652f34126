import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mailOutcomes } from '../../src/db/schema/lead-mails.ts';
import { parseMail } from '../../src/mail/parse.ts';
import { mailReasons, type ParsedMail } from '../../src/mail/parsed-mail.ts';
import { alternatives, baseText, mailSource, rawMail } from '../support/mails.ts';

const html = `<table><tr><td>First Name</td><td>Ana</td></tr><tr><td>Phone</td><td>(212) 555-0147</td></tr></table>`;
const adf =
  '<adf><prospect><customer><contact><name part="first">Ana</name><phone>212-555-0147</phone></contact></customer></prospect></adf>';
const forward = `---------- Forwarded message ---------\nFrom: Web <web@forms.example>\nDate: Tue, Nov 3, 2026 at 9:15 AM\nSubject: Web Lead\nTo: <lead-tracking+OTF0412@leads.example>\n\n${baseText}`;
const seeds = [
  mailSource(),
  mailSource({ html }),
  mailSource({ text: adf }),
  mailSource({ headers: { Subject: 'Fwd: Web Lead' }, text: forward }),
  rawMail(
    { 'Content-Type': 'multipart/mixed; boundary=b1', Subject: '=?utf-8?Q?Web_Lead_=0D=0A=00?=' },
    alternatives([
      ['text/html; charset=iso-8859-1', html],
      ['text/plain; name=lead.txt\nContent-Disposition: attachment', baseText],
      ['message/rfc822', mailSource().toString()],
    ]),
  ),
];

/** One change to a source: bytes put in, taken out, repeated or moved. */
const nasty = fc.constantFrom(
  '\0',
  '\r\n',
  '\n\n',
  '=00',
  '=?utf-8?B?AAAA?=',
  '--b1',
  '--b1--',
  '<table><tr><td>',
  ':',
  '\ud800',
  '\xff\xfe',
  '&#0;',
  '&#xD800;',
  'Content-Type: multipart/mixed; boundary=b1\r\n',
  'Content-Transfer-Encoding: base64\r\n',
  '<adf>',
  '\t',
  '@',
  '<![CDATA[',
  'charset=utf-7',
);
const mutation = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.nat(60),
  insert: fc.oneof(nasty, fc.string({ unit: 'binary', maxLength: 20 })),
  times: fc.integer({ min: 0, max: 40 }),
});
const mutated = fc
  .tuple(fc.constantFrom(...seeds), fc.array(mutation, { minLength: 1, maxLength: 6 }))
  .map(([seed, mutations]) =>
    mutations.reduce((source, { at, length, insert, times }) => {
      const start = Math.floor(at * source.length);
      return Buffer.concat([
        source.subarray(0, start),
        Buffer.from(insert.repeat(times), 'latin1'),
        source.subarray(start + length),
      ]);
    }, seed),
  );
const anySource = fc.oneof(
  { weight: 6, arbitrary: mutated },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 2000 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 500 }).map((text) => Buffer.from(text)) },
);

// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what must not be there
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(strings) : [];
}

function expectSound(parsed: ParsedMail): void {
  expect(mailOutcomes).toContain(parsed.outcome);
  if (parsed.outcome !== 'lead') expect(mailReasons).toContain(parsed.reason);
  expect(parsed.mailKey).toMatch(/^[0-9a-f]{64}$/);
  const { phone, email, bookedDate, bookedTime } = parsed.fields;
  if (phone !== undefined) expect(phone).toMatch(/^\+[1-9]\d{5,14}$/);
  if (email !== undefined) expect(email).toMatch(/^[^\sA-Z]+@[^\sA-Z]+$/);
  if (bookedDate !== undefined) expect(bookedDate).toMatch(/^20\d\d-\d\d-\d\d$/);
  if (bookedTime !== undefined) expect(bookedTime).toMatch(/^[0-2]\d:[0-5]\d$/);
  if (parsed.outcome === 'lead') expect(phone ?? email ?? parsed.replyTo).toBeDefined();
  for (const text of strings(parsed)) {
    expect(text).not.toMatch(control);
    expect(text.isWellFormed()).toBe(true);
  }
  const { text: _, ...oneLiners } = parsed;
  for (const text of strings(oneLiners)) expect(text).not.toMatch(/[\n\t]/);
  for (const text of strings(parsed.fields)) expect(text.trim()).not.toBe('');
}

describe('parseMail', () => {
  it('never rejects, and every result is sound, whatever the bytes', async () => {
    await fc.assert(
      fc.asyncProperty(anySource, async (source) => {
        expectSound(await parseMail(source));
      }),
      { numRuns: 400 },
    );
  }, 120_000);

  it('cuts no character in half, wherever a limit falls', async () => {
    for (const offset of [0, 1]) {
      const long = `${'x'.repeat(offset)}${'🌸'.repeat(300_000)}`;
      expectSound(
        await parseMail(
          mailSource({ text: `Name: Ana ${long}\nLead Type: ${long}\nPhone: ${long}\n${baseText}` }),
        ),
      );
      expectSound(await parseMail(mailSource({ html: `<p>${long}</p><p>Phone: ${long}</p>${html}` })));
      expectSound(
        await parseMail(
          mailSource({ headers: { Subject: `Fwd: ${long.slice(0, 5000)}` }, text: `${forward}\n${long}` }),
        ),
      );
      expectSound(await parseMail(mailSource({ text: adf.replace('Ana', `Ana ${long}`) })));
    }
  });

  it('gives the same result for the same bytes', async () => {
    await fc.assert(
      fc.asyncProperty(mutated, async (source) => {
        expect(await parseMail(Buffer.from(source))).toEqual(await parseMail(source));
      }),
      { numRuns: 60 },
    );
  }, 120_000);

  it('never takes a value of another person, whatever the order of labelled lines', async () => {
    const own = ['First Name: Ana', 'Last Name: Lopez', 'Phone: (212) 555-0147', 'Email: ana@x.example'];
    const others = [
      'Studio: Riverside (212) 555-0100',
      'Studio Phone: 212-555-0100',
      'Location Email: riverside@gym.example',
      'Coach Name: Bo',
      'Emergency Contact Phone: 646-555-0188',
      'Support Phone: 800-555-0100',
      'Assigned To:',
      'Source:',
      'UTM Source: web',
      'Favorite color: red',
    ];
    await fc.assert(
      fc.asyncProperty(
        fc
          .subarray(others)
          .chain((some) => fc.shuffledSubarray([...own, ...some], { minLength: own.length + some.length })),
        async (lines) => {
          const { fields } = await parseMail(
            mailSource({ headers: { Subject: 'Website' }, text: lines.join('\n') }),
          );
          expect(fields).toEqual({
            firstName: 'Ana',
            lastName: 'Lopez',
            phone: '+12125550147',
            email: 'ana@x.example',
          });
        },
      ),
      { numRuns: 150 },
    );
  }, 60_000);
});
