import { labelOf } from './labels.ts';

export interface PersonName {
  firstName?: string;
  lastName?: string;
}

const placeholders =
  /^(potential|new|unknown|anonymous|valued|website|web|google|yelp|angi|facebook|prospective|wireless)?\s*(customer|client|lead|user|caller|guest|visitor|prospect|contact|member|person|unknown|anonymous)$|^(n\/?a|none|null|nil|undefined|unknown|anonymous|not (provided|given|available|specified|supplied)|no name|(first|last|full)?\s*name|value|empty|\(empty\)|tbd|tba|yes|no|true|false|test|-+|\.+|\?+)$/i;
const titles = /^(mr|mrs|ms|miss|mx|dr|prof)\.?\s+(?=\S)/i;
const suffixes = /^(jr|sr|ii|iii|iv|md|phd|esq)\.?$/i;

/** Whether a form puts this where nobody gave a value. */
export function isPlaceholder(value: string): boolean {
  return placeholders.test(
    value
      .trim()
      .replace(/^[[({<*]+|[\])}>*]+$/g, '')
      .trim(),
  );
}

/** One part of a name, cleaned; `undefined` for a placeholder, another field's label, or what can't be a name. */
export function readNamePart(value: string): string | undefined {
  const name = value
    .replace(/<[^<>]*>|\([^()]*\)|\[[^[\]]*\]/g, ' ')
    .replace(/&(amp|quot|apos|#0?39|nbsp);/g, (_, entity: string) => entities[entity] ?? ' ')
    .replace(/\s+/g, ' ')
    .replace(/^["'“”*_\s,;:/|-]+|["“”*_\s,;:/|-]+$/g, '');
  if (name === '' || name.length > 80 || name.split(' ').length > 7) return undefined;
  if (!/\p{L}/u.test(name) || /[@?\d{}<>=\\]|:\/\/|: /.test(name)) return undefined;
  return isPlaceholder(name) || labelOf(name) ? undefined : name;
}

const entities: Record<string, string> = { amp: '&', quot: '"', apos: "'", '#39': "'", '#039': "'" };

/** `Ana Lopez`, `Lopez, Ana`, `Dr. Ana Lopez`: the first word is the first name, the rest the last name. */
export function splitName(value: string): PersonName {
  const name = readNamePart(value)?.replace(titles, '');
  if (name === undefined) return {};
  const [before = '', after = '', ...more] = name.split(',').map((part) => part.trim());
  if (after !== '' && more.length === 0 && before !== '' && !suffixes.test(after)) {
    return partsOf(after.replace(titles, ''), before);
  }
  const [first = '', ...rest] = name.replace(/,/g, '').split(' ').filter(Boolean);
  return partsOf(first, rest.join(' '));
}

function partsOf(first: string, last: string): PersonName {
  const firstName = readNamePart(first);
  const lastName = readNamePart(last);
  return { ...(firstName && { firstName }), ...(lastName && { lastName }) };
}
