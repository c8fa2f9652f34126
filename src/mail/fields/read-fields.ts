import type { CountryCode } from 'libphonenumber-js/max';
import { cutText } from '../clean-text.ts';
import type { LeadFields } from '../parsed-mail.ts';
import { readDate, readTime } from './date-time.ts';
import { readEmail } from './email.ts';
import { isNoAnswer, isPlaceholder, type PersonName, readNamePart, splitName } from './name.ts';
import { readPhone } from './phone.ts';
import { isContact, isName, type PlacedPair } from './sections.ts';

/** Whether a format ignores `Date` and `Time` without a word that says of what (Elementor: of the submission). */
export interface FieldOptions {
  country: CountryCode;
  ignorePlainDates?: boolean;
}

/** Whether any pair has to do with a lead. */
export function tellOfLead(pairs: readonly PlacedPair[]): boolean {
  return pairs.some(({ label }) => label && leadKinds.has(label.kind));
}

/** The lead's fields from pairs that are all the lead's. */
export function fieldsFromPairs(pairs: readonly PlacedPair[], options: FieldOptions): LeadFields {
  return {
    ...readPerson(pairs),
    ...readContact(pairs, options.country),
    ...readBooking(pairs, options),
    ...readTexts(pairs),
  };
}

const leadKinds = new Set([
  'firstName',
  'lastName',
  'fullName',
  'email',
  'phone',
  'message',
  'leadType',
  'booking',
  'bookingDate',
  'bookingTime',
]);

/** The lead's pairs: doubtful ones without a better one of their kind, weak ones without any name or contact. */
export function trustedPairs(placed: readonly PlacedPair[]): PlacedPair[] {
  const isPersonal = (pair: PlacedPair) => pair.value !== '' && (isContact(pair) || isName(pair));
  const known = placed.filter(({ trust }) => trust !== 'foreign');
  const better = known.some((pair) => pair.trust === 'lead' && isPersonal(pair));
  return known.filter((pair) => {
    if (pair.trust === 'lead' || !(isContact(pair) || isName(pair))) return true;
    return pair.trust === 'weak'
      ? !better
      : !known.some((other) => other.trust === 'lead' && isSameKind(other, pair));
  });
}

function isSameKind(one: PlacedPair, other: PlacedPair): boolean {
  return one.value !== '' && one.label?.kind === other.label?.kind;
}

/** Adults before the child they book for; first and last name before one that must be split. */
function readPerson(pairs: readonly PlacedPair[]): PersonName {
  for (const dependant of [false, true]) {
    const own = pairs.filter(({ label }) => label?.dependant === dependant);
    const split = firstResult(own, 'fullName', (value) => {
      const name = splitName(value);
      return name.firstName || name.lastName ? name : undefined;
    });
    const firstName = firstResult(own, 'firstName', readNamePart) ?? split?.firstName;
    const lastName = firstResult(own, 'lastName', readNamePart) ?? split?.lastName;
    if (firstName || lastName) return { ...(firstName && { firstName }), ...(lastName && { lastName }) };
  }
  return {};
}

function readContact(pairs: readonly PlacedPair[], country: CountryCode): LeadFields {
  // `Contact: Ana Lopez <ana@x.example>` names both.
  const email = firstResult(pairs, 'email', readEmail) ?? firstResult(pairs, 'fullName', readEmail);
  const phone = firstResult(pairs, 'phone', (value) => readPhone(value, country));
  const raw = pairs.find(
    ({ label, value }) => label?.kind === 'phone' && value !== '' && !isPlaceholder(value),
  );
  return {
    ...(email && { email }),
    ...(phone && { phone: phone.number }),
    ...(phone?.extension && { phoneExtension: phone.extension }),
    ...(!phone && raw && { phoneRaw: cutText(raw.value, 200) }),
  };
}

/** What names the booking comes before a bare Date and Time. */
function readBooking(pairs: readonly PlacedPair[], { ignorePlainDates }: FieldOptions): LeadFields {
  const kinds = (...wanted: string[]) => pairs.filter(({ label }) => label && wanted.includes(label.kind));
  const plain = ignorePlainDates ? [] : kinds('plainDate', 'plainTime');
  const bookedDate = firstOf(
    [...kinds('bookingDate', 'booking'), ...kinds('bookingTime'), ...plain],
    readDate,
  );
  // A word like `Class` alone names a booking only where its value has a date.
  const timed = [
    ...kinds('bookingTime'),
    ...kinds('bookingDate', 'booking').filter(({ value }) => readDate(value)),
    ...plain,
  ];
  const bookedTime = firstOf(timed, readTime);
  // A time without a day is no booking, and beside an earlier mail's day it would be one that nobody made.
  return bookedDate ? { bookedDate, ...(bookedTime && { bookedTime }) } : {};
}

function readTexts(pairs: readonly PlacedPair[]): LeadFields {
  const text = (kind: string) =>
    firstResult(pairs, kind, (value) => (isNoAnswer(value) ? undefined : cutText(value, 200) || undefined));
  const leadType = text('leadType');
  const source = text('source');
  return { ...(leadType && { leadType }), ...(source && { source }) };
}

function firstResult<T>(
  pairs: readonly PlacedPair[],
  kind: string,
  read: (value: string) => T | undefined,
): T | undefined {
  return firstOf(
    pairs.filter(({ label }) => label?.kind === kind),
    read,
  );
}

function firstOf<T>(pairs: readonly PlacedPair[], read: (value: string) => T | undefined): T | undefined {
  for (const { value } of pairs) {
    const result = read(value);
    if (result !== undefined) return result;
  }
  return undefined;
}
