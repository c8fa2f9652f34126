import { readEmail } from './email.ts';
import { splitName } from './name.ts';
import type { PlacedPair } from './sections.ts';

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
