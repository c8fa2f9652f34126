import { expect, it } from 'vitest';
import { quarantineByEnvelope } from '../../src/mail/quarantine.ts';

const envelope = {
  uid: 7,
  receivedAt: new Date('2026-11-03T14:15:00Z'),
  size: 31_000_000,
  seen: false,
  messageId: '<a1@forms.example>',
  subject: 'Web Lead\r\n - Ana',
  from: 'Web@forms.example',
  to: ['Lead-Tracking+OTF0412@leads.example'],
};

it('M24 a mail that must not be read again keeps its recipient, so that its store can be told', () => {
  expect(quarantineByEnvelope(envelope)).toMatchObject({
    outcome: 'quarantined',
    reason: 'attempts_exhausted',
    subject: 'Web Lead - Ana',
    from: 'web@forms.example',
    recipients: [{ source: 'to', address: 'lead-tracking+otf0412@leads.example', trackingId: 'OTF0412' }],
    fields: {},
  });
});

it('has one key a mail, with and without a Message-ID', () => {
  const { messageId: _none, ...anonymous } = envelope;
  const keys = [
    quarantineByEnvelope(envelope),
    quarantineByEnvelope({ ...envelope, messageId: '<a2@forms.example>' }),
    quarantineByEnvelope(anonymous),
    quarantineByEnvelope({ ...anonymous, uid: 8 }),
  ].map(({ mailKey }) => mailKey);
  expect(new Set(keys).size).toBe(4);
  expect(quarantineByEnvelope(anonymous).mailKey).toBe(keys[2]);
});
