import { cutText } from '../clean-text.ts';
import { readEmail } from '../fields/email.ts';
import { splitName } from '../fields/name.ts';
import type { LeadMail, ReadLead } from './format.ts';
import { readLabelled } from './labelled.ts';

const sender = /^(?:from|name|your name)\s*:\s*(.*)$/i;

/**
 * Contact Form 7: `From: NAME <EMAIL>`, `Subject: …`, `Message Body:`. No phone unless the site's owner added
 * one; the sender's words below `Message Body:` are read for labels like any other text.
 */
export const contactForm7: ReadLead = (mail) => {
  const body = mail.lines.findIndex((line) => /^message body\s*:/i.test(line));
  const footer =
    /\bthis e-?mail (?:was|is) sent from a contact form\b|\bthis is a notification that a contact form was submitted\b/i;
  if (body === -1 && !mail.lines.some((line) => footer.test(line))) return undefined;
  const head = mail.lines.slice(0, body === -1 ? 10 : body);
  const from = head.map((line) => sender.exec(line)?.[1]).find((value) => value !== undefined);
  if (from === undefined) return undefined;
  return withSender(mail, from);
};

/** The sender goes before the other lines as fields, so that another name in his message is seen as another's. */
function withSender(mail: LeadMail, from: string): ReturnType<ReadLead> {
  const email = readEmail(from);
  const name = splitName(cutText(from, 300).replace(/<[^<>]*>|\S+@\S+/g, ' '));
  const named = Object.values(name).join(' ');
  const end = mail.lines.findIndex((line) => /^-- ?$/.test(line));
  const lines = mail.lines.slice(0, end === -1 ? undefined : end).filter((line) => !/^from\s*:/i.test(line));
  const rest = readLabelled(mail, {
    lines: [...(named ? [`Name: ${named}`] : []), ...(email ? [`Email: ${email}`] : []), ...lines],
  });
  if (rest?.kind === 'digest') return rest;
  return { kind: 'lead', fields: { ...rest?.fields, ...name, ...(email && { email }) } };
}
