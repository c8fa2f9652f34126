import type { ReadLead } from './format.ts';
import { anyLine, readLabelled } from './labelled.ts';

const metadata = [/^page url\b/i, /^user agent\b/i, /^(?:remote )?ip(?: address)?\b/i, /^powered by\b/i];
const rule = /^-{3,}$/;

/**
 * Elementor Pro: `Label: value` lines, then metadata. Its Date and Time tell when the form was sent, not a
 * booking; fields of those names that the site's owner added stand above the rule.
 */
export const elementor: ReadLead = (mail) => {
  const facts = metadata.filter((pattern) => anyLine(mail, pattern)).length;
  const ruled = mail.lines.findIndex((line) => rule.test(line));
  if (!anyLine(mail, /^powered by\s*:?\s*elementor\b/i) && facts < (ruled > 0 ? 1 : 2)) return undefined;
  if (ruled > 0) return readLabelled(mail, { lines: mail.lines.slice(0, ruled) });
  return readLabelled(mail, { ignorePlainDates: true });
};
