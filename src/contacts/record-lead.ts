import type { Database } from '../db/client.ts';
import { limitStatements } from '../db/limits.ts';
import { contactTimeline, tasks } from '../db/schema/index.ts';
import { upsertContact } from './contact.ts';
import type { ContactHours } from './contact-hours.ts';
import { buildContactPhoneIdentityFields } from './identity.ts';
import type { NewLead } from './new-lead.ts';
import { buildLeadTask } from './task.ts';
import { buildTimelineValues, type TimelineValues } from './timeline.ts';

export interface RecordedLead {
  /** False: this lead has its task already, or the contact has a pending one. */
  taskCreated: boolean;
  /** Rows added to the timeline: 0 for an event that was here before. */
  timelineRows: number;
}

/**
 * Writes contact, task and timeline of one LeadCreated: one batch, which is one HTTP request and one
 * transaction. Every statement may run again, in any order of events: a second delivery changes nothing.
 * The contact comes first: its row lock queues up the leads of one person.
 *
 * @param now the time of processing, where the five minutes begin
 * @throws NeonDbError; nothing is written then, or (reply lost) all of it
 */
export async function recordLead(
  db: Database,
  lead: NewLead,
  now: Date,
  hours: ContactHours,
): Promise<RecordedLead> {
  const [, , task, timeline] = await db.batch([
    limitStatements(db),
    upsertContact(db, lead, now),
    // No target: a conflict with either unique index means that staff have the task already.
    db
      .insert(tasks)
      .values(buildLeadTask(lead, now, hours))
      .onConflictDoNothing(),
    db
      .insert(contactTimeline)
      .values(buildLeadTimeline(lead))
      .onConflictDoNothing({ target: contactTimeline.idempotencyKey }),
  ]);
  return { taskCreated: task.rowCount === 1, timelineRows: timeline.rowCount ?? 0 };
}

/**
 * A repeat adds its own row, and `lead.created` as well: its event may be the first to arrive, or the only one.
 */
function buildLeadTimeline(lead: NewLead): TimelineValues[] {
  const identity = buildContactPhoneIdentityFields(lead);
  const { id, leadType, firstName, lastName, receivedAt, mailReceivedAt, mailKey, repeat } = lead;
  const event = {
    entityId: id,
    actorType: 'lead_webhook',
    newValue: { leadType, firstName, lastName },
  } as const;
  const created = buildTimelineValues(identity, {
    ...event,
    eventType: 'lead.created',
    occurredAt: receivedAt,
    occurrence: id,
  });
  const repeated = buildTimelineValues(identity, {
    ...event,
    eventType: 'lead.repeated',
    occurredAt: mailReceivedAt,
    occurrence: mailKey,
  });
  return repeat ? [created, repeated] : [created];
}
