import type { MailState, ReplayEvent, ReplayRefusal } from './replay-mail.ts';
import type { ReadFrom } from './replay-reading.ts';
import { field, list } from './terminal.ts';

/** What replaying one mail came to, or would come to. */
export interface Replayed {
  mailKey: string;
  receivedAt: Date;
  readFrom?: ReadFrom;
  before?: MailState;
  after?: MailState;
  event?: ReplayEvent;
  /** Why the mail was left as it is: a refusal, `nothing_to_read`, or an error's code. */
  problem?: string;
}

const refusals: Record<ReplayRefusal | 'nothing_to_read', string> = {
  copied_from_another_stage: "another stage's mail, copied here: replay it there",
  stored_text_tells_less: 'only the stored text is left, and it tells less than the mail did',
  nothing_to_read: 'the mail is gone from the mailbox, and no lead holds its text',
};

const events: Record<ReplayEvent, string> = {
  due: 'LeadCreated would be published',
  published: 'LeadCreated is published',
  out: 'out already',
  incomplete: 'none: the lead lacks phone or store',
  none: 'none',
};

export function replayedText({
  mailKey,
  receivedAt,
  readFrom,
  before,
  after,
  event,
  problem,
}: Replayed): string {
  return [
    `Mail ${mailKey}`,
    field('received', list(receivedAt.toISOString(), readFrom && `read from: ${readFrom}`)),
    field('before', before ? stateText(before) : 'not in the ledger'),
    ...(after ? [field('after', stateText(after))] : []),
    ...(event ? [field('event', events[event])] : []),
    ...(problem ? [field('LEFT', refusals[problem as ReplayRefusal] ?? problem)] : []),
  ].join('\n');
}

function stateText({ outcome, reason, leadId, storeId }: MailState): string {
  return list(outcome, reason, leadId, leadId && (storeId ? `store ${storeId}` : 'no store'));
}
