import { and, asc, count, eq, gt, isNotNull, isNull, lte, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../db/client.ts';
import { callRecordings, calls } from '../../db/schema/index.ts';
import type { CallKey } from '../call-statements.ts';
import type { NextStep } from '../step.ts';

/** A parked session that is due, without its snapshot: there may be thousands. */
export interface ParkedRow extends CallKey {
  nextStep: NextStep;
  nextAttemptAt: Date;
  startedAt: Date;
  endedAt: Date | null;
  lastEventAt: Date;
  /** Recordings that are neither stored nor gone for ever. */
  openRecordings: number;
}

export interface ParkedWork {
  /** All parked sessions of the account, due or not. */
  parked: number;
  /** Those that are due, the call that ended first before the others. */
  live: ParkedRow[];
  back: ParkedRow[];
}

/** As far as is known: the end of the call. */
export const endOf = ({ endedAt, lastEventAt }: Pick<ParkedRow, 'endedAt' | 'lastEventAt'>) =>
  endedAt ?? lastEventAt;

const liveForMs = 15 * 60_000;
/** Far above what a minute's slots can take; a list for as many still fits into a page or two. */
const rowsOfClass = 1000;

/** @throws NeonDbError; run it in `StageDatabase.run` */
export async function findParked(db: Database, accountId: string, now: Date): Promise<ParkedWork> {
  const isParked = and(
    eq(calls.accountId, accountId),
    isNotNull(calls.nextStep),
    isNotNull(calls.nextAttemptAt),
  );
  const end = sql`coalesce(${calls.endedAt}, ${calls.lastEventAt})`;
  const liveSince = new Date(now.getTime() - liveForMs);
  const due = (which: SQL) =>
    db
      .select({
        accountId: calls.accountId,
        telephonySessionId: calls.telephonySessionId,
        nextStep: calls.nextStep,
        nextAttemptAt: calls.nextAttemptAt,
        startedAt: calls.startedAt,
        endedAt: calls.endedAt,
        lastEventAt: calls.lastEventAt,
        openRecordings: count(callRecordings.recordingId),
      })
      .from(calls)
      .leftJoin(
        callRecordings,
        and(
          eq(callRecordings.accountId, calls.accountId),
          eq(callRecordings.telephonySessionId, calls.telephonySessionId),
          isNull(callRecordings.storedAt),
          isNull(callRecordings.unavailableReason),
        ),
      )
      .where(and(isParked, lte(calls.nextAttemptAt, now), which))
      .groupBy(calls.accountId, calls.telephonySessionId)
      .orderBy(asc(end), asc(calls.telephonySessionId))
      .limit(rowsOfClass);
  const [[all], live, back] = await db.batch([
    db.select({ rows: count() }).from(calls).where(isParked),
    due(gt(end, liveSince)),
    due(lte(end, liveSince)),
  ]);
  return { parked: all?.rows ?? 0, live: live.flatMap(parkedRow), back: back.flatMap(parkedRow) };
}

type Selected = Omit<ParkedRow, 'nextStep' | 'nextAttemptAt'> & {
  nextStep: NextStep | null;
  nextAttemptAt: Date | null;
};

function parkedRow({ nextStep, nextAttemptAt, ...row }: Selected): ParkedRow[] {
  return nextStep && nextAttemptAt ? [{ ...row, nextStep, nextAttemptAt }] : [];
}
