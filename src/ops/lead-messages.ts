import type { Side } from './deployment.ts';
import type { LeadQuery } from './lead-query.ts';
import type { LeadWays } from './lead-ways.ts';
import { type MessageMail, mailOfMessage } from './message-mail.ts';
import { type OperatorQueue, peek, type QueueDepth } from './queues.ts';

/** The queues of a lead's way, in its order. Only dead-letter queues are looked into: elsewhere a look is a receive. */
const queues = [
  { base: 'neon-write-dlq', side: 'leads', deadLetters: false },
  { base: 'neon-write-final-dlq', side: 'leads', deadLetters: true },
  { base: 'forwarding-dlq', side: 'leads', deadLetters: true },
  { base: 'lead-processor-queue', side: 'calls', deadLetters: false },
  { base: 'lead-processor-dlq', side: 'calls', deadLetters: true },
] as const satisfies { base: string; side: Side; deadLetters: boolean }[];

/** The most messages of one queue that are looked at. */
const peekedMessages = 500;

export interface QueueLook {
  queue: string;
  depth: QueueDepth;
  /** How many messages were looked at; absent for a work queue. */
  looked?: number;
  /** Those that are about whom the query names. */
  messages: (MessageMail & { messageId: string; sentAt: Date })[];
}

/** Looks for the lead's messages in all queues of its way. */
export async function lookIntoQueues(
  open: (base: string, side: Side) => Promise<OperatorQueue>,
  query: LeadQuery,
  ways: LeadWays,
): Promise<QueueLook[]> {
  const isWanted = matcher(query, ways);
  return Promise.all(
    queues.map(async ({ base, side, deadLetters }) => {
      const queue = await open(base, side);
      const depth = await queue.depth();
      if (!deadLetters) return { queue: queue.name, depth, messages: [] };
      const messages = await peek(queue, peekedMessages);
      const told = messages.map(({ id, sentAt, body }) => ({
        messageId: id,
        sentAt,
        ...mailOfMessage(body),
      }));
      return { queue: queue.name, depth, looked: messages.length, messages: told.filter(isWanted) };
    }),
  );
}

/** By the mails and leads that the database knows, and by what was typed: a message may be all there is of a lead. */
function matcher(query: LeadQuery, { leads, otherMails }: LeadWays): (mail: MessageMail) => boolean {
  const mails = [...leads.flatMap((way) => way.mails), ...otherMails];
  const mailKeys = new Set(mails.map(({ mailKey }) => mailKey));
  const leadIds = new Set(leads.map(({ lead }) => lead.id));
  return (mail) =>
    (mail.mailKey !== undefined && mailKeys.has(mail.mailKey)) ||
    (mail.leadId !== undefined && leadIds.has(mail.leadId)) ||
    isTyped(query, mail);
}

function isTyped(query: LeadQuery, mail: MessageMail): boolean {
  switch (query.kind) {
    case 'mail key':
      return mail.mailKey === query.mailKey;
    case 'lead id':
      return mail.leadId === query.leadId;
    case 'e-mail':
      return mail.leadEmail === query.email;
    case 'phone':
      return mail.phone === query.phone;
  }
}
