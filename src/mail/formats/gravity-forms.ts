import type { ReadLead } from './format.ts';
import { readLabelled } from './labelled.ts';

/** Gravity Forms' default notification: one table, a label row over each value row. */
export const gravityForms: ReadLead = (mail) =>
  /^\W*new submission from\b/i.test(mail.subject) ? readLabelled(mail) : undefined;
