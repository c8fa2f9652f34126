import { describe, expect, it } from 'vitest';
import { parseMail } from '../../src/mail/parse.ts';
import { type MailParts, mailSource } from '../support/mails.ts';

const recipients = async (headers: MailParts['headers']) =>
  (await parseMail(mailSource({ headers: headers ?? {} }))).recipients;

describe('recipients', () => {
  it('come in look-up order, without doubles', async () => {
    expect(
      await recipients({
        'Delivered-To': 'box@leads.example',
        'X-Forwarded-To': 'Lead-Tracking+OTF0412@leads.example, box@leads.example',
        'X-Original-To': '<orig@leads.example>',
        To: 'Studio <studio@gym.example>, other@gym.example',
        Cc: 'lead-tracking+OTF0777@leads.example',
      }),
    ).toEqual([
      { source: 'delivered-to', address: 'box@leads.example' },
      { source: 'x-forwarded-to', address: 'lead-tracking+otf0412@leads.example', trackingId: 'OTF0412' },
      { source: 'x-original-to', address: 'orig@leads.example' },
      { source: 'to', address: 'studio@gym.example' },
      { source: 'to', address: 'other@gym.example' },
      { source: 'cc', address: 'lead-tracking+otf0777@leads.example', trackingId: 'OTF0777' },
    ]);
  });

  it.each(['Delivered-To', 'X-Forwarded-To', 'X-Original-To'])('take the topmost %s alone', async (name) => {
    const found = await recipients({
      [name]: ['lead-tracking+OTF0412@leads.example', 'lead-tracking+OTF0777@leads.example'],
      To: 'x@gym.example',
    });
    expect(found.map(({ trackingId }) => trackingId)).toEqual(['OTF0412', undefined]);
  });

  it.each([
    ['"lead-tracking+OTF0412@leads.example" <x@y.example>', ['x@y.example']],
    ['lead-tracking+OTF0412@leads.example <x@y.example>', ['x@y.example']],
    ['undisclosed-recipients:;', []],
    [
      'Stores: a@x.example, lead-tracking+OTF0412@leads.example;',
      ['a@x.example', 'lead-tracking+otf0412@leads.example'],
    ],
    ['=?utf-8?Q?Caf=C3=A9?= <a@x.example>', ['a@x.example']],
    ['<a@x.example', ['a@x.example']],
    ['a@x.example,, ,b@x.example,', ['a@x.example', 'b@x.example']],
    ["'lead-tracking+OTF0412@leads.example'", ['lead-tracking+otf0412@leads.example']],
    ['Riverside Studio', []],
    ['', []],
  ])('read To: %s', async (to, addresses) => {
    expect((await recipients({ To: to })).map(({ address }) => address)).toEqual(addresses);
  });

  it('read a tag whatever the case of the address, and keep its own', async () => {
    expect(await recipients({ To: 'LEAD-TRACKING+otf0412@LEADS.EXAMPLE' })).toEqual([
      { source: 'to', address: 'lead-tracking+otf0412@leads.example', trackingId: 'otf0412' },
    ]);
    expect(await recipients({ To: 'lead-tracking+@leads.example, x-lead-tracking+A@leads.example' })).toEqual(
      [
        { source: 'to', address: 'lead-tracking+@leads.example' },
        { source: 'to', address: 'x-lead-tracking+a@leads.example' },
      ],
    );
  });

  it('read several To headers', async () => {
    expect(
      (await recipients({ To: ['a@x.example', 'b@x.example, c@x.example'] })).map(({ address }) => address),
    ).toEqual(['a@x.example', 'b@x.example', 'c@x.example']);
  });

  it('stop at a hundred: more are a mailing list', async () => {
    const list = Array.from({ length: 5000 }, (_, index) => `a${index}@x.example`).join(', ');
    expect(await recipients({ To: list })).toHaveLength(100);
  });
});
