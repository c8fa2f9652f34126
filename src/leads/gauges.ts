import { and, desc, eq, not } from 'drizzle-orm';
import type { Database } from '../db/client.ts';
import { leadMails } from '../db/schema/index.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Log } from '../platform/logger.ts';
import type { Meter } from '../platform/metrics.ts';
import { countLeadsWithoutTimeline } from './ledger.ts';

/** Contact, task and timeline follow the event within seconds; after this long somebody must look. */
const timelineDueMs = 30 * 60_000;

/** When the newest mail with a lead was written, or undefined when there never was one. */
async function lastLeadAt(db: Database): Promise<Date | undefined> {
  const [row] = await db
    .select({ recordedAt: leadMails.recordedAt })
    .from(leadMails)
    .where(and(eq(leadMails.outcome, 'lead'), not(leadMails.mirrored)))
    .orderBy(desc(leadMails.recordedAt))
    .limit(1);
  return row?.recordedAt;
}

/**
 * Emits what no single mail shows: leads whose event led to nothing, and how long no lead has come.
 *
 * @param isOpen whether any store is in its opening hours: at night no lead is no news
 */
export async function emitLeadGauges(
  { db, log, meter, isOpen }: { db: Database; log: Log; meter: Meter; isOpen: () => Promise<boolean> },
  now: Date,
): Promise<void> {
  const publishedBefore = new Date(now.getTime() - timelineDueMs);
  const leadsWithoutTimeline = await countLeadsWithoutTimeline(db, { publishedBefore });
  meter.count('LeadsWithoutTimeline', leadsWithoutTimeline);
  if (leadsWithoutTimeline > 0) log.error(logEvents.leadsWithoutTimeline, { count: leadsWithoutTimeline });

  if (!(await isOpen())) return;
  const last = await lastLeadAt(db);
  if (last) meter.count('HoursSinceLead', (now.getTime() - last.getTime()) / 3_600_000);
}
