import type { ReadLead } from './format.ts';
import { anyLine, between, readLabelled } from './labelled.ts';

const intro = /\bsomeone just submitted your form\b/i;

/** FormSubmit.co: a table whose heading row is literally `Name | Value`. */
export const formsubmit: ReadLead = (mail) =>
  anyLine(mail, intro)
    ? readLabelled(mail, {
        lines: between(mail.lines, intro, /^(?:this form was submitted|powered by formsubmit|formsubmit\b)/i),
      })
    : undefined;
