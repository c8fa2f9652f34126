import type { ReadLead } from './format.ts';
import { readLabelled } from './labelled.ts';

/** Labels beside values in table rows, whoever sent them. */
export const htmlTable: ReadLead = (mail) =>
  mail.kind === 'html' && mail.lines.some((line) => line.includes('\t')) ? readLabelled(mail) : undefined;

/** Labelled lines, whoever sent them. */
export const labelledText: ReadLead = (mail) => readLabelled(mail);
