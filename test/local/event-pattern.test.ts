import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePattern } from '../../local/assembly/event-pattern.ts';
import type { Json } from '../../local/assembly/template.ts';

const matches = (pattern: Json, event: Json) => parsePattern(pattern, 'Stack/Rule').matches(event);

describe('event patterns', () => {
  it.each<[string, Json, Json, boolean]>([
    ['values: one of them', { source: ['a', 'b'] }, { source: 'b' }, true],
    ['values: none of them', { source: ['a', 'b'] }, { source: 'c' }, false],
    [
      'every field must match',
      { source: ['a'], 'detail-type': ['x'] },
      { source: 'a', 'detail-type': 'y' },
      false,
    ],
    ['fields that the pattern does not name are free', { source: ['a'] }, { source: 'a', other: 1 }, true],
    ['nested fields', { detail: { stage: ['prod'] } }, { detail: { stage: 'prod' } }, true],
    ['a nested field that is absent', { detail: { stage: ['prod'] } }, { detail: {} }, false],
    ['the parent is absent', { detail: { stage: ['prod'] } }, {}, false],
    ['numbers are not strings', { n: [1] }, { n: '1' }, false],
    ['true is not 1', { n: [true] }, { n: 1 }, false],
    ['null', { n: [null] }, { n: null }, true],
    ['null is not absent', { n: [null] }, {}, false],
    ['the empty string', { n: [''] }, { n: '' }, true],
    ['a list in the event: one element matches', { n: ['a'] }, { n: ['b', 'a'] }, true],
    ['a list in the event: none matches', { n: ['a'] }, { n: ['b'] }, false],
    [
      'a list of objects: one matches as a whole',
      { n: { a: [1], b: [2] } },
      { n: [{ a: 1 }, { a: 1, b: 2 }] },
      true,
    ],
    [
      'a list of objects: not put together from several',
      { n: { a: [1], b: [2] } },
      { n: [{ a: 1 }, { b: 2 }] },
      false,
    ],
    ['prefix', { s: [{ prefix: 'lead.' }] }, { s: 'lead.created' }, true],
    ['prefix: elsewhere', { s: [{ prefix: 'lead.' }] }, { s: 'a.lead.' }, false],
    ['prefix: not a string', { s: [{ prefix: '1' }] }, { s: 12 }, false],
    ['prefix, any case', { s: [{ prefix: { 'equals-ignore-case': 'LEAD' } }] }, { s: 'Lead.created' }, true],
    ['suffix', { s: [{ suffix: '.png' }] }, { s: 'a.png' }, true],
    ['suffix: elsewhere', { s: [{ suffix: '.png' }] }, { s: 'a.png.txt' }, false],
    ['equals-ignore-case', { s: [{ 'equals-ignore-case': 'Prod' }] }, { s: 'PROD' }, true],
    ['wildcard', { s: [{ wildcard: 'rec-*-done' }] }, { s: 'rec-1-2-done' }, true],
    ['wildcard: a dot is a dot', { s: [{ wildcard: 'a.b*' }] }, { s: 'axbc' }, false],
    ['anything-but', { s: [{ 'anything-but': ['a', 'b'] }] }, { s: 'c' }, true],
    ['anything-but: excluded', { s: [{ 'anything-but': 'a' }] }, { s: 'a' }, false],
    ['anything-but: absent', { s: [{ 'anything-but': 'a' }] }, {}, false],
    ['anything-but: a number', { s: [{ 'anything-but': [1] }] }, { s: 2 }, true],
    ['anything-but prefix', { s: [{ 'anything-but': { prefix: 'init' } }] }, { s: 'running' }, true],
    [
      'anything-but prefix: excluded',
      { s: [{ 'anything-but': { prefix: 'init' } }] },
      { s: 'initializing' },
      false,
    ],
    ['exists', { s: [{ exists: true }] }, { s: null }, true],
    ['exists: absent', { s: [{ exists: true }] }, {}, false],
    ['exists false: absent', { s: [{ exists: false }] }, { other: 1 }, true],
    ['exists false: there', { s: [{ exists: false }] }, { s: 0 }, false],
    ['exists works on leaves only', { s: [{ exists: true }] }, { s: { leaf: 1 } }, false],
    ['numeric range', { n: [{ numeric: ['>', 0, '<=', 5] }] }, { n: 5 }, true],
    ['numeric range: outside', { n: [{ numeric: ['>', 0, '<=', 5] }] }, { n: 0 }, false],
    ['numeric equality', { n: [{ numeric: ['=', 3.018e2] }] }, { n: 301.8 }, true],
    ['numeric: a string', { n: [{ numeric: ['=', 1] }] }, { n: '1' }, false],
    ['values and operators together', { s: ['exact', { prefix: 'pre' }] }, { s: 'prefix' }, true],
    ['$or: the second', { $or: [{ a: [1] }, { b: [{ numeric: ['>', 5] }] }] }, { a: 0, b: 6 }, true],
    ['$or: none', { $or: [{ a: [1] }, { b: [2] }] }, { a: 2, b: 1 }, false],
    ['$or beside a field', { source: ['x'], $or: [{ a: [1] }, { b: [2] }] }, { source: 'y', a: 1 }, false],
  ])('%s', (_, pattern, event, expected) => {
    expect(matches(pattern, event)).toBe(expected);
  });

  it.each<[string, Json, string]>([
    ['a value without its list', { source: 'lead-tracking' }, 'Stack/Rule.source: a list'],
    ['an empty list', { source: [] }, 'Stack/Rule.source: a list'],
    ['an empty pattern', {}, 'an empty pattern'],
    ['an unknown operator', { s: [{ regex: 'a' }] }, 'Stack/Rule.s[0]: unknown operator regex'],
    ['two operators in one', { s: [{ prefix: 'a', suffix: 'b' }] }, 'one operator is expected'],
    ['cidr', { ip: [{ cidr: '10.0.0.0/8' }] }, 'cidr is not known'],
    ['numeric without a bound', { n: [{ numeric: ['>'] }] }, 'one or two comparisons'],
    ['exists with a string', { s: [{ exists: 'true' }] }, 'exists takes true or false'],
    ['$or with one alternative', { $or: [{ a: [1] }] }, 'at least two'],
  ])('%s throws', (_, pattern, message) => {
    expect(() => matches(pattern, {})).toThrow(message);
  });
});

describe('event patterns, properties', () => {
  const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
  const event = fc.dictionary(
    fc.string({ minLength: 1 }).filter((key) => key !== '$or' && key !== '__proto__'),
    fc.oneof(leaf, fc.dictionary(fc.constantFrom('a', 'b'), leaf, { minKeys: 1 })),
    { minKeys: 1 },
  );

  /** The pattern that asks for exactly what an event holds. */
  const exactly = (value: Json): Json =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).map(([key, child]) => [key, exactly(child)]))
      : [value];

  it('an event matches the pattern of its own values, and more fields change nothing', () => {
    fc.assert(
      fc.property(event, leaf, (value, extra) => {
        const pattern = exactly(value as Json);
        expect(matches(pattern, value as Json)).toBe(true);
        expect(matches(pattern, { ...(value as object), 'one more field': extra } as Json)).toBe(true);
      }),
    );
  });

  it('adding an allowed value never takes a match away, adding a field never gives one', () => {
    fc.assert(
      fc.property(event, leaf, fc.array(leaf, { minLength: 1 }), (value, more, allowed) => {
        const field = Object.keys(value)[0] ?? '';
        const narrow = { [field]: allowed } as Json;
        const wide = { [field]: [...allowed, more] } as Json;
        const stricter = { [field]: allowed, 'not there': [{ exists: true }] } as Json;
        if (matches(narrow, value as Json)) expect(matches(wide, value as Json)).toBe(true);
        expect(matches(stricter, value as Json)).toBe(false);
      }),
    );
  });

  it('anything-but is the opposite of the values for what is there', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.integer()),
        fc.array(fc.string(), { minLength: 1 }),
        (value, excluded) => {
          const negated = matches({ s: [{ 'anything-but': excluded }] }, { s: value });
          expect(negated).toBe(!matches({ s: excluded }, { s: value }));
        },
      ),
    );
  });

  it('exists true and false are opposites on leaves', () => {
    fc.assert(
      fc.property(fc.option(leaf, { nil: undefined }), (value) => {
        const object = (value === undefined ? {} : { s: value }) as Json;
        expect(matches({ s: [{ exists: true }] }, object)).toBe(!matches({ s: [{ exists: false }] }, object));
      }),
    );
  });

  it('a numeric range is its two comparisons', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), fc.integer(), (n, low, high) => {
        const range = matches({ n: [{ numeric: ['>=', low, '<', high] }] }, { n });
        expect(range).toBe(n >= low && n < high);
      }),
    );
  });

  it('prefix and suffix are those of strings', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (before, middle, after) => {
        const text = before + middle + after;
        expect(matches({ s: [{ prefix: before }] }, { s: text })).toBe(true);
        expect(matches({ s: [{ suffix: after }] }, { s: text })).toBe(true);
        expect(matches({ s: [{ prefix: middle }] }, { s: text })).toBe(text.startsWith(middle));
      }),
    );
  });
});
