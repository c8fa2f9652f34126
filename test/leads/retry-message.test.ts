import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildRetryMessage, type RetryMessage, retryMessageSchema } from '../../src/leads/retry-message.ts';
import { aLead, aLedgerMail } from '../support/leads.ts';

const limitBytes = 900 * 1024;

const mail = aLedgerMail({ parsed: { format: 'labelled-text', firstName: 'Ana' } });
const lead = aLead();

const base = { stage: 'neon' as const, failedAt: new Date('2026-11-03T14:20:00.000Z'), error: '53300' };

const bytes = (message: RetryMessage) => Buffer.byteLength(JSON.stringify(message));
const overTheWire = (message: RetryMessage) => retryMessageSchema.parse(JSON.parse(JSON.stringify(message)));

describe('buildRetryMessage', () => {
  it('carries mail and lead unchanged over the wire', () => {
    const message = overTheWire(buildRetryMessage({ ...base, lead, mail }));
    expect(message).toEqual({ version: 1, ...base, lead, mail });
  });

  it('carries a mail without a lead', () => {
    const quarantined = aLedgerMail({ outcome: 'quarantined', reason: 'no_contact' });
    const message = overTheWire(buildRetryMessage({ ...base, lead: null, mail: quarantined }));
    expect(message.lead).toBeNull();
    expect(message.mail).toEqual(quarantined);
  });

  it.each(['53300', 'ECONNRESET', 'breaker_open', 'NeonDbError'])('keeps the error code %s', (error) => {
    expect(buildRetryMessage({ ...base, error, lead, mail }).error).toBe(error);
  });

  it.each(['Key (email)=(ana@x.example) already exists.', 'fetch failed', ''])(
    'never carries an error message: %s',
    (error) => {
      const message = buildRetryMessage({ ...base, error, lead, mail });
      expect(message.error).toBe('unknown');
      expect(retryMessageSchema.safeParse({ ...JSON.parse(JSON.stringify(message)), error }).success).toBe(
        false,
      );
    },
  );

  it('leaves a body that fits alone, at the byte', () => {
    const room = limitBytes - 1 - bytes(buildRetryMessage({ ...base, lead: { ...lead, rawBody: '' }, mail }));
    const fitting = buildRetryMessage({ ...base, lead: { ...lead, rawBody: 'x'.repeat(room) }, mail });
    expect(fitting.lead?.rawBodyTruncated).toBe(false);
    expect(bytes(fitting)).toBe(limitBytes - 1);

    const cut = buildRetryMessage({ ...base, lead: { ...lead, rawBody: 'x'.repeat(room + 1) }, mail });
    expect(cut.lead?.rawBodyTruncated).toBe(true);
    expect(bytes(cut)).toBeLessThan(limitBytes);
  });

  it('cuts between characters, however wide they are and however JSON writes them', () => {
    const characters = fc.constantFrom('a', '\n', '\u0001', '"', 'é', '漢', '😀');
    const body = fc
      .tuple(
        fc.array(characters, { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 200_000, max: 400_000 }),
      )
      .map(([part, length]) => part.join('').repeat(Math.ceil(length / part.length)));
    fc.assert(
      fc.property(body, (rawBody) => {
        const message = buildRetryMessage({ ...base, lead: { ...lead, rawBody }, mail });
        expect(bytes(message)).toBeLessThan(limitBytes);
        const carried = overTheWire(message).lead;
        expect(rawBody.startsWith(carried?.rawBody ?? '?')).toBe(true);
        expect(carried?.rawBody).not.toMatch(/\p{Surrogate}/u);
        expect(carried?.rawBodyTruncated).toBe(carried?.rawBody !== rawBody);
        expect({ ...carried, rawBody: '', rawBodyTruncated: false }).toEqual({ ...lead, rawBody: '' });
      }),
      { numRuns: 25 },
    );
  });

  it('stays under the limit whatever else is large, and keeps what identifies the lead', () => {
    const large = fc.integer({ min: 0, max: 600_000 }).map((length) => '漢'.repeat(length));
    fc.assert(
      fc.property(large, large, large, fc.boolean(), (parsedText, subject, rawBody, withLead) => {
        const message = buildRetryMessage({
          ...base,
          lead: withLead ? { ...lead, emailSubject: subject, rawBody } : null,
          mail: { ...mail, parsed: { ...mail.parsed, parsedText, rows: Array(5).fill(parsedText) } },
        });
        expect(bytes(message)).toBeLessThan(limitBytes);
        const carried = overTheWire(message);
        expect(carried.mail).toMatchObject({ ...mail, parsed: mail.parsed });
        if (withLead) {
          const { id, phone, storeId, firstName, leadType } = lead;
          expect(carried.lead).toMatchObject({ id, phone, storeId, firstName, leadType });
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe('retryMessageSchema', () => {
  it.each([
    ['version', { version: 2 }],
    ['stage', { stage: 'mirror' }],
    ['failedAt', { failedAt: 'yesterday' }],
    ['lead.storeId', { lead: { ...lead, storeId: 'none' } }],
    ['mail.mailKey', { mail: { ...mail, mailKey: 'short' } }],
  ])('names the field that is wrong: %s', (field, change) => {
    const wire = JSON.parse(JSON.stringify({ ...buildRetryMessage({ ...base, lead, mail }), ...change }));
    const result = retryMessageSchema.safeParse(wire);
    expect(result.error?.issues.map((issue) => issue.path.join('.'))).toEqual([field]);
  });
});
