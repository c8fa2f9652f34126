import type { ReadLead } from './format.ts';
import { anyLine, between, readLabelled } from './labelled.ts';

const sentVia = /^sent via form submission from\b/i;
const footer =
  /^(manage submissions|does this submission look like spam|this e-?mail was sent by squarespace)/i;

/** Squarespace form storage. Its HTML repeats each answer in a hidden preview, which the rendering leaves out. */
export const squarespace: ReadLead = (mail) => {
  const known = /@(?:[\w-]+\.)*squarespace\.(?:info|com)$/i.test(mail.from) || anyLine(mail, sentVia);
  return known ? readLabelled(mail, { lines: between(mail.lines, sentVia, footer) }) : undefined;
};
