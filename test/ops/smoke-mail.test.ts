import { describe, expect, it } from 'vitest';
import { parseMail } from '../../src/mail/parse.ts';
import { buildSmokeMail } from '../../src/ops/smoke-mail.ts';

describe('the smoke test’s mail', () => {
  it.each(['+12125550100', '+12125550199'])('is a complete lead of an invented person: %s', async (phone) => {
    const { source, messageId, email } = buildSmokeMail({
      id: '0f8c',
      stage: 'test',
      to: 'lead-tracking+OTF0412@leads.example',
      phone,
      now: new Date('2026-11-03T14:15:00Z'),
    });
    expect([messageId, email]).toEqual(['<smoke-0f8c@callytics.example>', 'smoke-0f8c@callytics.example']);
    expect(await parseMail(source)).toMatchObject({
      outcome: 'lead',
      messageId,
      recipients: [{ source: 'to', trackingId: 'OTF0412' }],
      fields: { leadType: 'Web Lead', firstName: 'Smoke', lastName: 'Test', email, phone },
      rawDate: 'Tue, 03 Nov 2026 14:15:00 +0000',
    });
  });
});
