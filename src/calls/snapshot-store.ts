import { and, eq, isNull, lte, or, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/client.ts';
import { excluded } from '../db/excluded.ts';
import { callRecordings, calls, voicemails } from '../db/schema/index.ts';
import type { CallLogSnapshot } from '../ringcentral/schemas.ts';
import {
  type CallKey,
  hasOpen,
  isCall,
  limitStatements,
  selectCall,
  selectRecordings,
  selectVoicemails,
} from './call-statements.ts';
import type { SnapshotFindings } from './read-snapshot.ts';
import type { StoredSession } from './step.ts';

/**
 * Stores a session's newest snapshot: the row, its recordings and voicemails, in one request and transaction.
 * An older snapshot than the stored one changes nothing. Idempotent. Returns the session as it is then.
 *
 * A status that says "there will be none" doesn't undo a recording that was seen, and what was given up begins
 * anew when a recording turns up.
 *
 * @throws NeonDbError; run it in `StageDatabase.run`
 */
export async function saveSnapshot(
  db: Database,
  key: CallKey,
  snapshot: CallLogSnapshot,
  findings: SnapshotFindings,
): Promise<StoredSession> {
  const fetchedAt = new Date(snapshot.fetchedAt);
  const isNewest = and(isCall(key), or(isNull(calls.snapshotAt), lte(calls.snapshotAt, fetchedAt)));
  const rows = findings.recordings.map((recording) => ({ ...key, ...recording }));
  const messages = findings.voicemails.map((voicemail) => ({ ...key, ...voicemail }));
  const answers = await db.batch([
    limitStatements(db),
    // The call's row first, as every writer does: two that lock in different order would wait for each other.
    db
      .update(calls)
      .set({
        snapshot,
        snapshotAt: fetchedAt,
        callLogStatus: 'found',
        result: findings.result,
        durationMs: findings.durationMs,
        ...(findings.recordings.length > 0 ? { recordingAvailable: true } : {}),
        // A step that a message was sent for, and that this snapshot makes good.
        nextStep: sql`case when ${calls.nextAttemptAt} is null then null else ${calls.nextStep} end`,
        updatedAt: sql`now()`,
      })
      .where(isNewest),
    ...(rows.length > 0
      ? [
          db
            .insert(callRecordings)
            .values(rows)
            .onConflictDoUpdate({
              target: callRecordings.recordingId,
              set: { contentUri: excluded(callRecordings.contentUri) },
              setWhere: sql`${callRecordings.accountId} = ${key.accountId} and ${callRecordings.storedAt} is null`,
            }),
        ]
      : []),
    ...(messages.length > 0 ? [db.insert(voicemails).values(messages).onConflictDoNothing()] : []),
    db
      .update(calls)
      .set(statusColumns(findings))
      .where(and(isCall(key), eq(calls.snapshotAt, fetchedAt))),
    selectCall(db, key),
    selectRecordings(db, key),
    selectVoicemails(db, key),
  ]);
  const [[call], recordings, voicemailRows] = answers.slice(-3) as [
    Awaited<ReturnType<typeof selectCall>>,
    Awaited<ReturnType<typeof selectRecordings>>,
    Awaited<ReturnType<typeof selectVoicemails>>,
  ];
  if (!call) throw new Error('There is no such call to keep a snapshot of');
  return { call, recordings, voicemails: voicemailRows };
}

/** What the session's recordings and voicemails add up to, with the rows as they are after this snapshot. */
function statusColumns(findings: SnapshotFindings) {
  const { recordingStatus, recordingReason, unprepared } = findings;
  const openRecording = hasOpen(callRecordings);
  const is = (...statuses: string[]): SQL => sql`${calls.recordingStatus} in ${statuses}`;
  const undecided = is('pending', 'expected', 'none');
  let status: SQL;
  let reason: SQL;
  if (recordingStatus === 'available') {
    const rest = unprepared > 0 ? 'expected' : 'stored';
    status = sql`case when ${openRecording} then 'available' when ${is('deleted')} then ${calls.recordingStatus} else ${rest} end`;
    reason = sql`case when ${openRecording} or not ${is('deleted')} then null else ${calls.recordingReason} end`;
  } else if (recordingStatus === 'pending') {
    // A record that connected may follow one that didn't.
    const begins = unprepared > 0 ? 'expected' : 'pending';
    const moves = unprepared > 0 ? is('none', 'pending', 'gave_up') : is('none');
    status = sql`case when ${moves} then ${begins} else ${calls.recordingStatus} end`;
    reason = sql`case when ${moves} then null else ${calls.recordingReason} end`;
  } else {
    status = sql`case when ${undecided} then ${recordingStatus} else ${calls.recordingStatus} end`;
    reason = sql`case when ${undecided} then ${recordingReason} else ${calls.recordingReason} end`;
  }
  return {
    recordingStatus: status as SQL<'pending'>,
    recordingReason: reason,
    voicemailStatus: sql<'pending'>`case when ${hasOpen(voicemails)} then 'pending' else ${calls.voicemailStatus} end`,
  };
}
