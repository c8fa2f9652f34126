import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/client.ts';
import { excluded } from '../db/excluded.ts';
import { contacts } from '../db/schema/index.ts';
import type { NewLead } from './new-lead.ts';

/**
 * The new last_activity_at of an existing contact: the later of the stored and the event's instant, so that an
 * event that comes late never moves it back.
 *
 * @param eventTime when the thing happened, never the time of writing
 */
function lastActivityAtForward(eventTime: Date): SQL {
  const event = sql`${eventTime.toISOString()}::timestamptz`;
  return sql`coalesce(greatest(${contacts.lastActivityAt}, ${event}), ${event})`;
}

/**
 * Makes the lead's contact, or completes the one that is there: activity moves forward, missing names are
 * filled in. Lifecycle stage and lead status of an existing contact belong to Contact Analysis.
 *
 * @param now written as updated_at of an existing contact
 */
export function upsertContact(db: Database, lead: NewLead, now: Date) {
  const { phone, storeId, franchiseId, accountId, firstName, lastName, receivedAt } = lead;
  return db
    .insert(contacts)
    .values({
      phone,
      storeId,
      franchiseId,
      accountId,
      firstName,
      lastName,
      lifecycleStage: 'lead',
      leadStatus: 'new',
      lastActivityAt: receivedAt,
    })
    .onConflictDoUpdate({
      target: [contacts.phone, contacts.storeId],
      set: {
        lastActivityAt: lastActivityAtForward(receivedAt),
        firstName: sql`coalesce(${contacts.firstName}, ${excluded(contacts.firstName)})`,
        lastName: sql`coalesce(${contacts.lastName}, ${excluded(contacts.lastName)})`,
        updatedAt: now,
      },
    });
}
