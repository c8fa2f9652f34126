import { Temporal } from 'temporal-polyfill';
import type { QuietHours } from './contact-hours.ts';

export interface DueAtOptions {
  /** The service level: how much non-quiet time staff have. */
  slaMinutes: number;
  /** IANA name; the store's zone. */
  timeZone: string;
  quietHours: QuietHours;
}

/**
 * When a task is due: `slaMinutes` of non-quiet time after `now`. The clock stands still inside the quiet
 * window, and a due time never lies in it (20:55 + 5 min with quiet 21:00-08:00 is 08:00).
 * Depends on its arguments alone, never on the host's zone or date.
 *
 * @param _priority every task of the lead flow is 'high'; the service level comes with the options
 * @throws RangeError for a time zone that doesn't exist
 */
export function computeDueAt(
  _priority: 'high',
  now: Date,
  { slaMinutes, timeZone, quietHours }: DueAtOptions,
): Date {
  let time = now.getTime();
  let remaining = slaMinutes * 60_000;
  const today = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timeZone).toPlainDate();
  // From yesterday on: an overnight window that began there can still be open.
  for (let date = today.subtract({ days: 1 }); ; date = date.add({ days: 1 })) {
    const quiet = quietWindow(date, timeZone, quietHours);
    if (quiet.end <= time) continue;
    if (time + remaining < quiet.start) return new Date(time + remaining);
    remaining -= Math.max(0, quiet.start - time);
    time = quiet.end;
  }
}

/** The quiet window that begins on `date`, as a half-open interval in epoch milliseconds. */
function quietWindow(date: Temporal.PlainDate, timeZone: string, { start, end }: QuietHours) {
  const endDate = end <= start ? date.add({ days: 1 }) : date;
  return {
    start: edge(date.toPlainDateTime(start), timeZone, 'earlier'),
    end: edge(endDate.toPlainDateTime(end), timeZone, 'later'),
  };
}

/**
 * The instant of a wall-clock edge. Where the clock shows it twice, `occurrence` says which; where the clock
 * jumps over it, the edge moves forward to the jump: the first instant at which the wall clock is past it.
 */
function edge(wall: Temporal.PlainDateTime, timeZone: string, occurrence: 'earlier' | 'later'): number {
  const zoned = wall.toZonedDateTime(timeZone, { disambiguation: occurrence });
  if (zoned.toPlainDateTime().equals(wall)) return zoned.epochMilliseconds;
  // 'earlier' lands before the jump, by less than the jump's length.
  const jump = wall.toZonedDateTime(timeZone, { disambiguation: 'earlier' }).getTimeZoneTransition('next');
  return (jump ?? zoned).epochMilliseconds;
}
