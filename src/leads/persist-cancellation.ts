import { and, desc, eq, isNotNull, lte, or, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/client.ts';
import { contactTimeline, leads } from '../db/schema/index.ts';
import type { LeadInput, LedgerMail } from './lead.ts';
import { choose, chosenLeadId, knownLeadId } from './persist-lead-id.ts';

/**
 * Decides whose booking is cancelled: the store's newest lead, up to then, with this phone; only a mail without
 * a phone, or whose phone nobody has, goes by the e-mail, where that is not the form's own sender.
 */
export function chooseKnownLead(
  db: Database,
  mail: LedgerMail,
  { leadEmail, emailFrom, phone, storeId }: LeadInput,
  reread: boolean,
) {
  const samePhone = phone === null ? undefined : eq(leads.phone, phone);
  // A relay's From is shared by all its visitors.
  const sameEmail = leadEmail === emailFrom ? undefined : eq(leads.leadEmail, leadEmail);
  const samePerson = or(samePhone, sameEmail) ?? sql`false`;
  const newestLead = db
    .select({ id: leads.id })
    .from(leads)
    .where(and(sql`${leads.storeId} = ${storeId}::uuid`, samePerson, lte(leads.receivedAt, mail.receivedAt)))
    .orderBy(...(samePhone ? [desc(sql`coalesce(${samePhone}, false)`)] : []), desc(leads.lastMailAt))
    .limit(1);
  return choose(db, sql`coalesce(${knownLeadId(mail.mailKey, reread)}, (${newestLead}))`);
}

/** Writes the chosen lead's `lead.booking_cancelled`, once a mail, where the contact is fully known. */
export function insertCancellationEvent(
  db: Database,
  mail: LedgerMail,
  { bookedDate, bookedTime }: LeadInput,
) {
  const event = cancellationEvent({
    occurredAt: sql`${mail.receivedAt.toISOString()}::timestamptz`,
    newValue: sql`${JSON.stringify({ bookedDate, bookedTime })}::jsonb`,
    mailKey: sql`${mail.mailKey}::text`,
  });
  return db
    .insert(contactTimeline)
    .select(
      db
        .select(event)
        .from(leads)
        .where(and(eq(leads.id, chosenLeadId), isFullyKnown)),
    )
    .onConflictDoNothing();
}

/** A timeline row for the lead that the query reads. */
export function cancellationEvent(mail: Record<'occurredAt' | 'newValue' | 'mailKey', SQL>) {
  return {
    id: sql`gen_random_uuid()`.as('id'),
    contactPhone: leads.phone,
    franchiseId: leads.franchiseId,
    accountId: leads.accountId,
    storeId: leads.storeId,
    eventType: sql`'lead.booking_cancelled'`.as('event_type'),
    eventCategory: sql`'lead'`.as('event_category'),
    entityType: sql`'lead'`.as('entity_type'),
    entityId: leads.id,
    occurredAt: mail.occurredAt.as('occurred_at'),
    actorType: sql`'lead_webhook'`.as('actor_type'),
    newValue: mail.newValue.as('new_value'),
    idempotencyKey: sql`'lead.booking_cancelled:' || ${mail.mailKey}`.as('idempotency_key'),
    createdAt: sql`now()`.as('created_at'),
  };
}

/** A timeline row needs all of the contact's key. */
export const isFullyKnown = and(
  isNotNull(leads.phone),
  isNotNull(leads.franchiseId),
  isNotNull(leads.accountId),
  isNotNull(leads.storeId),
);
