import { Temporal } from 'temporal-polyfill';

/** A daily local window [start, end), each 'HH:mm'; overnight when end is before start. */
export interface QuietHours {
  start: string;
  end: string;
}

/** When a store's staff can be asked to call somebody back. */
export interface ContactHours {
  /** IANA name. */
  timeZone: string;
  quietHours: QuietHours;
}

/** A store's own settings as StoresV2 holds them: typed by hand, so nothing about them is sure. */
export interface StoreContactHours {
  timeZone?: unknown;
  quietHours?: unknown;
}

/**
 * Reads a window such as '21:00-08:00'.
 *
 * @throws RangeError for anything else, and for a window whose start is its end
 */
export function parseQuietHours(text: string): QuietHours {
  const [, start, end] = /^((?:[01]\d|2[0-3]):[0-5]\d)-((?:[01]\d|2[0-3]):[0-5]\d)$/.exec(text.trim()) ?? [];
  if (!start || !end || start === end) {
    throw new RangeError(`quiet hours are written HH:mm-HH:mm, with two different times: ${text}`);
  }
  return { start, end };
}

/**
 * Checks the name of a time zone.
 *
 * @throws RangeError for anything but an IANA name ('+05:00' too: an offset knows no daylight saving time)
 */
export function parseTimeZone(text: string): string {
  const name = text.trim();
  if (!/^[A-Za-z]/.test(name)) throw new RangeError(`a time zone is an IANA name: ${text}`);
  return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
}

/**
 * The hours that count for a store: its own settings, else the defaults. A setting that can't be read falls
 * back too, since a typing error in a table must not cost a lead its task.
 *
 * @returns the hours, and the names of the settings that couldn't be read
 */
export function resolveContactHours(
  store: StoreContactHours | undefined,
  defaults: ContactHours,
): { hours: ContactHours; invalidFields: (keyof ContactHours)[] } {
  const invalidFields: (keyof ContactHours)[] = [];

  function setting<K extends keyof ContactHours>(field: K, parse: (text: string) => ContactHours[K]) {
    const value = store?.[field];
    if (value === undefined || value === null) return defaults[field];
    try {
      return parse(String(value));
    } catch {
      invalidFields.push(field);
      return defaults[field];
    }
  }

  const hours = {
    timeZone: setting('timeZone', parseTimeZone),
    quietHours: setting('quietHours', parseQuietHours),
  };
  return { hours, invalidFields };
}
