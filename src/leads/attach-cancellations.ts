import { and, eq, gte, isNotNull, isNull, sql } from 'drizzle-orm';
import type { Database } from '../db/client.ts';
import { contactTimeline, leadMails, leads } from '../db/schema/index.ts';
import { cancellationEvent, isFullyKnown } from './persist-cancellation.ts';

/** Longer than a lead can lie in neon-write-dlq and neon-write-final-dlq (7 and 14 days). */
const lookBackMs = 30 * 24 * 3600_000;

/**
 * Points cancellations that overtook their lead (which waited in the retry queue) to it, and writes their
 * timeline rows: one statement. The lead is the one that `persistLeadPipeline` would have chosen, had both
 * been stored in the order in which they came: never one that came after the cancellation.
 */
export async function attachCancellations(db: Database, now: Date): Promise<void> {
  const waiting = db
    .select({ mailKey: leadMails.mailKey, leadId: sql<string>`(${newestLead})`.as('waiting_lead_id') })
    .from(leadMails)
    .where(
      and(
        eq(leadMails.outcome, 'cancellation'),
        isNull(leadMails.leadId),
        gte(leadMails.receivedAt, new Date(now.getTime() - lookBackMs)),
      ),
    )
    .as('waiting');
  const attached = db.$with('attached').as(
    db
      .update(leadMails)
      .set({ leadId: sql`${waiting.leadId}` })
      .from(waiting)
      .where(and(eq(leadMails.mailKey, waiting.mailKey), isNull(leadMails.leadId), isNotNull(waiting.leadId)))
      .returning({
        mailKey: leadMails.mailKey,
        leadId: leadMails.leadId,
        receivedAt: leadMails.receivedAt,
        parsed: leadMails.parsed,
      }),
  );
  const event = cancellationEvent({
    occurredAt: sql`${attached.receivedAt}`,
    newValue: sql`jsonb_build_object('bookedDate', ${attached.parsed}->'bookedDate', 'bookedTime', ${attached.parsed}->'bookedTime')`,
    mailKey: sql`${attached.mailKey}`,
  });
  await db
    .with(attached)
    .insert(contactTimeline)
    .select(
      db.select(event).from(attached).innerJoin(leads, eq(leads.id, attached.leadId)).where(isFullyKnown),
    )
    .onConflictDoNothing();
}

/** Of the cancellation's person and store (see take-mail.ts), by phone before e-mail. */
const person = sql`${leadMails.parsed}->'person'`;
const samePhone = sql`${leads.phone} = ${person}->>'phone'`;
const newestLead = sql`select ${leads.id} from ${leads}
  where ${leads.storeId} = (${person}->>'storeId')::uuid
    and (${samePhone} or ${leads.leadEmail} = ${person}->>'email')
    and ${leads.receivedAt} <= ${leadMails.receivedAt}
  order by coalesce(${samePhone}, false) desc, ${leads.lastMailAt} desc
  limit 1`;
