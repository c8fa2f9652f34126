import * as z from 'zod';
import type { Side } from './deployment.ts';
import { parseJson } from './message-mail.ts';
import { type OperatorQueue, peek, type QueueDepth } from './queues.ts';

/** As little of a message as tells whose it is: also one that its consumer refuses should be found. */
const messageSchema = z.object({
  kind: z.string(),
  accountId: z.string().optional(),
  telephonySessionId: z.string(),
});

/** Whose message of transcribe-queue it is; undefined for a transcription's event and whatever else is there. */
export function callOfMessage(body: string): z.infer<typeof messageSchema> | undefined {
  return messageSchema.safeParse(parseJson(body)).data;
}

/** The most messages that are looked at. */
const peekedMessages = 500;

export interface CallLook {
  queue: string;
  depth: QueueDepth;
  /** How many messages were looked at; absent for the work queue. */
  looked?: number;
  messages: { messageId: string; sentAt: Date; kind: string; telephonySessionId: string }[];
}

/** Looks for messages of these sessions. Only the dead-letter queue is looked into: elsewhere a look is a receive. */
export async function lookForCalls(
  open: (base: string, side: Side) => Promise<OperatorQueue>,
  sessions: ReadonlySet<string>,
): Promise<CallLook[]> {
  const work = await open('transcribe-queue', 'calls');
  const dead = await open('transcribe-dlq', 'calls');
  const depth = await dead.depth();
  const messages = await peek(dead, peekedMessages);
  const own = messages.flatMap(({ id, sentAt, body }) => {
    const call = callOfMessage(body);
    return call && sessions.has(call.telephonySessionId)
      ? [{ messageId: id, sentAt, kind: call.kind, telephonySessionId: call.telephonySessionId }]
      : [];
  });
  return [
    { queue: work.name, depth: await work.depth(), messages: [] },
    { queue: dead.name, depth, looked: messages.length, messages: own },
  ];
}
