import type { CountryCode } from 'libphonenumber-js/max';
import { readEmail } from './email.ts';
import { splitName } from './name.ts';
import { readPhone } from './phone.ts';
import { isContact, isName, type PlacedPair } from './sections.ts';

const things = '(?:leads|inquiries|enquiries|bookings|requests|customers|prospects|messages)';
const surely = new RegExp(
  `\\bdigest\\b|\\b(?:daily|weekly|monthly|morning|evening)\\b.*\\b(?:summary|recap|report|round-?up)\\b|\\b(?:[2-9]|[1-9]\\d+) (?:new |recent )?${things}\\b`,
  'i',
);
const perhaps = new RegExp(
  `\\b(?:here are|list of|your|new|today'?s|recent) (?:the |your |new )?${things}\\b`,
  'i',
);

/**
 * Whether subject or opening lines announce several people: by a count or the word digest, or by a plural where
 * the text names two contacts. Then no field is safe, since people may stand there without any label.
 */
export function announcesSeveral(announcements: readonly string[], lines: readonly string[]): boolean {
  if (announcements.some((text) => surely.test(text))) return true;
  if (!announcements.some((text) => perhaps.test(text))) return false;
  const phone = /\(?\d{3}\)?[ .-]?\d{3}[ .-]\d{4}/;
  const contacts = lines.slice(0, 500).map((line) => readEmail(line) ?? phone.exec(line.slice(0, 300))?.[0]);
  return new Set(contacts.filter(Boolean)).size > 1;
}

/**
 * The pairs of the one person whom they speak of; `undefined` where they speak of several: a label (of a name,
 * e-mail or, in separate blocks, a phone) appears again with another value. A child's names don't count: siblings
 * are booked together. What comes again is nobody else, and is left out, where it is
 * - contacts without a name, after a person with a name: a second number, a message's words, the studio's footer;
 * - names without a contact, after a message has begun: its words.
 *
 * Not where the only phone would be left out: then it may be the form's.
 */
export function pairsOfOnePerson(
  pairs: readonly PlacedPair[],
  country: CountryCode,
): readonly PlacedPair[] | undefined {
  const repeats = findRepeats(pairs);
  const [first] = repeats;
  if (!first) return pairs;
  if (repeatsMessage(pairs)) return undefined;
  const isOnePerson = repeats.every(({ pair }) => isContact(pair))
    ? areNamelessContacts(pairs, repeats)
    : areWordsOfMessage(pairs, first);
  const hasPhone = (part: readonly PlacedPair[]) =>
    part.some(({ label, value }) => label?.kind === 'phone' && readPhone(value, country));
  const start = blockStart(pairs, first);
  const kept = pairs.filter((pair, at) => at < start || !(isContact(pair) || isName(pair)));
  return isOnePerson && hasPhone(kept) === hasPhone(pairs) ? kept : undefined;
}

/** A pair whose label stood before with another value. */
interface Repeat {
  pair: PlacedPair;
  /** Its place in the list, and that of the first pair of its label. */
  at: number;
  first: number;
}

/** More different values of one label need not be told apart. */
const maxValues = 20;

function findRepeats(pairs: readonly PlacedPair[]): Repeat[] {
  const known = new Map<string, { first: number; lastLine: number; values: string[] }>();
  return pairs.flatMap((pair, at): Repeat[] => {
    const value = identityOf(pair);
    if (!value) return [];
    const before = known.get(pair.key);
    if (!before) {
      known.set(pair.key, { first: at, lastLine: pair.line, values: [value] });
      return [];
    }
    // Two numbers on neighbouring lines are one person's home and mobile phone.
    const isNeighbour = pair.label?.kind === 'phone' && pair.line - before.lastLine <= 1;
    before.lastLine = pair.line;
    if (isNeighbour) return [];
    const isOther = before.values.some((other) => differ(pair, value, other));
    if (before.values.length < maxValues) before.values.push(value);
    return isOther ? [{ pair, at, first: before.first }] : [];
  });
}

/** What tells one person from another, of labels that can; of a phone its last ten digits. */
function identityOf({ label, value }: PlacedPair): string | undefined {
  if (!label || label.dependant || value === '') return undefined;
  switch (label.kind) {
    case 'fullName':
    case 'firstName': {
      const { firstName = '', lastName = '' } = splitName(value);
      return `${firstName} ${lastName}`.trim().toLowerCase();
    }
    case 'email':
      return readEmail(value);
    case 'phone': {
      const digits = value.replace(/\D/g, '').slice(-10);
      return digits.length > 6 ? digits : undefined;
    }
    default:
      return undefined;
  }
}

/** `Ana` and `Ana Lopez` are one person. */
function differ(pair: PlacedPair, one: string, other: string): boolean {
  return isName(pair) ? !one.startsWith(other) && !other.startsWith(one) : one !== other;
}

/** Where the lines begin that stand together with a repeat; the repeat itself if the first of its label is among them. */
function blockStart(pairs: readonly PlacedPair[], { at, first }: Repeat): number {
  const lineOf = (index: number) => pairs[index]?.line ?? 0;
  let start = at;
  while (start > first && lineOf(start) - lineOf(start - 1) <= 1) start -= 1;
  return start > first ? start : at;
}

/** Records that repeat their message field are records. */
function repeatsMessage(pairs: readonly PlacedPair[]): boolean {
  const keys = pairs.flatMap(({ label, key }) => (label?.kind === 'message' ? [key] : []));
  return new Set(keys).size < keys.length;
}

/** Somebody is named, outside of any message, before the first contact that comes again, and nobody after it. */
function areNamelessContacts(pairs: readonly PlacedPair[], repeats: readonly Repeat[]): boolean {
  const first = Math.min(...repeats.map((repeat) => repeat.first));
  const before = pairs.slice(0, first);
  return (
    before.some((pair) => isName(pair) && pair.value !== '') &&
    !before.some(({ label }) => label?.kind === 'message') &&
    !pairs.slice(first).some((pair) => isName(pair) && pair.label?.kind !== 'lastName')
  );
}

/** A message stands between the contact of the person and the other name, and no contact comes after that. */
function areWordsOfMessage(pairs: readonly PlacedPair[], { at, first }: Repeat): boolean {
  const message = pairs.findIndex(({ label }, index) => index > first && label?.kind === 'message');
  const hasContact = (part: readonly PlacedPair[]) =>
    part.some((pair) => isContact(pair) && pair.value !== '');
  return (
    message !== -1 && message < at && hasContact(pairs.slice(0, message)) && !hasContact(pairs.slice(message))
  );
}
