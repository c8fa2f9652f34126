import { readEmail } from './email.ts';
import { splitName } from './name.ts';
import type { PlacedPair } from './sections.ts';

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
 * Whether the pairs speak of several people: one label (of a name, e-mail or, in separate blocks, a phone)
 * appears again with another value. A child's names don't count: siblings are booked together.
 */
export function isDigest(pairs: readonly PlacedPair[]): boolean {
  const byLabel = new Map<string, PlacedPair[]>();
  for (const pair of pairs) {
    if (!pair.label || pair.label.dependant || pair.value === '') continue;
    byLabel.set(pair.key, [...(byLabel.get(pair.key) ?? []), pair]);
  }
  return [...byLabel.values()].some((group) => group.length > 1 && nameSeveral(group));
}

function nameSeveral(group: readonly PlacedPair[]): boolean {
  switch (group[0]?.label?.kind) {
    case 'fullName':
    case 'firstName':
      return differ(group.map(({ value }) => wordsOf(value)));
    case 'email':
      return new Set(group.map(({ value }) => readEmail(value)).filter(Boolean)).size > 1;
    case 'phone':
      return (
        new Set(
          blocks(group)
            .map(({ value }) => value.replace(/\D/g, '').slice(-10))
            .filter((digits) => digits.length > 6),
        ).size > 1
      );
    default:
      return false;
  }
}

/** `Ana` and `Ana Lopez` are one person. */
function differ(names: readonly string[]): boolean {
  const real = names.filter((name) => name !== '');
  return real.some((name) => real.some((other) => !name.startsWith(other) && !other.startsWith(name)));
}

function wordsOf(value: string): string {
  const { firstName = '', lastName = '' } = splitName(value);
  return `${firstName} ${lastName}`.trim().toLowerCase();
}

/** Two numbers on neighbouring lines are one person's home and mobile phone. */
function blocks(group: readonly PlacedPair[]): PlacedPair[] {
  return group.filter((pair, index) => index === 0 || pair.line - (group[index - 1]?.line ?? 0) > 1);
}
