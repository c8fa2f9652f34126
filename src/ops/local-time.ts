import { Temporal } from 'temporal-polyfill';

/** `2026-11-03 09:15 America/New_York` */
export function localTime(instant: Date, timeZone: string): string {
  const local = Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(timeZone);
  return `${local.toPlainDate()} ${local.toPlainTime().toString({ smallestUnit: 'minute' })} ${timeZone}`;
}
