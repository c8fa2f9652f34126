import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanLine, cleanText, cutText } from '../../src/mail/clean-text.ts';

describe('cleanText', () => {
  it.each([
    ['An\0a', 'Ana'],
    ['a\r\nb\rc\u2028d\u0085e', 'a\nb\nc\nd\ne'],
    ['tab\tstays', 'tab\tstays'],
    ['\u001b[31mred\u0007', '[31mred'],
    ['\ufeffana\u200b@x.example\u202c', 'ana@x.example'],
    ['José 李 🌸 👩‍👧', 'José 李 🌸 👩‍👧'],
    ['\ud800x', '\ufffdx'],
  ])('%j', (text, cleaned) => {
    expect(cleanText(text)).toBe(cleaned);
  });

  it('leaves nothing that Postgres refuses, and changes nothing twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const once = cleanText(text);
        expect(once.isWellFormed()).toBe(true);
        expect(once.includes('\0')).toBe(false);
        expect(cleanText(once)).toBe(once);
        expect(cleanLine(text)).not.toMatch(/[\r\n\t]/);
      }),
    );
  });

  it('cuts without half a character', () => {
    expect(cutText('ab🌸', 3).isWellFormed()).toBe(true);
    expect(cutText('abc', 3)).toBe('abc');
  });
});
