import { and, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../db/client.ts';
import { type CallRow, callRecordings, calls, voicemails } from '../../db/schema/index.ts';
import type { CallKey } from '../call-statements.ts';

/** What a row knows of its session's call log, without the snapshot itself. */
export interface SessionRow extends CallKey {
  sessionId: string | null;
  startedAt: Date;
  endedAt: Date | null;
  lastEventAt: Date;
  callLogStatus: CallRow['callLogStatus'];
  recordingStatus: CallRow['recordingStatus'];
  nextStep: CallRow['nextStep'];
  nextAttemptAt: Date | null;
  contactPhone: string | null;
  storeId: string | null;
  franchiseId: string | null;
  coverage: string | null;
  recordingIds: string[];
  messageIds: string[];
}

const idsPerQuery = 1000;

/**
 * The rows of these sessions, by telephony session id or by session id.
 *
 * @throws NeonDbError; run it in `StageDatabase.run`
 */
export async function findSessionRows(
  db: Database,
  accountId: string,
  ids: { telephonySessionIds: readonly string[]; sessionIds: readonly string[] },
): Promise<SessionRow[]> {
  const wanted: SQL[] = [
    ...chunksOf(ids.telephonySessionIds, idsPerQuery).map((some) => inArray(calls.telephonySessionId, some)),
    ...chunksOf(ids.sessionIds, idsPerQuery).map((some) => inArray(calls.sessionId, some)),
  ];
  const rows: SessionRow[] = [];
  for (const which of wanted) rows.push(...(await selectSessionRows(db, accountId, which)));
  return rows;
}

/** One query for sessions that fulfil a condition on `calls`. */
export function selectSessionRows(db: Database, accountId: string, which: SQL | undefined) {
  return db
    .select({
      accountId: calls.accountId,
      telephonySessionId: calls.telephonySessionId,
      sessionId: calls.sessionId,
      startedAt: calls.startedAt,
      endedAt: calls.endedAt,
      lastEventAt: calls.lastEventAt,
      callLogStatus: calls.callLogStatus,
      recordingStatus: calls.recordingStatus,
      nextStep: calls.nextStep,
      nextAttemptAt: calls.nextAttemptAt,
      contactPhone: calls.contactPhone,
      storeId: calls.storeId,
      franchiseId: calls.franchiseId,
      coverage: sql<string | null>`${calls.snapshot} ->> 'coverage'`,
      recordingIds: distinct(callRecordings.recordingId),
      messageIds: distinct(voicemails.messageId),
    })
    .from(calls)
    .leftJoin(callRecordings, ofCall(callRecordings))
    .leftJoin(voicemails, ofCall(voicemails))
    .where(and(eq(calls.accountId, accountId), which))
    .groupBy(calls.accountId, calls.telephonySessionId);
}

const ofCall = (table: typeof callRecordings | typeof voicemails) =>
  and(eq(table.accountId, calls.accountId), eq(table.telephonySessionId, calls.telephonySessionId));

const distinct = (column: typeof callRecordings.recordingId | typeof voicemails.messageId) =>
  sql<string[]>`coalesce(array_agg(distinct ${column}) filter (where ${column} is not null), '{}')`;

export function chunksOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
