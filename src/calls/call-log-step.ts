import { and, eq, isNull, lt, or, sql } from 'drizzle-orm';
import type { Database } from '../db/client.ts';
import { type CallRow, calls } from '../db/schema/index.ts';
import type { StageDatabase } from '../db/stage-database.ts';
import type { Clock } from '../platform/clock.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Log } from '../platform/logger.ts';
import type { Meter } from '../platform/metrics.ts';
import type { CallLog } from '../ringcentral/call-log.ts';
import type { CallLogSnapshot } from '../ringcentral/schemas.ts';
import { type CallKey, isCall } from './call-statements.ts';
import { readSnapshot } from './read-snapshot.ts';
import { saveSnapshot } from './snapshot-store.ts';
import { resultOfFailure, type StepResult, type StoredSession } from './step.ts';

export interface CallLogDependencies {
  neon: StageDatabase;
  callLog: Pick<CallLog, 'fetchCallLog'>;
  clock: Clock;
  log: Log;
  meter: Meter;
}

/** What the message says of the session whose call log is asked for. */
export interface CallLogRequest {
  call: CallRow;
  /** When the party hung up: here the waiting for the call log begins. */
  endedAt: Date;
  /** Extension of the message's own party. */
  partyExtensionId?: string | undefined;
  /** `extension`: the account's call log was forbidden, and its fallback had no slot. */
  level: 'account' | 'extension';
  /** How often SQS has received the message; at the third it would go to the dead-letter queue. */
  receiveCount: number;
}

/** After the end of the call: when the log is asked a second time, and when for the last. */
const secondLookMs = 5 * 60_000;
const listedByMs = 15 * 60_000;
const lastLookMs = listedByMs + 30_000;
const lastReceive = 3;

/**
 * Fetches the session's call log, once, and stores it. Returns the session with its snapshot, or how else the
 * step ended.
 */
export async function takeCallLog(
  deps: CallLogDependencies,
  request: CallLogRequest,
  deadline: Date,
): Promise<{ snapshot: CallLogSnapshot; session: StoredSession } | StepResult> {
  const { call, partyExtensionId } = request;
  const key = { accountId: call.accountId, telephonySessionId: call.telephonySessionId };
  const outcome = await deps.callLog.fetchCallLog(key.telephonySessionId, key.accountId, {
    firstEventAt: call.startedAt,
    sessionId: call.sessionId ?? undefined,
    partyExtensionId: partyExtensionId ?? call.extensionId ?? undefined,
    otherExtensionIds: call.extensionIds,
    level: request.level,
  });
  switch (outcome.kind) {
    case 'ok':
      break;
    case 'not_found':
      return notListed(deps, request, deadline);
    // Nobody of ours took part, so there is no call log that we may read.
    case 'no_extension':
      return { kind: 'done' };
    case 'forbidden':
      return { kind: 'failed', reason: 'call_log_forbidden' };
    case 'no_slot':
      return resultOfFailure(
        outcome,
        outcome.surface === 'extension_call_log' ? 'extension_call_log' : 'call_log',
      );
    default:
      return resultOfFailure(outcome, 'call_log');
  }
  const snapshot = outcome.value;
  if (snapshot.records.length === 0) return notListed(deps, request, deadline);
  const session = await keepSnapshot(deps, call, snapshot, deadline);
  return session ? { snapshot, session } : notListed(deps, request, deadline, 'in_progress');
}

/**
 * Stores what the call log has of a session, and tells of it. Undefined when a record is still in progress: then
 * nothing is stored.
 */
export async function keepSnapshot(
  { neon, log, meter }: Pick<CallLogDependencies, 'neon' | 'log' | 'meter'>,
  call: Pick<CallRow, 'accountId' | 'telephonySessionId' | 'recordingStatus'>,
  snapshot: CallLogSnapshot,
  deadline: Date,
): Promise<StoredSession | undefined> {
  const key = { accountId: call.accountId, telephonySessionId: call.telephonySessionId };
  const findings = readSnapshot(snapshot, call.recordingStatus === 'expected');
  if (findings.inProgress) return undefined;
  const session = await neon.run((db) => saveSnapshot(db, key, snapshot, findings), deadline);
  const ids = { account_id: key.accountId, telephony_session_id: key.telephonySessionId };
  log.info(logEvents.recordingAvailabilityObserved, {
    ...ids,
    api_has_recording: findings.recordings.length > 0,
    api_recording_id: findings.recordings[0]?.recordingId,
    recordings: findings.recordings.length,
    coverage: snapshot.coverage,
  });
  const { recordingStatus, recordingReason } = session.call;
  if (
    recordingStatus !== call.recordingStatus &&
    ['none', 'too_short', 'deleted'].includes(recordingStatus)
  ) {
    meter.count('CallsWithoutRecording');
    log.info(logEvents.callWithoutRecording, {
      ...ids,
      recording_status: recordingStatus,
      reason: recordingReason,
    });
  }
  return session;
}

/**
 * The log lags behind the call. Receives fall about 90 s, 5 min and 15 min 30 s after the end; the last one gives
 * up without an error, and a later Disconnected or the sweep begins anew.
 */
async function notListed(
  { neon, clock }: CallLogDependencies,
  { call, endedAt, receiveCount }: CallLogRequest,
  deadline: Date,
  reason = 'not_listed',
): Promise<StepResult> {
  const now = clock.now();
  const nextLook = nextLookAt(endedAt, now);
  if (!nextLook) {
    if (reason === 'not_listed') await neon.run((db) => giveUpCallLog(db, call, endedAt), deadline);
    return { kind: 'done' };
  }
  const waitSeconds = Math.max(1, Math.ceil((nextLook.getTime() - now.getTime()) / 1000));
  // Other faults may have used up receives: another failure would be the dead-letter queue.
  return receiveCount >= lastReceive
    ? { kind: 'park', step: 'call_log', waitSeconds }
    : { kind: 'retry', reason, afterSeconds: waitSeconds };
}

/** When the log is asked again for a call that it doesn't list; undefined when it has had its time. */
export function nextLookAt(endedAt: Date, now: Date): Date | undefined {
  const sinceEndMs = now.getTime() - endedAt.getTime();
  if (sinceEndMs >= listedByMs) return undefined;
  return new Date(endedAt.getTime() + (sinceEndMs < secondLookMs ? secondLookMs : lastLookMs));
}

/**
 * 'failed', unless somebody has found the call meanwhile, or somebody else has hung up later.
 *
 * @throws NeonDbError; run it in `StageDatabase.run`
 */
export function giveUpCallLog(db: Database, key: CallKey, endedAt: Date) {
  return db
    .update(calls)
    .set({
      callLogStatus: 'failed',
      // Not the instruction of a later message.
      nextStep: sql`case when ${calls.nextAttemptAt} is null then null else ${calls.nextStep} end`,
      updatedAt: sql`now()`,
    })
    .where(
      and(
        isCall(key),
        eq(calls.callLogStatus, 'pending'),
        or(isNull(calls.snapshotAt), lt(calls.snapshotAt, endedAt)),
        or(isNull(calls.endedAt), sql`${calls.endedAt} <= ${endedAt}`),
      ),
    );
}
