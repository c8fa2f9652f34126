import { describe, expect, it } from 'vitest';
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

it('M24 a mail that must not be read again keeps its recipient, so that its store can be told', async () => {
  expect(await quarantineByEnvelope(envelope)).toMatchObject({
    outcome: 'quarantined',
    reason: 'attempts_exhausted',
    subject: 'Web Lead - Ana',
    from: 'web@forms.example',
    recipients: [{ source: 'to', address: 'lead-tracking+otf0412@leads.example', trackingId: 'OTF0412' }],
    fields: {},
  });
});

it('has one key a mail, with and without a Message-ID, and whatever its headers say', async () => {
  const { messageId: _none, ...anonymous } = envelope;
  const headers = Buffer.from('Delivered-To: lead-tracking+OTF0777@leads.example\r\n\r\n');
  const parsed = await Promise.all([
    quarantineByEnvelope(envelope),
    quarantineByEnvelope({ ...envelope, messageId: '<a2@forms.example>' }),
    quarantineByEnvelope(anonymous),
    quarantineByEnvelope({ ...anonymous, uid: 8 }),
  ]);
  const keys = parsed.map(({ mailKey }) => mailKey);
  expect(new Set(keys).size).toBe(4);
  expect((await quarantineByEnvelope(anonymous)).mailKey).toBe(keys[2]);
  expect((await quarantineByEnvelope(envelope, headers)).mailKey).toBe(keys[0]);
});

describe('its recipients', () => {
  const recipientsOf = async (headers: string) => {
    const { recipients } = await quarantineByEnvelope(
      { ...envelope, to: ['desk@gym.example'] },
      Buffer.from(headers),
    );
    return recipients.map(({ source, address }) => [source, address]);
  };

  it('M42 are those of the delivery headers first, in look-up order', async () => {
    const headers =
      'Cc: riverside@leads.example\r\nTo: Desk <desk@gym.example>\r\nX-Forwarded-To: harbor@leads.example\r\nDelivered-To:\r\n Swim@leads.example\r\nX-Original-To: x@leads.example\r\n\r\n';
    expect(await recipientsOf(headers)).toEqual([
      ['delivered-to', 'swim@leads.example'],
      ['x-forwarded-to', 'harbor@leads.example'],
      ['x-original-to', 'x@leads.example'],
      ['to', 'desk@gym.example'],
      ['cc', 'riverside@leads.example'],
    ]);
  });

  it.each(['', '\r\n\r\n', '\0\xff garbage'])(
    "are the envelope's where the headers say nothing: %j",
    async (headers) => {
      expect(await recipientsOf(headers)).toEqual([['to', 'desk@gym.example']]);
    },
  );
});
