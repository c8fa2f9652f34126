import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildLead } from '../../src/leads/build-lead.ts';
import { leadInputSchema } from '../../src/leads/lead.ts';
import { leadId } from '../../src/leads/lead-id.ts';
import { cutToBytes } from '../../src/leads/raw-body.ts';
import { aParsedMail, riversideStore } from '../support/leads.ts';

const receivedAt = new Date('2026-11-04T01:30:00.000Z');
const tagged = {
  source: 'to',
  address: 'lead-tracking+otf0412@leads.example',
  trackingId: 'OTF0412',
} as const;
const match = { store: riversideStore, recipient: tagged, ambiguous: false };

describe("a lead's id", () => {
  it('is e-mail, phone and the UTC calendar date', () => {
    expect(leadId({ leadEmail: ' Ana@X.example ', phone: '+12125550147', receivedAt })).toBe(
      'ana@x.example#+12125550147#2026-11-04',
    );
  });
  it('is e-mail and arrival without a phone', () => {
    expect(leadId({ leadEmail: 'ana@x.example', phone: null, receivedAt })).toBe(
      'ana@x.example#2026-11-04T01:30:00.000Z',
    );
  });
});

describe('the lead that a mail tells of', () => {
  it('takes brand, account and store from the store, the rest from the mail', () => {
    expect(buildLead(aParsedMail(), receivedAt, match)).toMatchObject({
      id: 'ana@x.example#+12125550147#2026-11-04',
      franchiseId: 'orangeTheory',
      accountId: '900412',
      storeId: riversideStore.storeId,
      emailRecipient: tagged.address,
      extractedTrackingId: 'OTF0412',
      parseStatus: 'parsed',
      processedBy: 'imap-poller',
      isForwarded: false,
    });
  });

  it.each([
    { fields: { email: 'ana@x.example' }, replyTo: 'other@y.example', expected: 'ana@x.example' },
    { fields: {}, replyTo: 'Other@Y.example', expected: 'other@y.example' },
    { fields: {}, replyTo: undefined, expected: 'web@forms.example' },
  ])(
    'M44 takes lead_email from body, else Reply-To, else From: $expected',
    ({ fields, replyTo, expected }) => {
      const parsed = aParsedMail({
        fields: { ...fields, phone: '+12125550147' },
        ...(replyTo ? { replyTo } : {}),
      });
      expect(buildLead(parsed, receivedAt, match).leadEmail).toBe(expected);
    },
  );

  it('is partial without a phone or without an address of the person, unmapped without a store', () => {
    const status = (fields: object, store: typeof match | undefined = match) =>
      buildLead(aParsedMail({ fields }), receivedAt, store).parseStatus;
    expect(status({ email: 'ana@x.example' })).toBe('partial');
    expect(status({ phone: '+12125550147' })).toBe('partial');
    expect(buildLead(aParsedMail(), receivedAt, undefined)).toMatchObject({
      parseStatus: 'unmapped',
      storeId: null,
      extractedTrackingId: 'OTF0412',
    });
  });

  it.each(['+12125550147', '(212) 555-0147', '212.555.0147'])(
    "M52 never takes the store's own number %s",
    (own) => {
      const store = { ...riversideStore, phoneNumbers: ['+16465550100', own] };
      expect(buildLead(aParsedMail(), receivedAt, { ...match, store }).phone).toBeNull();
      const other = { ...riversideStore, phoneNumbers: ['+16465550100'] };
      expect(buildLead(aParsedMail(), receivedAt, { ...match, store: other }).phone).toBe('+12125550147');
    },
  );

  it('M53 has no name and the type Unknown when the mail names none', () => {
    const lead = buildLead(aParsedMail({ fields: { email: 'ana@x.example' } }), receivedAt, match);
    expect(lead).toMatchObject({ firstName: null, lastName: null, leadType: 'Unknown' });
  });

  it('caps the stored text at 256 KiB and says so', () => {
    const lead = buildLead(aParsedMail({ text: 'ä'.repeat(200_000) }), receivedAt, match);
    expect(Buffer.byteLength(lead.rawBody)).toBeLessThanOrEqual(256 * 1024);
    expect(lead.rawBodyTruncated).toBe(true);
  });

  it('survives the way through a queue', () => {
    const lead = buildLead(aParsedMail(), receivedAt, match);
    expect(leadInputSchema.parse(JSON.parse(JSON.stringify(lead)))).toEqual(lead);
  });
});

it('a cut text is a prefix within the limit that ends at a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(200), (text, limit) => {
      const cut = cutToBytes(text, limit);
      expect(text.startsWith(cut.text)).toBe(true);
      expect(Buffer.byteLength(cut.text)).toBeLessThanOrEqual(limit);
      expect(cut.truncated).toBe(cut.text !== text);
      expect(cut.text.isWellFormed()).toBe(true);
    }),
  );
});
