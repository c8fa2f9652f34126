import type { ReadLead } from './format.ts';
import { anyLine, between, readLabelled } from './labelled.ts';

const summary = /^submission summary\b/i;

/** Wix: `A site visitor just submitted your form …`, `Submission Summary`, label lines, `View Submissions`. */
export const wix: ReadLead = (mail) => {
  if (!anyLine(mail, /\bsite visitor just submitted your form\b/i) && !anyLine(mail, summary))
    return undefined;
  return readLabelled(mail, { lines: between(mail.lines, summary, /^view submissions?\b/i) });
};
