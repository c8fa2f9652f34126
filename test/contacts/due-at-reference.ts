import type { QuietHours } from '../../src/contacts/contact-hours.ts';

const minuteMs = 60_000;
const dayMinutes = 24 * 60;
const formats = new Map<string, Intl.DateTimeFormat>();

/** What a clock on the store's wall shows, as minutes since 1970-01-01 00:00 of that wall. */
export function wallMinute(timeZone: string, epochMinute: number): number {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    });
    formats.set(timeZone, format);
  }
  const part: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(epochMinute * minuteMs)) part[type] = Number(value);
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute) / minuteMs;
}

/** The wall clock of `count` minutes, asking once an hour where the clock ran on evenly. */
function wallClock(timeZone: string, first: number, count: number): number[] {
  const walls: number[] = [];
  for (let hour = first; hour < first + count; hour += 60) {
    const start = wallMinute(timeZone, hour);
    const even = wallMinute(timeZone, hour + 60) === start + 60;
    for (let minute = 0; minute < 60; minute += 1) {
      walls.push(even ? start + minute : wallMinute(timeZone, hour + minute));
    }
  }
  return walls;
}

const minuteOfDay = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/**
 * The due time, found by looking at the wall clock of every minute of twelve days: marks the minutes of each
 * quiet window, then counts the others. Shares nothing with the code under test, Temporal included.
 */
export function dueByWalking(
  now: Date,
  slaMinutes: number,
  timeZone: string,
  { start, end }: QuietHours,
): Date {
  const first = Math.floor(now.getTime() / minuteMs) - 2 * dayMinutes;
  const walls = wallClock(timeZone, first, 14 * dayMinutes);
  const quiet = new Set<number>();

  const firstDay = Math.floor((walls[0] ?? 0) / dayMinutes);
  for (let day = firstDay - 1; day < firstDay + 14; day += 1) {
    const startWall = day * dayMinutes + minuteOfDay(start);
    const overnight = minuteOfDay(end) <= minuteOfDay(start);
    const endWall = (overnight ? day + 1 : day) * dayMinutes + minuteOfDay(end);
    const begins = walls.findIndex((wall) => wall >= startWall);
    const shownLast = walls.lastIndexOf(endWall);
    const ends = shownLast >= 0 ? shownLast : walls.findIndex((wall) => wall > endWall);
    for (let minute = begins; begins >= 0 && minute < ends; minute += 1) quiet.add(minute);
  }

  let remaining = slaMinutes * minuteMs;
  for (let minute = 2 * dayMinutes; minute < walls.length; minute += 1) {
    if (quiet.has(minute)) continue;
    const from = Math.max(now.getTime(), (first + minute) * minuteMs);
    const room = (first + minute + 1) * minuteMs - from;
    if (remaining < room) return new Date(from + remaining);
    remaining -= room;
  }
  throw new Error('no due time within twelve days');
}
