import { and, inArray, sql } from 'drizzle-orm';
import { callRecordings, calls } from '../../db/schema/index.ts';
import { logEvents } from '../../platform/log-events.ts';
import { hasOpen } from '../call-statements.ts';
import type { SweepDependencies } from './dependencies.ts';
import { endedBefore, isOpenAndFree, startedBefore } from './open-calls.ts';

const afterMs = 24 * 3600_000;
const rowsAtOnce = 500;

/**
 * Ends what is unresolved a day after the call: `gave_up`, with the reason. What is parked is not given up, since it
 * has never had its turn. A recording that turns up all the same begins anew (`saveSnapshot`).
 *
 * @param isForbidden the account's call log is forbidden to us
 * @returns how many sessions
 * @throws NeonDbError
 */
export async function giveUpOld(
  { neon, clock, log, meter }: SweepDependencies,
  accountId: string,
  isForbidden: boolean,
  deadline: Date,
): Promise<number> {
  const before = new Date(clock.now().getTime() - afterMs);
  const wasAwaited = sql`${calls.recordingStatus} in ('pending', 'expected', 'available')`;
  const reason = sql<string>`case
    when ${hasOpen(callRecordings)} then 'content_unavailable'
    when ${calls.snapshot} is null then ${isForbidden ? 'call_log_forbidden' : 'not_listed'}
    when ${calls.snapshot} ->> 'coverage' = 'extension' then 'partial_coverage'
    when ${calls.recordingStatus} = 'expected' then 'recording_not_prepared'
    else 'recording_not_shown' end`;
  const given = await neon.run(async (db) => {
    const old = db
      .select({ id: calls.telephonySessionId })
      .from(calls)
      .where(and(isOpenAndFree(accountId), startedBefore(before), endedBefore(before)))
      .limit(rowsAtOnce);
    return db
      .update(calls)
      .set({
        callLogStatus: sql`case when ${calls.callLogStatus} in ('none', 'pending') then 'failed' else ${calls.callLogStatus} end`,
        recordingStatus: sql`case when ${wasAwaited} then 'gave_up' else ${calls.recordingStatus} end`,
        recordingReason: sql`case when ${wasAwaited} then ${reason} else ${calls.recordingReason} end`,
        voicemailStatus: sql`case when ${calls.voicemailStatus} = 'pending' then 'gave_up' else ${calls.voicemailStatus} end`,
        // A message's instruction: none is on its way after a day, and one that a person sends again finds out itself.
        nextStep: null,
        updatedAt: sql`now()`,
      })
      .where(and(isOpenAndFree(accountId), inArray(calls.telephonySessionId, old)))
      .returning({
        telephonySessionId: calls.telephonySessionId,
        recordingStatus: calls.recordingStatus,
        voicemailStatus: calls.voicemailStatus,
        reason: calls.recordingReason,
      });
  }, deadline);
  for (const { telephonySessionId, recordingStatus, voicemailStatus, reason } of given) {
    if (recordingStatus === 'gave_up') meter.count('CallsWithoutRecording');
    log.warn(logEvents.callWithoutRecording, {
      account_id: accountId,
      telephony_session_id: telephonySessionId,
      recording_status: recordingStatus,
      voicemail_status: voicemailStatus,
      reason,
    });
  }
  return given.length;
}
