import type { LeadInput, LedgerMail } from '../../src/leads/lead.ts';
import type { ParsedMail } from '../../src/mail/parsed-mail.ts';

export const riversideStore = {
  storeId: '6f1c2a9e-2a55-4b1e-9a53-0d7f3f0b0412',
  leadEmail: 'riverside@leads.example',
  franchise: 'orangeTheory-0412',
  providerAccountId: '900412',
  trackingId: 'OTF0412',
};

/** A complete lead of the invented Ana Lopez; every field can be overridden. */
export function aLead(overrides: Partial<LeadInput> = {}): LeadInput {
  return {
    id: 'ana@x.example#+12125550147#2026-11-03',
    leadEmail: 'ana@x.example',
    leadType: 'Web Lead',
    firstName: 'Ana',
    lastName: 'Lopez',
    phone: '+12125550147',
    bookedDate: null,
    bookedTime: null,
    emailSubject: 'Web Lead - Ana Lopez',
    emailFrom: 'web@forms.example',
    emailRecipient: 'lead-tracking+otf0412@leads.example',
    extractedTrackingId: 'OTF0412',
    franchiseId: 'orangeTheory',
    accountId: '900412',
    storeId: riversideStore.storeId,
    rawBody: 'First Name: Ana',
    rawBodyTruncated: false,
    isForwarded: false,
    forwardedOriginalFrom: null,
    forwardedOriginalTo: null,
    forwardedOriginalDate: null,
    processedBy: 'imap-poller',
    receivedAt: new Date('2026-11-03T14:15:00.000Z'),
    parseStatus: 'parsed',
    ...overrides,
  };
}

/** The ledger line of the mail that told of it. */
export function aLedgerMail(overrides: Partial<LedgerMail> = {}): LedgerMail {
  return {
    mailKey: 'a'.repeat(64),
    mailbox: 'INBOX',
    uidValidity: 1,
    uid: 7,
    outcome: 'lead',
    reason: null,
    parsed: { format: 'labelled-text' },
    receivedAt: new Date('2026-11-03T14:15:00.000Z'),
    ...overrides,
  };
}

/** The same mail, as parsing leaves it. */
export function aParsedMail(overrides: Partial<ParsedMail> = {}): ParsedMail {
  return {
    outcome: 'lead',
    format: 'labelled-text',
    mailKey: 'a'.repeat(64),
    messageId: '<a1@forms.example>',
    subject: 'Web Lead - Ana Lopez',
    from: 'web@forms.example',
    recipients: [{ source: 'to', address: 'lead-tracking+otf0412@leads.example', trackingId: 'OTF0412' }],
    fields: {
      leadType: 'Web Lead',
      firstName: 'Ana',
      lastName: 'Lopez',
      email: 'ana@x.example',
      phone: '+12125550147',
    },
    text: 'First Name: Ana\nLast Name: Lopez',
    ...overrides,
  };
}
