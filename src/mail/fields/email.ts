const address = /[^\s<>()[\]{},;:"'|\\]+@[^\s<>()[\]{},;:"'|\\@?]+\.[^\s<>()[\]{},;:"'|\\@.?]{2,}/;
const domainLabel = /^[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?$/u;

/** The first e-mail address in a labelled value, lower-cased: `Dan <dan@x.example>`, `mailto:…`, `…, marketing: yes`. */
export function readEmail(value: string): string | undefined {
  return findAddress(value)?.toLowerCase();
}

/** The same as written: the tag of a tracking address keeps its case. */
export function findAddress(value: string): string | undefined {
  const found = address.exec(value.slice(0, 320))?.[0].replace(/[.!]+$/, '');
  if (found === undefined || found.length > 254) return undefined;
  const [local = '', domain = ''] = found.split('@');
  const plausible =
    local !== '' && !/^\.|\.\.|\.$/.test(local) && domain.split('.').every((part) => domainLabel.test(part));
  return plausible ? found : undefined;
}
