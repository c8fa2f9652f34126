import { describe, expect, it } from 'vitest';
import type { LeadMailRow, LeadRow } from '../../src/db/schema/index.ts';
import { buildLead } from '../../src/leads/build-lead.ts';
import { parseMail } from '../../src/mail/parse.ts';
import { storedMailSource } from '../../src/ops/stored-mail.ts';
import { aLedgerMail } from '../support/leads.ts';
import { type MailParts, mailSource } from '../support/mails.ts';

const receivedAt = new Date('2026-11-03T14:15:00.000Z');

/** The rows that the database holds of a mail. */
async function rowsOf(parts: MailParts) {
  const parsed = await parseMail(mailSource(parts));
  const { mailKey, messageId } = parsed;
  const lead = buildLead(parsed, receivedAt, undefined);
  const line = aLedgerMail({ mailKey, receivedAt, parsed: { messageId } });
  return {
    lead: lead as unknown as LeadRow,
    line: line as unknown as LeadMailRow,
    parsed,
  };
}

describe('a mail made of what the database holds of it', () => {
  it.each<[string, MailParts]>([
    ['plain text', {}],
    [
      'HTML',
      {
        html: '<table><tr><td>First Name</td><td>José</td></tr><tr><td>Phone</td><td>(212) 555-0147</td></tr></table>',
      },
    ],
    [
      'a form that names its visitor in Reply-To',
      { headers: { 'Reply-To': 'ana@x.example' }, text: 'First Name: Ana\nPhone: (212) 555-0147' },
    ],
    [
      'a long subject with umlauts',
      { headers: { Subject: `=?utf-8?Q?Web_Lead_-_${'=C3=BC'.repeat(60)}?=` } },
    ],
  ])('tells the same lead: %s', async (_, parts) => {
    const { line, lead, parsed } = await rowsOf(parts);
    const again = await parseMail(storedMailSource(line, lead) ?? Buffer.of());
    const { emailSubject, ...rebuilt } = buildLead(again, receivedAt, undefined);
    expect({ ...rebuilt, emailSubject }).toEqual(lead);
    expect(again.recipients).toEqual(parsed.recipients);
  });

  it('is nothing for a repeat, whose text was never stored', async () => {
    const { line, lead } = await rowsOf({});
    const repeat = { ...line, receivedAt: new Date('2026-11-03T15:00:00.000Z') };
    expect(storedMailSource(repeat, lead)).toBeUndefined();
    expect(storedMailSource(line, null)).toBeUndefined();
  });
});
