import { and, eq, gte, inArray, isNull, lt, lte, not, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../db/client.ts';
import { callRecordings, calls } from '../../db/schema/index.ts';
import { hasOpen } from '../call-statements.ts';

/** Not decided yet. As the index `ix_calls_unresolved` has it, which serves all conditions below. */
export const isOpen = sql`(${calls.recordingStatus} in ('pending', 'expected', 'available') or ${calls.voicemailStatus} = 'pending')`;

/** The end of the call, as far as is known. */
const end = sql`coalesce(${calls.endedAt}, ${calls.lastEventAt})`;

/** For an instant beside an expression, whose type the driver can't know. */
const instantOf = (at: Date) => sql`${at.toISOString()}::timestamptz`;

export const endedSince = (at: Date): SQL => sql`${end} >= ${instantOf(at)}`;
export const endedBefore = (at: Date): SQL => sql`${end} < ${instantOf(at)}`;

/** Open, and no step of it is planned. */
export const isOpenAndFree = (accountId: string) =>
  and(eq(calls.accountId, accountId), isOpen, isNull(calls.nextAttemptAt));

/**
 * Whether a session may be asked for by itself again: after twice the time from its end to the last look, since
 * RingCentral takes about as long as the call was to prepare a recording.
 */
export const isDueAgain = (now: Date): SQL =>
  sql`${instantOf(now)} - ${calls.snapshotAt} >= greatest(interval '5 minutes', ${calls.snapshotAt} - ${end})`;

/** In some of the hours after the call, at ever longer distances; a pass each hour meets each of them once. */
export const isInRetryHour = (now: Date): SQL =>
  sql`floor(extract(epoch from ${instantOf(now)} - ${end}) / 3600) in (1, 2, 4, 8, 16, 23)`;

export const startedSince = (at: Date) => gte(calls.startedAt, at);
export const startedBefore = (at: Date) => lt(calls.startedAt, at);
export const snapshotBefore = (at: Date) => lte(calls.snapshotAt, at);

/** A newer look into the call log may show a recording. One that is known needs no such look. */
export const lacksRecording = () =>
  and(inArray(calls.recordingStatus, ['pending', 'expected']), not(hasOpen(callRecordings)));

/** @throws NeonDbError; run it in `StageDatabase.run` */
export async function hasOpenCalls(db: Database, accountId: string, since: Date): Promise<boolean> {
  const rows = await db
    .select({ one: sql<number>`1` })
    .from(calls)
    .where(and(eq(calls.accountId, accountId), isOpen, startedSince(since)))
    .limit(1);
  return rows.length > 0;
}
