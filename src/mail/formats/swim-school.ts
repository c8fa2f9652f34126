import type { ReadLead } from './format.ts';
import { anyLine, readLabelled } from './labelled.ts';

/**
 * Swim-school franchise: `Label: value`, `Label - value` or alternate lines, among them the location's own
 * e-mail and codes, which are not the lead's.
 */
export const swimSchool: ReadLead = (mail) => {
  const franchise = anyLine(mail, /^(?:franchise|location) code\b/i);
  return franchise && anyLine(mail, /^location email\b|^student name\b|^class id\b/i)
    ? readLabelled(mail)
    : undefined;
};
