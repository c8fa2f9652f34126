import { eq, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import type { Database } from '../db/client.ts';
import { excluded } from '../db/excluded.ts';
import { limitStatements } from '../db/limits.ts';
import { type LeadMailRow, type LeadRow, leadMails, leads } from '../db/schema/index.ts';
import type { LeadInput, LedgerMail } from './lead.ts';
import { chooseKnownLead, insertCancellationEvent } from './persist-cancellation.ts';
import { upsertLead } from './persist-lead.ts';
import { chooseLeadId, chosenLeadId } from './persist-lead-id.ts';

/** One mail's facts: its ledger line, and the lead it tells of (null for skipped and quarantined mail). */
export interface MailRecord {
  mail: LedgerMail;
  lead: LeadInput | null;
}

/** What the database holds after the write: the ledger row, and the lead it points to. */
export interface PersistedMail {
  mail: LeadMailRow;
  lead: LeadRow | null;
}

export interface PersistOptions {
  /** Replay: the mail's line takes the new reading, and points to another lead when the reading says so. */
  reread?: boolean;
  /** The database is another stage's, which must not publish what it is given. */
  mirror?: boolean;
}

/**
 * Stores one mail and its lead in one atomic batch, which is one request, and returns both as they are stored.
 * Idempotent: a mail may come any number of times, in any order with others, beside other writers.
 *
 * A cancelled booking makes no lead. When the lead is known, the mail's line points to it, and a
 * `lead.booking_cancelled` row goes into the contact's timeline.
 *
 * @throws the driver's errors; `toDatabaseError` tells what they mean
 */
export async function persistLeadPipeline(
  db: Database,
  record: MailRecord,
  options: PersistOptions = {},
): Promise<PersistedMail> {
  const { mail } = record;
  const results = await db.batch([
    limitStatements(db),
    lock(db, `mail ${mail.mailKey}`),
    ...leadSteps(db, record, options),
    insertLedgerLine(db, mail, options),
    db
      .select({ mail: leadMails, lead: leads })
      .from(leadMails)
      .leftJoin(leads, eq(leads.id, leadMails.leadId))
      .where(eq(leadMails.mailKey, mail.mailKey)),
  ]);
  const [persisted] = last(results);
  if (!persisted) throw new Error('The ledger line that was just written is not there');
  return persisted;
}

/** Every writer locks its mail first and its lead second, so that two can't wait for each other. */
function leadSteps(
  db: Database,
  { mail, lead }: MailRecord,
  { reread = false }: PersistOptions,
): BatchItem<'pg'>[] {
  if (!lead) return [];
  if (mail.outcome === 'cancellation') {
    return [chooseKnownLead(db, mail, lead, reread), insertCancellationEvent(db, mail, lead)];
  }
  if (mail.outcome !== 'lead') return [];
  return [lock(db, `lead ${lead.id}`), chooseLeadId(db, mail.mailKey, lead, reread), upsertLead(db, lead)];
}

/** Held until the batch ends. */
function lock(db: Database, name: string) {
  return db.execute(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
}

/**
 * A known mail keeps its line as it is; only a line without a lead may gain one. A mail that is read again
 * gets a new line in place of the old one, and counts as unpublished when its lead is another one now.
 */
function insertLedgerLine(
  db: Database,
  mail: LedgerMail,
  { reread = false, mirror = false }: PersistOptions,
) {
  const leadChanges = sql`${leadMails.leadId} is distinct from ${excluded(leadMails.leadId)}`;
  return db
    .insert(leadMails)
    .values({
      ...mail,
      leadId: chosenLeadId,
      repeat: sql`exists (select from ${leadMails} where ${leadMails.leadId} = ${chosenLeadId} and ${leadMails.mailKey} <> ${mail.mailKey})`,
      mirrored: mirror,
    })
    .onConflictDoUpdate({
      target: leadMails.mailKey,
      set: {
        outcome: excluded(leadMails.outcome),
        reason: excluded(leadMails.reason),
        parsed: excluded(leadMails.parsed),
        leadId: excluded(leadMails.leadId),
        repeat: sql`case when ${leadChanges} then ${excluded(leadMails.repeat)} else ${leadMails.repeat} end`,
        publishedAt: sql`case when ${leadChanges} then null else ${leadMails.publishedAt} end`,
      },
      ...(reread
        ? {}
        : { setWhere: sql`${leadMails.leadId} is null and ${excluded(leadMails.leadId)} is not null` }),
    });
}

function last<T>(list: readonly [...unknown[], T]): T {
  return list[list.length - 1] as T;
}
