/**
 * The seed's composite key of a lead: `{email}#{phone}#{UTC date}` when a phone was parsed, else
 * `{email}#{receivedAt}` (ISO instant). E-mail trimmed and lower-cased. Who shares a key by accident
 * (another store, another mail of the same second) is told apart by `persistLeadPipeline`.
 *
 * @param lead phone in E.164 or null; receivedAt is the mail's INTERNALDATE.
 */
export function leadId(lead: { leadEmail: string; phone: string | null; receivedAt: Date }): string {
  const email = lead.leadEmail.trim().toLowerCase();
  const receivedAt = lead.receivedAt.toISOString();
  return lead.phone ? `${email}#${lead.phone}#${receivedAt.slice(0, 10)}` : `${email}#${receivedAt}`;
}
