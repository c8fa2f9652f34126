import type { contactTimeline } from '../db/schema/index.ts';
import type { ContactIdentity } from './identity.ts';

export type TimelineValues = typeof contactTimeline.$inferInsert;

/** Something that happened with a contact. */
export interface TimelineEvent {
  /** `{kind of entity}.{what happened}`, such as 'lead.created'. */
  eventType: `${'lead' | 'call'}.${string}`;
  entityId: string;
  /** The time of the source record, never the time of writing. */
  occurredAt: Date;
  actorType: 'lead_webhook' | 'ringcentral_webhook' | 'ringcentral_call_log';
  /** An object: a bare string that looks like JSON would come back from jsonb as something else. */
  newValue: Record<string, unknown>;
  /** What tells this event from others of its type: delivered again, it has the same. */
  occurrence: string;
}

/**
 * The one place that builds timeline rows, so that all writers keep one convention: event type 'lead.created'
 * is of category and entity type 'lead', and its idempotency key is `lead.created:{occurrence}`.
 */
export function buildTimelineValues(
  identity: ContactIdentity,
  { eventType, entityId, occurredAt, actorType, newValue, occurrence }: TimelineEvent,
): TimelineValues {
  const kind = eventType.slice(0, eventType.indexOf('.'));
  return {
    ...identity,
    eventType,
    eventCategory: kind,
    entityType: kind,
    entityId,
    occurredAt,
    actorType,
    newValue,
    idempotencyKey: `${eventType}:${occurrence}`,
  };
}
