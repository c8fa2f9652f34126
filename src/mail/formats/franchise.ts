import type { ReadLead } from './format.ts';
import { readLabelled } from './labelled.ts';

/** A franchise's intro booking: a web lead's fields and the class that was booked. */
export const introBooking: ReadLead = (mail) => {
  const reading = isFranchise(mail.subject, mail.lines) ? readLabelled(mail) : undefined;
  return reading?.kind === 'lead' && reading.fields.bookedDate ? reading : undefined;
};

/** A franchise's web lead: the subject names the type, the lines name the studio. */
export const webLead: ReadLead = (mail) =>
  isFranchise(mail.subject, mail.lines) ? readLabelled(mail) : undefined;

function isFranchise(subject: string, lines: readonly string[]): boolean {
  const named =
    /\b(?:web leads?|online intro|intro (?:booking|class|offer)|orangebook|lead management|vip class|member referral)\b/i;
  return (
    named.test(subject) && lines.some((line) => /^\W*(?:studio|location|club|first[ _]?name)\b/i.test(line))
  );
}
