import * as z from 'zod';

const text = z.string().nullish();
const person = { id: text, leadEmail: text, phone: text };

/** As little of a message as tells whose it is: also a message that its consumer refuses should be found. */
const messageSchema = z.union([
  z
    .object({ 'detail-type': z.string(), detail: z.object({ mailKey: text, ...person }) })
    .transform(({ 'detail-type': kind, detail: { mailKey, ...lead } }) => ({ kind, mailKey, lead })),
  z
    .object({ mail: z.object({ mailKey: text }), lead: z.object(person).nullish() })
    .transform(({ mail, lead }) => ({ kind: 'lead to store', mailKey: mail.mailKey, lead })),
]);

/** Whose message it is. */
export interface MessageMail {
  /** The event's detail-type, `lead to store` for a retry message, `unknown` for what is neither. */
  kind: string;
  mailKey?: string;
  leadId?: string;
  leadEmail?: string;
  phone?: string;
}

/** Reads a message of any queue of the lead flow. */
export function mailOfMessage(body: string): MessageMail {
  const { data } = messageSchema.safeParse(parseJson(body));
  if (!data) return { kind: 'unknown' };
  const { kind, mailKey, lead } = data;
  return {
    kind,
    ...(mailKey && { mailKey }),
    ...(lead?.id && { leadId: lead.id }),
    ...(lead?.leadEmail && { leadEmail: lead.leadEmail }),
    ...(lead?.phone && { phone: lead.phone }),
  };
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
