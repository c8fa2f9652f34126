import { and, asc, eq, getTableColumns, gte, isNotNull, isNull, lt, not, sql } from 'drizzle-orm';
import type { Database } from '../db/client.ts';
import { contactTimeline, leadMails, leads } from '../db/schema/index.ts';
import type { PersistedMail } from './persist.ts';

/** Older publications are no news: whoever was to be paged for them was. */
const timelineLookBackMs = 14 * 24 * 3600_000;

/** Notes that the mail's event is out. The first time counts. */
export async function markPublished(db: Database, mailKey: string, at: Date): Promise<void> {
  await db
    .update(leadMails)
    .set({ publishedAt: at })
    .where(and(eq(leadMails.mailKey, mailKey), isNull(leadMails.publishedAt)));
}

/**
 * Mails that were recorded before `before` and never published although their lead is complete; oldest first.
 * `rawBody` is left empty: no event carries it, and a hundred of them could exceed Neon's answer limit.
 */
export async function findUnpublished(
  db: Database,
  { before, limit }: { before: Date; limit: number },
): Promise<PersistedMail[]> {
  return db
    .select({ mail: leadMails, lead: { ...getTableColumns(leads), rawBody: sql<string>`''` } })
    .from(leadMails)
    .innerJoin(leads, eq(leads.id, leadMails.leadId))
    .where(
      and(
        isNull(leadMails.publishedAt),
        eq(leadMails.outcome, 'lead'),
        not(leadMails.mirrored),
        lt(leadMails.recordedAt, before),
        isNotNull(leads.phone),
        isNotNull(leads.franchiseId),
        isNotNull(leads.accountId),
        isNotNull(leads.storeId),
      ),
    )
    .orderBy(asc(leadMails.recordedAt))
    .limit(limit);
}

/**
 * How many leads were published before `publishedBefore` (and within 14 days of it) and have no `lead.created`
 * in the timeline: whatever fails silently between the event bus and the lead processor shows here.
 */
export async function countLeadsWithoutTimeline(
  db: Database,
  { publishedBefore }: { publishedBefore: Date },
): Promise<number> {
  const oldest = new Date(publishedBefore.getTime() - timelineLookBackMs);
  const created = db
    .select({ one: sql`1` })
    .from(contactTimeline)
    .where(eq(contactTimeline.idempotencyKey, sql`'lead.created:' || ${leadMails.leadId}`));
  const [row] = await db
    .select({ count: sql<number>`count(distinct ${leadMails.leadId})::int` })
    .from(leadMails)
    .where(
      and(
        lt(leadMails.publishedAt, publishedBefore),
        gte(leadMails.publishedAt, oldest),
        eq(leadMails.outcome, 'lead'),
        sql`not exists (${created})`,
      ),
    );
  return row?.count ?? 0;
}
