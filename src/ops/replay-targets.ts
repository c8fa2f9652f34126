import { and, asc, eq, gte, inArray, isNull, or } from 'drizzle-orm';
import type { Database } from '../db/client.ts';
import { type LeadMailRow, type LeadRow, leadMails, leads } from '../db/schema/index.ts';

/** A mail of the ledger, and the lead that it points to. */
export interface LedgerEntry {
  line: LeadMailRow;
  lead: LeadRow | null;
}

/** Which mails of the ledger to read again. */
export type ReplaySelection =
  | { kind: 'named'; mailKeys: string[]; leadIds: string[] }
  | { kind: 'quarantined' | 'unmapped'; since: Date; maximum: number };

/** The chosen mails, oldest first. */
export async function findTargets(db: Database, selection: ReplaySelection): Promise<LedgerEntry[]> {
  const rows = db
    .select({ line: leadMails, lead: leads })
    .from(leadMails)
    .leftJoin(leads, eq(leads.id, leadMails.leadId))
    .where(conditionOf(selection))
    .orderBy(asc(leadMails.receivedAt), asc(leadMails.uid));
  return selection.kind === 'named' ? rows : rows.limit(selection.maximum);
}

function conditionOf(selection: ReplaySelection) {
  switch (selection.kind) {
    case 'named':
      return or(inArray(leadMails.mailKey, selection.mailKeys), inArray(leadMails.leadId, selection.leadIds));
    case 'quarantined':
      return and(eq(leadMails.outcome, 'quarantined'), gte(leadMails.receivedAt, selection.since));
    case 'unmapped':
      return and(
        eq(leads.parseStatus, 'unmapped'),
        isNull(leadMails.publishedAt),
        gte(leadMails.receivedAt, selection.since),
      );
  }
}

/** The ledger's entry for a mail by its place, or by its key when it lies elsewhere now. */
export async function findEntry(
  db: Database,
  { mailbox, uidValidity, uid }: { mailbox: string; uidValidity: number; uid: number },
  mailKey: string,
): Promise<LedgerEntry | undefined> {
  const rows = await db
    .select({ line: leadMails, lead: leads })
    .from(leadMails)
    .leftJoin(leads, eq(leads.id, leadMails.leadId))
    .where(
      or(
        eq(leadMails.mailKey, mailKey),
        and(eq(leadMails.mailbox, mailbox), eq(leadMails.uidValidity, uidValidity), eq(leadMails.uid, uid)),
      ),
    );
  return rows.find(({ line }) => line.mailKey === mailKey) ?? rows[0];
}
