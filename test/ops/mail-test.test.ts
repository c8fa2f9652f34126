import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseMail } from '../../src/mail/parse.ts';
import { riversideStore } from '../support/leads.ts';
import { ana, type MailParts, mailSource } from '../support/mails.ts';
import { operate, operateJson } from './operator-stage.ts';

let folder: string;
let stores: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'callytics-ops-'));
  stores = join(folder, 'stores.json');
  writeFileSync(stores, JSON.stringify([riversideStore]));
});
afterAll(() => rmSync(folder, { recursive: true }));

function mailFile(parts: MailParts = {}): { file: string; source: Buffer } {
  const file = join(folder, 'mail.eml');
  const source = mailSource(parts);
  writeFileSync(file, source);
  const arrival = new Date('2026-11-03T14:15:00Z');
  utimesSync(file, arrival, arrival);
  return { file, source };
}

describe('mail test', () => {
  it('shows fields, store, lead id, outcome and the key that the poller would compute', async () => {
    const { file, source } = mailFile();
    const { code, printed } = await operateJson('mail', 'test', file, '--stores', stores);
    expect(code).toBe(0);
    expect(printed.mails).toMatchObject([
      {
        file,
        mailKey: (await parseMail(source)).mailKey,
        outcome: 'lead',
        receivedAt: '2026-11-03T14:15:00.000Z',
        fields: ana,
        store: {
          storeId: riversideStore.storeId,
          franchise: 'orangeTheory-0412',
          recipient: 'lead-tracking+otf0412@leads.example',
          ambiguous: false,
        },
        lead: {
          id: 'ana@x.example#+12125550147#2026-11-03',
          storeId: riversideStore.storeId,
          parseStatus: 'parsed',
        },
        missing: [],
      },
    ]);
  });

  it.each<[string, MailParts, string, string]>([
    ['an automatic answer', { headers: { 'Auto-Submitted': 'auto-replied' } }, 'skipped', 'auto_reply'],
    ['a text that no format knows', { text: 'hello', headers: { Subject: 'hi' } }, 'quarantined', 'unparsed'],
    [
      'a cancelled booking',
      { headers: { Subject: 'Booking cancelled - Ana Lopez' } },
      'cancellation',
      'booking_cancelled',
    ],
  ])('says why %s is no lead', async (_, parts, outcome, reason) => {
    const { file } = mailFile(parts);
    const { out } = await operate(['mail', 'test', file, '--stores', stores]);
    expect(out).toMatch(new RegExp(`^  outcome {4}${outcome} \\(${reason}\\): \\w`, 'm'));
    expect(out).not.toMatch(/^ {2}event/m);
  });

  it('says which fields keep the event back, and that no store has the address', async () => {
    const { file } = mailFile({ headers: { To: 'lead-tracking+NOBODY@leads.example' } });
    const { code, out } = await operate(['mail', 'test', file, '--stores', stores]);
    expect(code).toBe(0);
    expect(out).toContain('store      none has any of these addresses');
    expect(out).toContain('event      none: the lead lacks franchiseId, accountId, storeId');
  });

  it('without stores the store is not looked up, which is no miss', async () => {
    const { file } = mailFile();
    const { printed } = await operateJson('mail', 'test', file);
    expect(printed.mails[0]).not.toHaveProperty('store');
    const { out } = await operate(['mail', 'test', file]);
    expect(out).toContain('store      not looked up (--stores or --stage)');
    expect(out).toContain('event      depends on the store');
  });

  it('refuses a stores file that is none, and names an item that is none', async () => {
    const { file } = mailFile();
    const wrong = join(folder, 'wrong.json');
    writeFileSync(wrong, '{}');
    const { code, out, err } = await operate(['mail', 'test', file, '--stores', wrong]);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('a JSON array of StoresV2 items is expected');
    writeFileSync(wrong, JSON.stringify([{ ...riversideStore, leadEmail: undefined }]));
    expect((await operate(['mail', 'test', file, '--stores', wrong])).err).toContain('fields=leadEmail');
    expect((await operate(['mail', 'test', file, '--stores', stores, '--stage', 'test'])).code).toBe(2);
  });
});
