import type { MailOutcome, MailReason } from '../mail/parsed-mail.ts';

/** What a reason code means, for whoever asks why a mail became no lead. */
const sentences: Record<MailReason, string> = {
  auto_reply: 'an automatic answer (out of office and the like)',
  bounce: 'a delivery failure notice',
  booking_cancelled: 'a booking was cancelled: no new lead, but a timeline row if the lead is known',
  no_text: 'no readable text in it (a picture, or nothing)',
  tnef_only: "only an Outlook winmail.dat, which isn't read",
  digest: 'several people in one mail',
  quoted_only: 'a reply whose only form is in the mail that it quotes',
  unparsed: 'no format of src/mail/formats knows this layout',
  no_contact: 'neither a valid phone number nor an e-mail address of the person',
  too_many_parts: 'too many MIME parts or headers',
  unreadable: 'the source is damaged',
  attempts_exhausted: 'reading it ended the poller three times; only its envelope was taken down',
};

/** The outcome in words. */
export function explainOutcome(outcome: MailOutcome, reason: string | null | undefined): string {
  if (outcome === 'lead') return 'a lead';
  const sentence = sentences[reason as MailReason] ?? 'no reason noted';
  return `${outcome}${reason ? ` (${reason})` : ''}: ${sentence}`;
}
