import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parseQuietHours, type QuietHours } from '../../src/contacts/contact-hours.ts';
import { computeDueAt } from '../../src/contacts/due-at.ts';
import { dueByWalking, wallMinute } from './due-at-reference.ts';

const slaMinutes = 5;
const newYork = 'America/New_York';

const zones = [
  'UTC',
  newYork,
  'America/Los_Angeles',
  'America/St_Johns', // changed its clocks at 00:01
  'America/Santiago', // at midnight
  'Africa/Cairo', // at midnight
  'Africa/Casablanca', // an hour back for Ramadan
  'Antarctica/Troll', // by two hours
  'Asia/Kathmandu', // +05:45
  'Australia/Lord_Howe', // by half an hour
  'Europe/Dublin', // negative daylight saving time in winter
  'Pacific/Apia', // had no 30 December 2011
  'Pacific/Chatham', // +12:45
  'Pacific/Kiritimati', // had no 31 December 1994 (on its eastern islands)
  'Pacific/Pago_Pago', // Samoa, no daylight saving time
];

/** Any instant of 1990..2037, half of them around a change of the zone's clocks. */
const zonedInstant = fc
  .record({
    timeZone: fc.constantFrom(...zones),
    anyTime: fc.date({ min: new Date('1990-01-01'), max: new Date('2037-01-01'), noInvalidDate: true }),
    nearChange: fc.boolean(),
    offsetMs: fc.integer({ min: -36 * 3_600_000, max: 12 * 3_600_000 }),
  })
  .map(({ timeZone, anyTime, nearChange, offsetMs }) => {
    const change = Temporal.Instant.fromEpochMilliseconds(anyTime.getTime())
      .toZonedDateTimeISO(timeZone)
      .getTimeZoneTransition('next');
    const now = nearChange && change ? new Date(change.epochMilliseconds + offsetMs) : anyTime;
    return { timeZone, now };
  });

const clockTime = fc
  .oneof(fc.integer({ min: 0, max: 1439 }), fc.integer({ min: 0, max: 240 }))
  .map((minute) => new Date(minute * 60_000).toISOString().slice(11, 16));
const quietWindow: fc.Arbitrary<QuietHours> = fc.oneof(
  fc.constant(parseQuietHours('21:00-08:00')),
  fc.record({ start: clockTime, end: clockTime }).filter(({ start, end }) => start !== end),
);

const due = (now: string, quiet: string, timeZone = newYork) =>
  computeDueAt('high', new Date(now), { slaMinutes, timeZone, quietHours: parseQuietHours(quiet) });

describe('computeDueAt', () => {
  it.each([
    ['in the middle of the day', '2026-06-10T12:00:00-04:00', '2026-06-10T12:05:00-04:00'],
    ['20:57 has three minutes left', '2026-06-10T20:57:00-04:00', '2026-06-11T08:02:00-04:00'],
    ['20:55 ends where quiet begins', '2026-06-10T20:55:00-04:00', '2026-06-11T08:00:00-04:00'],
    ['a millisecond before 20:55', '2026-06-10T20:54:59.999-04:00', '2026-06-10T20:59:59.999-04:00'],
    ['quiet begins at its start', '2026-06-10T21:00:00-04:00', '2026-06-11T08:05:00-04:00'],
    ['inside quiet, before midnight', '2026-06-10T23:30:00-04:00', '2026-06-11T08:05:00-04:00'],
    ['inside quiet, after midnight', '2026-06-11T03:00:00-04:00', '2026-06-11T08:05:00-04:00'],
    ['quiet is over at its end', '2026-06-11T08:00:00-04:00', '2026-06-11T08:05:00-04:00'],
  ])('21:00-08:00, %s', (_, now, expected) => {
    expect(due(now, '21:00-08:00')).toEqual(new Date(expected));
  });

  it('pauses over a window inside the day', () => {
    expect(due('2026-06-10T11:58:00-04:00', '12:00-13:30')).toEqual(new Date('2026-06-10T13:33:00-04:00'));
  });

  it('adds minutes on the instant line, across a jump of the clock', () => {
    expect(due('2026-03-08T01:58:00-05:00', '21:00-22:00')).toEqual(new Date('2026-03-08T03:03:00-04:00'));
  });

  it('counts a night with a change of the clock by its real length', () => {
    expect(due('2026-03-07T20:57:00-05:00', '21:00-08:00')).toEqual(new Date('2026-03-08T08:02:00-04:00'));
    expect(due('2026-10-31T20:57:00-04:00', '21:00-08:00')).toEqual(new Date('2026-11-01T08:02:00-05:00'));
  });

  it('moves an edge that the clock jumps over forward to the jump', () => {
    // 02:30 doesn't exist on this night: after 01:59 comes 03:00.
    expect(due('2026-03-08T01:00:00-05:00', '21:00-02:30')).toEqual(new Date('2026-03-08T03:05:00-04:00'));
    expect(due('2026-03-08T01:57:00-05:00', '02:30-08:00')).toEqual(new Date('2026-03-08T08:02:00-04:00'));
  });

  it('ends quiet at the later of two instants that show the same time', () => {
    // 01:40 is shown twice on this night, first in daylight saving time (-04:00).
    expect(due('2026-11-01T01:40:00-04:00', '21:00-01:30')).toEqual(new Date('2026-11-01T01:35:00-05:00'));
  });

  it('knows a zone that skipped a day', () => {
    expect(due('2011-12-29T20:57:00-10:00', '21:00-08:00', 'Pacific/Apia')).toEqual(
      new Date('2011-12-31T08:02:00+14:00'),
    );
  });

  it('is what a walk over the wall clock finds, minute by minute', () => {
    fc.assert(
      fc.property(zonedInstant, quietWindow, ({ timeZone, now }, quietHours) => {
        const expected = dueByWalking(now, slaMinutes, timeZone, quietHours);
        expect(computeDueAt('high', now, { slaMinutes, timeZone, quietHours })).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it('is at least five minutes away and never inside quiet', () => {
    fc.assert(
      fc.property(zonedInstant, quietWindow, ({ timeZone, now }, quietHours) => {
        const at = computeDueAt('high', now, { slaMinutes, timeZone, quietHours }).getTime();
        expect(at).toBeGreaterThanOrEqual(now.getTime() + slaMinutes * 60_000);
        const minute = wallMinute(timeZone, Math.floor(at / 60_000)) % 1440;
        const shown = new Date(minute * 60_000).toISOString().slice(11, 16);
        const { start, end } = quietHours;
        const isQuiet = start < end ? start <= shown && shown < end : shown >= start || shown < end;
        expect(isQuiet, `${shown} in ${start}-${end}`).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  it('never makes a later lead due earlier', () => {
    const laterBy = fc.oneof(fc.integer({ min: 0, max: 600_000 }), fc.integer({ min: 0, max: 90_000_000 }));
    fc.assert(
      fc.property(zonedInstant, quietWindow, laterBy, ({ timeZone, now }, quietHours, ms) => {
        const options = { slaMinutes, timeZone, quietHours };
        const later = computeDueAt('high', new Date(now.getTime() + ms), options);
        expect(later.getTime()).toBeGreaterThanOrEqual(computeDueAt('high', now, options).getTime());
      }),
      { numRuns: 2000 },
    );
  });
});

describe('computeDueAt elsewhere', () => {
  const cases = fc
    .sample(fc.tuple(zonedInstant, quietWindow), { numRuns: 300, seed: 20261103 })
    .map(([{ timeZone, now }, quietHours]) => ({ now: now.toISOString(), timeZone, quietHours }));
  const answers = () =>
    cases.map(({ now, timeZone, quietHours }) =>
      computeDueAt('high', new Date(now), { slaMinutes, timeZone, quietHours }).toISOString(),
    );

  afterEach(() => void vi.useRealTimers());

  const script = `
    import { readFileSync } from 'node:fs';
    import { computeDueAt } from './src/contacts/due-at.ts';
    const answers = JSON.parse(readFileSync(0, 'utf8')).map(({ now, timeZone, quietHours }) =>
      computeDueAt('high', new Date(now), { slaMinutes: ${slaMinutes}, timeZone, quietHours }).toISOString());
    console.log(JSON.stringify({ hostOffset: new Date('2026-01-15T12:00:00Z').getTimezoneOffset(), answers }));
  `;

  // The offset proves that the child really lives in that zone.
  it.each([
    ['UTC', 0],
    [newYork, 300],
    ['Pacific/Auckland', -780],
  ])('gives the same answers on a host in %s', (TZ, hostOffset) => {
    const output = execFileSync(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '--eval', script],
      { cwd: new URL('../..', import.meta.url), env: { ...process.env, TZ }, input: JSON.stringify(cases) },
    );
    expect(JSON.parse(output.toString())).toEqual({ hostOffset, answers: answers() });
  });

  it.each(['2026-01-15T12:00:00Z', '2026-07-15T12:00:00Z', '2028-02-29T23:59:59Z', '2026-11-01T05:30:00Z'])(
    'gives the same answers when today is %s',
    (today) => {
      const expected = answers();
      vi.useFakeTimers({ now: new Date(today), toFake: ['Date'] });
      expect(answers()).toEqual(expected);
    },
  );
});
