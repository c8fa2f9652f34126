import { and, eq } from 'drizzle-orm';
import type { Database } from '../db/client.ts';
import {
  type ContactRow,
  contacts,
  contactTimeline,
  type LeadMailRow,
  type LeadRow,
  leadMails,
  leads,
  type TaskRow,
  type TimelineRow,
  tasks,
} from '../db/schema/index.ts';
import { localTime } from './local-time.ts';
import { explainOutcome } from './reasons.ts';

/** How far the mail has come. */
export interface SmokeState {
  line?: LeadMailRow;
  lead?: LeadRow;
  contact?: ContactRow;
  task?: TaskRow;
  timeline?: TimelineRow;
}

/** Reads it from the stage's Neon. */
export async function readSmokeState(db: Database, mailKey: string): Promise<SmokeState> {
  const [found] = await db
    .select({ line: leadMails, lead: leads, contact: contacts, task: tasks, timeline: contactTimeline })
    .from(leadMails)
    .leftJoin(leads, eq(leads.id, leadMails.leadId))
    .leftJoin(contacts, and(eq(contacts.phone, leads.phone), eq(contacts.storeId, leads.storeId)))
    .leftJoin(tasks, eq(tasks.sourceLeadId, leads.id))
    .leftJoin(
      contactTimeline,
      and(eq(contactTimeline.entityId, leads.id), eq(contactTimeline.eventType, 'lead.created')),
    )
    .where(eq(leadMails.mailKey, mailKey));
  return Object.fromEntries(Object.entries(found ?? {}).filter(([, row]) => row !== null));
}

/** The mail has taken a wrong turn: waiting is of no use. */
export class WrongTurnError extends Error {
  override name = 'WrongTurnError';
}

export interface SmokeContext {
  storeId: string;
  timeZone: string;
  /** Whether the mailbox shows the mail as read. */
  isSeen(line: LeadMailRow): Promise<boolean>;
}

export interface SmokeStep {
  name: string;
  /** Where to look when it doesn't come. */
  hint: string;
  /**
   * What there is to say of it; `undefined` while it hasn't come.
   * @throws WrongTurnError
   */
  check(state: SmokeState, context: SmokeContext): Promise<string | undefined>;
}

/** The mail's way after it lies in the mailbox, in the order of effects. */
export const smokeSteps: readonly SmokeStep[] = [
  {
    name: 'ledger line',
    hint: 'The poller runs every five minutes: its schedule, its log, neon-write-dlq.',
    async check({ line }) {
      if (line && line.outcome !== 'lead')
        throw new WrongTurnError(explainOutcome(line.outcome, line.reason));
      return line && 'a lead';
    },
  },
  {
    name: 'lead row',
    hint: 'The ledger line has no lead: the poller’s log.',
    async check({ lead }, { storeId }) {
      if (lead && lead.storeId !== storeId)
        throw new WrongTurnError(`it went to ${lead.storeId ?? 'no store'}`);
      return lead && `${lead.id}, ${lead.parseStatus}`;
    },
  },
  {
    name: 'event published',
    hint: 'EventBridge refused it: neon-write-dlq and the retry processor’s log.',
    check: async ({ line }) => line?.publishedAt?.toISOString(),
  },
  {
    name: 'mail marked as read',
    hint: 'The mailbox did not keep the flag: mail.not_marked_seen in the poller’s log.',
    check: async ({ line }, { isSeen }) => (line && (await isSeen(line)) ? `UID ${line.uid}` : undefined),
  },
  {
    name: 'contact',
    hint: 'The event did not arrive: forwarding-dlq, LeadCreatedRule, lead-processor-queue, lead-processor-dlq.',
    check: async ({ contact }) => contact && `${contact.lifecycleStage}, ${contact.leadStatus}`,
  },
  {
    name: 'task',
    hint: 'A pending call-back of the same contact stands in its way.',
    check: async ({ task }, { timeZone }) => task && `${task.status}, due ${localTime(task.dueAt, timeZone)}`,
  },
  {
    name: 'timeline row',
    hint: 'The lead processor’s log.',
    check: async ({ timeline }) => timeline?.eventType,
  },
];
