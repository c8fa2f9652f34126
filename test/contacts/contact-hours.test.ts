import { describe, expect, it } from 'vitest';
import {
  type ContactHours,
  parseQuietHours,
  parseTimeZone,
  resolveContactHours,
} from '../../src/contacts/contact-hours.ts';

const defaults: ContactHours = {
  timeZone: 'America/New_York',
  quietHours: { start: '21:00', end: '08:00' },
};

describe('parseQuietHours', () => {
  it('reads a window', () => {
    expect(parseQuietHours('21:00-08:00')).toEqual({ start: '21:00', end: '08:00' });
    expect(parseQuietHours(' 12:30-13:00 ')).toEqual({ start: '12:30', end: '13:00' });
  });

  it.each(['21:00-21:00', '21-08', '21:00', '24:00-08:00', '21:60-08:00', '9pm-8am', ''])(
    'rejects %s',
    (text) => {
      expect(() => parseQuietHours(text)).toThrow(RangeError);
    },
  );
});

describe('parseTimeZone', () => {
  it.each(['America/New_York', 'Australia/Lord_Howe', 'UTC'])('takes %s', (name) => {
    expect(parseTimeZone(name)).toBe(name);
  });

  it.each(['Mars/Olympus', '+05:00', '2026-01-01T00:00[America/New_York]', 'EST in summer', ''])(
    'rejects %s',
    (name) => {
      expect(() => parseTimeZone(name)).toThrow(RangeError);
    },
  );
});

describe('resolveContactHours', () => {
  it('takes the defaults for a store without settings, and without a store', () => {
    expect(resolveContactHours({}, defaults)).toEqual({ hours: defaults, invalidFields: [] });
    expect(resolveContactHours(undefined, defaults)).toEqual({ hours: defaults, invalidFields: [] });
  });

  it("lets the store's own settings win, one by one", () => {
    expect(resolveContactHours({ timeZone: 'America/Chicago' }, defaults)).toEqual({
      hours: { ...defaults, timeZone: 'America/Chicago' },
      invalidFields: [],
    });
    expect(resolveContactHours({ quietHours: '20:00-09:30' }, defaults)).toEqual({
      hours: { ...defaults, quietHours: { start: '20:00', end: '09:30' } },
      invalidFields: [],
    });
  });

  it('falls back for an invalid setting alone, and names it', () => {
    expect(resolveContactHours({ timeZone: 'EST5', quietHours: '20:00-09:30' }, defaults)).toEqual({
      hours: { ...defaults, quietHours: { start: '20:00', end: '09:30' } },
      invalidFields: ['timeZone'],
    });
    expect(resolveContactHours({ timeZone: '', quietHours: '21:00-21:00' }, defaults)).toEqual({
      hours: defaults,
      invalidFields: ['timeZone', 'quietHours'],
    });
  });

  it.each([7, true, { start: '21:00' }, ['21:00', '08:00']])(
    'never throws for a value of another kind: %j',
    (value) => {
      expect(resolveContactHours({ timeZone: value, quietHours: value }, defaults)).toEqual({
        hours: defaults,
        invalidFields: ['timeZone', 'quietHours'],
      });
    },
  );
});
