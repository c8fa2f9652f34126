import type { ReadLead } from './format.ts';
import { anyLine, between, readLabelled } from './labelled.ts';

/** WPForms and Everest Forms: each field a small table, its label in the row above its value. */
export const wpforms: ReadLead = (mail) => {
  const known =
    /^\W*new (?:form )?entry\b/i.test(mail.subject) ||
    anyLine(mail, /^(?:sent from|this e-?mail was sent by) .*\b(?:wpforms|everest forms)\b/i);
  return known ? readLabelled(mail, { lines: between(mail.lines, undefined, /^sent from\b/i) }) : undefined;
};
