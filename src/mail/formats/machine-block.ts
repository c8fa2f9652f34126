import type { ReadLead } from './format.ts';
import { anyLine, between, readLabelled } from './labelled.ts';

const begin = /^#+\s*BEGIN\b.*#*\s*$/i;

/** `### BEGIN CREATE CONTACT ###`, lines `# first_name:Bob`, `### END CREATE CONTACT ###`. */
export const machineBlock: ReadLead = (mail) =>
  anyLine(mail, begin)
    ? readLabelled(mail, { lines: between(mail.lines, begin, /^#+\s*END\b/i) })
    : undefined;
