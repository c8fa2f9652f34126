import type { ReadLead } from './format.ts';
import { anyLine, readLabelled } from './labelled.ts';

/** Meta lead ads by way of a relay (`full_name`, `phone_number`), or a click-to-message text on one line. */
export const metaLead: ReadLead = (mail) => {
  const fields = anyLine(mail, /\bfull[_ ]name\s*[:\t]/i) && anyLine(mail, /\bphone[_ ]number\s*[:\t]/i);
  const meta =
    anyLine(
      mail,
      /\b(?:ad_?set_?name|campaign_name|lead_?gen|form_id|ad_id|facebook|instagram|messenger)\b/i,
    ) || anyLine(mail, /\bfull_name\b/);
  const oneLine = mail.lines.some((line) => /\bfull name\s*:.*\bphone number\s*:/i.test(line));
  return fields && (meta || oneLine) ? readLabelled(mail) : undefined;
};
