import { expect, it } from 'vitest';
import { isOpen } from '../../src/contacts/opening-hours.ts';

it.each([
  ['2026-11-03T13:00:00Z', {}, true],
  ['2026-11-03T12:59:59Z', {}, false],
  ['2026-11-04T01:59:59Z', {}, true],
  ['2026-11-04T02:00:00Z', {}, false],
  ['2026-11-03T13:00:00Z', { timeZone: 'America/Los_Angeles' }, false],
  ['2026-11-03T13:00:00Z', { quietHours: '08:00-09:00' }, false],
  ['2026-11-03T14:00:00Z', { quietHours: '08:00-09:00' }, true],
  ['2026-11-03T13:00:00Z', { timeZone: 'Mars/Olympus', quietHours: 'never' }, true],
])('at %s with %j a store is open: %s', (now, store, open) => {
  expect(isOpen(store, new Date(now))).toBe(open);
});
