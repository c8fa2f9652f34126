import { and, asc, desc, eq, getTableColumns, inArray, isNull, or, type SQL, sql } from 'drizzle-orm';
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
import type { LeadQuery } from './lead-query.ts';

/** The newest leads that are shown of one person. */
export const shownLeads = 20;

/** A lead row without the mail's text. */
export type ShownLead = Omit<LeadRow, 'rawBody'>;

/** What the database knows of one lead, from its mails to its task. */
export interface LeadWay {
  lead: ShownLead;
  /** Oldest first. */
  mails: LeadMailRow[];
  contact?: ContactRow;
  /** Its own task; or the contact's pending one, which is why it got none. */
  task?: TaskRow;
  timeline: TimelineRow[];
}

export interface LeadWays {
  /** Newest first, at most `shownLeads`. */
  leads: LeadWay[];
  /** Mails of the person that tell of no stored lead. */
  otherMails: LeadMailRow[];
}

/** Reads all that belongs to whom the query names. */
export async function readLeadWays(db: Database, query: LeadQuery): Promise<LeadWays> {
  const { rawBody: _, ...columns } = getTableColumns(leads);
  const found = await db
    .select(columns)
    .from(leads)
    .where(leadCondition(db, query))
    .orderBy(desc(leads.receivedAt))
    .limit(shownLeads);
  const ids = found.map(({ id }) => id);
  const [mails, contactRows, taskRows, timeline] = await db.batch([
    db
      .select()
      .from(leadMails)
      .where(or(inArray(leadMails.leadId, ids), mailCondition(query)))
      .orderBy(asc(leadMails.receivedAt)),
    db
      .select()
      .from(contacts)
      .where(inArray(contacts.phone, phonesOf(found))),
    db
      .select()
      .from(tasks)
      .where(or(inArray(tasks.sourceLeadId, ids), pendingCallBack(phonesOf(found))))
      .orderBy(asc(tasks.createdAt)),
    db
      .select()
      .from(contactTimeline)
      .where(and(eq(contactTimeline.entityType, 'lead'), inArray(contactTimeline.entityId, ids)))
      .orderBy(asc(contactTimeline.occurredAt), asc(contactTimeline.createdAt)),
  ]);
  return {
    leads: found.map((lead) => {
      const contact = contactRows.find((row) => samePerson(lead, row.phone, row.storeId));
      const task =
        taskRows.find((row) => row.sourceLeadId === lead.id) ??
        taskRows.find((row) => row.status === 'pending' && samePerson(lead, row.contactPhone, row.storeId));
      return {
        lead,
        mails: mails.filter(({ leadId }) => leadId === lead.id),
        ...(contact && { contact }),
        ...(task && { task }),
        timeline: timeline.filter(({ entityId }) => entityId === lead.id),
      };
    }),
    otherMails: mails.filter(({ leadId }) => leadId === null || !ids.includes(leadId)),
  };
}

function leadCondition(db: Database, query: LeadQuery): SQL {
  switch (query.kind) {
    case 'mail key':
      return inArray(
        leads.id,
        db.select({ id: leadMails.leadId }).from(leadMails).where(eq(leadMails.mailKey, query.mailKey)),
      );
    case 'lead id':
      return eq(leads.id, query.leadId);
    case 'e-mail':
      return eq(leads.leadEmail, query.email);
    case 'phone':
      return eq(leads.phone, query.phone);
  }
}

/** Mails without a lead: a cancellation of an unknown booking, or one that was not stored as a lead. */
function mailCondition(query: LeadQuery): SQL | undefined {
  const fieldIs = (name: 'email' | 'phone', value: string) =>
    and(isNull(leadMails.leadId), eq(sql`${leadMails.parsed} ->> ${name}::text`, value));
  switch (query.kind) {
    case 'mail key':
      return eq(leadMails.mailKey, query.mailKey);
    case 'lead id':
      return undefined;
    case 'e-mail':
      return fieldIs('email', query.email);
    case 'phone':
      return fieldIs('phone', query.phone);
  }
}

function pendingCallBack(phones: string[]) {
  return and(
    eq(tasks.status, 'pending'),
    eq(tasks.typeCategory, 'lead_outreach'),
    inArray(tasks.contactPhone, phones),
  );
}

function phonesOf(found: ShownLead[]): string[] {
  return found.flatMap(({ phone }) => phone ?? []);
}

function samePerson({ phone, storeId }: ShownLead, otherPhone: string, otherStoreId: string): boolean {
  return phone === otherPhone && storeId === otherStoreId;
}
