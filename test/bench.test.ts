import { describe, expect, it } from 'vitest';
import { benchMail } from '../bench/mails.ts';
import { median, ratio } from '../bench/report.ts';
import { parseMail } from '../src/mail/parse.ts';

describe('bench', () => {
  it('measures mails that the parser reads: eight leads, a newsletter, an automatic answer', async () => {
    const parsed = await Promise.all(Array.from({ length: 20 }, (_, index) => parseMail(benchMail(index))));
    const ten = [...Array.from({ length: 8 }, () => 'lead'), 'quarantined', 'skipped'];
    expect(parsed.map(({ outcome }) => outcome)).toEqual([...ten, ...ten]);
    const leads = parsed.filter(({ outcome }) => outcome === 'lead').map(({ fields }) => fields);
    expect(leads.every(({ firstName, email, phone }) => firstName && email && phone)).toBe(true);
    expect(new Set(leads.map(({ phone }) => phone)).size).toBe(16);
    expect(new Set(parsed.map(({ mailKey }) => mailKey)).size).toBe(20);
  });

  it('compares what was measured under the same load', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 1, 3, 100])).toBe(3.5);
    // The medians alone would say 20 / 10; round by round it is three times as much in two of three.
    expect(ratio([30, 20, 6], [10, 20, 2])).toBe('3.00×');
  });
});
