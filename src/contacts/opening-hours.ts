import { Temporal } from 'temporal-polyfill';
import { type ContactHours, resolveContactHours, type StoreContactHours } from './contact-hours.ts';

/** Where a store says nothing itself. */
const defaults: ContactHours = {
  timeZone: 'America/New_York',
  quietHours: { start: '21:00', end: '08:00' },
};

/** Is the store open at `now`: outside its quiet window [start, end), by its own clock? */
export function isOpen(store: StoreContactHours, now: Date): boolean {
  const { timeZone, quietHours } = resolveContactHours(store, defaults).hours;
  const local = Temporal.Instant.fromEpochMilliseconds(now.getTime())
    .toZonedDateTimeISO(timeZone)
    .toPlainTime();
  const time = local.toString({ smallestUnit: 'minute' });
  const { start, end } = quietHours;
  const isQuiet = start < end ? time >= start && time < end : time >= start || time < end;
  return !isQuiet;
}
