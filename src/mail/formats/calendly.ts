import { labelOf } from '../fields/labels.ts';
import type { ReadLead } from './format.ts';
import { anyLine, between, readLabelled } from './labelled.ts';

/** Calendly: labels on their own line, the value on the next; dial-in numbers stand under Location. */
export const calendly: ReadLead = (mail) => {
  if (
    !/@(?:[\w-]+\.)*calendly\.com$/i.test(mail.from) &&
    !anyLine(mail, /^view event in calendly\b|^powered by calendly\b/i)
  ) {
    if (!anyLine(mail, /^event date\/time:/i) || !anyLine(mail, /^invitee\b/i)) return undefined;
  }
  const lines = between(
    mail.lines,
    undefined,
    /^(view event in calendly|pro tip\b|powered by calendly|sent from calendly)/i,
  );
  return readLabelled(mail, { lines: withoutLocation(lines) });
};

/** From `Location:` to the next known label: addresses, meeting links and dial-in numbers of the host. */
function withoutLocation(lines: readonly string[]): string[] {
  let inside = false;
  return lines.filter((line) => {
    if (/^location\b/i.test(line)) inside = true;
    else if (/:\s*$/.test(line) && /^(invitee|questions|description|event|text|guests)/i.test(line))
      inside = false;
    else if (inside && labelOf(line.split(':')[0] ?? '')?.key.startsWith('invitee')) inside = false;
    return !inside;
  });
}
