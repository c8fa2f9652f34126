import type { LeadMailRow } from '../db/schema/index.ts';
import { missingGuardFields } from '../leads/lead-created.ts';
import type { QueueLook } from './lead-messages.ts';
import type { LeadWay } from './lead-ways.ts';
import { localTime } from './local-time.ts';
import { explainOutcome } from './reasons.ts';
import { field, list } from './terminal.ts';

/**
 * A lead's way as text, step by step; where it broke off, why.
 *
 * @param store what the store calls itself, if it is known
 */
export function leadWayText(way: LeadWay, timeZone: string, store: string | undefined): string {
  const { lead, mails, contact, timeline } = way;
  const at = (instant: Date) => localTime(instant, timeZone);
  const booked = list(lead.bookedDate, lead.bookedTime);
  return [
    `Lead ${lead.id}`,
    field(
      'store',
      lead.storeId ? list(store, lead.storeId) : `none (${lead.parseStatus}): ${lead.emailRecipient}`,
    ),
    field(
      'row',
      list(
        lead.leadType,
        [lead.firstName, lead.lastName].filter(Boolean).join(' '),
        lead.phone,
        lead.leadEmail,
        booked && `booked ${booked}`,
        lead.parseStatus,
        `received ${at(lead.receivedAt)}`,
      ),
    ),
    ...mails.flatMap((mail) => [...mailLines(mail, at), field('event', eventText(way, mail, at))]),
    field(
      'contact',
      contact
        ? list(
            contact.phone,
            contact.lifecycleStage,
            contact.leadStatus,
            contact.lastActivityAt && `last activity ${at(contact.lastActivityAt)}`,
          )
        : 'none',
    ),
    field('task', taskText(way, at)),
    ...(timeline.length === 0 ? [field('timeline', 'nothing')] : []),
    ...timeline.map(({ eventType, occurredAt }) => field('timeline', `${eventType}, ${at(occurredAt)}`)),
  ].join('\n');
}

/** A mail without a lead. */
export function otherMailText(mail: LeadMailRow): string {
  return [`Mail ${mail.mailKey}`, ...mailLines(mail, (instant) => instant.toISOString())].join('\n');
}

type At = (instant: Date) => string;

function mailLines(mail: LeadMailRow, at: At): string[] {
  const { mailKey, mailbox, uid, outcome, reason, repeat, receivedAt } = mail;
  const kind = list(explainOutcome(outcome, reason), repeat && 'a repeat');
  return [
    field('mail', `${kind}, ${mailbox} UID ${uid}, received ${at(receivedAt)}`),
    field('', `key ${mailKey}`),
  ];
}

function eventText({ lead }: LeadWay, { outcome, publishedAt, mirrored }: LeadMailRow, at: At): string {
  if (publishedAt) return `LeadCreated, published ${at(publishedAt)}`;
  if (outcome !== 'lead') return 'none: this mail makes no lead';
  if (mirrored) return "none from here: copied from another stage, whose lead's event it is";
  const missing = missingGuardFields(lead);
  if (missing.length > 0) return `none: the lead lacks ${missing.join(', ')}`;
  return 'not out yet: the retry queue or, after 15 minutes, the next tick publishes it';
}

function taskText({ lead, task }: LeadWay, at: At): string {
  if (!task) return 'none';
  const text = list(task.status, `priority ${task.priority}`, `due ${at(task.dueAt)}`, task.taskId);
  return task.sourceLeadId === lead.id
    ? text
    : `none of its own: the contact has a pending call-back (${text})`;
}

/** The queues, and which messages are about the lead. */
export function queueText(looks: readonly QueueLook[]): string {
  return [
    'Queues (messages in dead-letter queues were looked at, which hides each from others for a second)',
    ...looks.flatMap(({ queue, depth, looked, messages }) => [
      `  ${queue}: ${depth.visible} visible, ${depth.inFlight} in flight, ${depth.delayed} delayed${
        looked === undefined ? ' (a work queue: not looked into)' : `; ${messages.length} of this lead`
      }`,
      ...messages.map(
        ({ messageId, kind, sentAt, mailKey }) =>
          `    ${list(messageId, kind, `sent ${sentAt.toISOString()}`, mailKey && `mail ${mailKey}`)}`,
      ),
    ]),
  ].join('\n');
}
