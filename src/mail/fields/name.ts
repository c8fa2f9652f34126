import { labelOf } from './labels.ts';

export interface PersonName {
  firstName?: string;
  lastName?: string;
}

/** What a form writes where nobody answered, whatever was asked. */
const noAnswer =
  /^(unknown|tbd|tba|empty|n\/?a|none|null|nil|undefined|not (provided|given|available|specified|supplied)|[-.?_*]+)$/i;
const placeholders = [
  noAnswer,
  /^(potential|prospective|new|valued|unknown|anonymous|website|web|google|yelp|angi|facebook|wireless) (customer|client|lead|user|caller|guest|visitor|prospect|contact|member|person)$/i,
  /^(customer|client|caller|visitor|guest|user|anonymous|no name|yes|no|true|false|value)$/i,
];
const titles = /^(mr|mrs|ms|miss|mx|dr|prof)\.?\s+(?=\S)/i;
const suffixes = /^(jr|sr|ii|iii|iv|md|phd|esq)\.?$/i;

/** Whether a form puts this where nobody gave a name. "Web lead" is no name, but the kind of a lead. */
export function isPlaceholder(value: string): boolean {
  return placeholders.some((pattern) => pattern.test(bare(value)));
}

/** Whether a form puts this where nobody answered at all. */
export function isNoAnswer(value: string): boolean {
  return noAnswer.test(bare(value));
}

function bare(value: string): string {
  return value.replace(/^[\s[({<*]+|[\s\])}>*]+$/g, '');
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
  return isPlaceholder(name) || fieldKinds.has(labelOf(name)?.kind ?? '') ? undefined : name;
}

/** In a heading row `Name | Phone`, "Phone" is no name; a surname such as Day or Class is one. */
const fieldKinds = new Set(['firstName', 'lastName', 'email', 'phone']);

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

function partsOf(firstName: string, lastName: string): PersonName {
  return { ...(firstName && { firstName }), ...(lastName && { lastName }) };
}
