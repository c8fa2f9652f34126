import type { ReadLead } from './format.ts';
import { anyLine, between, readLabelled } from './labelled.ts';

/** HubSpot's form notification: label and value rows, then links into the portal. */
export const hubspot: ReadLead = (mail) => {
  const known =
    /@(?:[\w-]+\.)*hubspot\.com$/i.test(mail.from) ||
    anyLine(mail, /^view (?:contact|record|submission) in hubspot\b/i);
  return known
    ? readLabelled(mail, {
        lines: between(
          mail.lines,
          undefined,
          /^(?:view (?:contact|record|submission)|manage notifications)\b/i,
        ),
      })
    : undefined;
};
