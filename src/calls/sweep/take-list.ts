import type { CallLogSnapshot } from '../../ringcentral/schemas.ts';
import { keepSnapshot } from '../call-log-step.ts';
import type { CallKey } from '../call-statements.ts';
import { moveOn, parkCall } from '../parking.ts';
import { readSnapshot, type SnapshotFindings } from '../read-snapshot.ts';
import type { NextStep, StoredSession } from '../step.ts';
import { closeCall, ownMessagesMs } from './close-call.ts';
import type { SweepDependencies } from './dependencies.ts';
import { type Done, forEachSession } from './each-session.ts';
import { isWithin, spanOf, type Window } from './list-sessions.ts';
import { endOf } from './parked-rows.ts';
import type { SessionRow } from './session-rows.ts';
import { groupOf, tellParked } from './tell-parked.ts';

const putBackMs = 15 * 60_000;

/** A session of our own with what a list says of it. */
export interface Listed {
  row: SessionRow;
  snapshot: CallLogSnapshot;
  /** Asked for by itself: it is stored, with the time of asking, whether or not it is news. */
  asked?: boolean;
}

export interface Taken extends Done {
  /** Snapshots that brought news and were stored. */
  stored: number;
  /** Sessions with work for the pump. */
  parked: number;
}

/**
 * Takes over what a list says of sessions that we know, where it is news: snapshot, recordings and voicemails. What
 * is to be fetched then is parked, and the pump sends it as slots allow. One session's fault doesn't stop the others.
 *
 * @param covered the part of time that the list has told all of
 * @throws errors of the state table; of the database when it isn't one session's fault
 */
export async function takeListed(
  deps: SweepDependencies,
  listed: readonly Listed[],
  covered: Window,
  deadline: Date,
): Promise<Taken> {
  const taken = { stored: 0, parked: 0 };
  const sessions = listed.map((one) => ({ ...one, ...keyOf(one.row) }));
  const done = await forEachSession(
    deps,
    sessions,
    async (one) => {
      const result = await takeOne(deps, one, covered, deadline).catch(async (error: unknown) => {
        await putBack(deps, one.row, deadline);
        throw error;
      });
      if (result.stored) taken.stored += 1;
      if (result.parked) taken.parked += 1;
    },
    deadline,
  );
  return { ...taken, ...done };
}

const keyOf = ({ accountId, telephonySessionId }: CallKey): CallKey => ({ accountId, telephonySessionId });

async function takeOne(
  deps: SweepDependencies,
  { row, snapshot, asked }: Listed,
  covered: Window,
  deadline: Date,
): Promise<{ stored: boolean; parked: boolean }> {
  const nothing = { stored: false, parked: false };
  // A part of a session's records must not take the place of the whole.
  if (!isWithin(covered, { startedAt: row.startedAt, endedAt: endOf(row) })) return nothing;
  const now = deps.clock.now();
  const findings = readSnapshot(snapshot, row.recordingStatus === 'expected');
  const waiting = waitsForCallLog(row);
  if (findings.inProgress) {
    // Its later Disconnected, or a pass, comes back to it.
    if (waiting) await deps.neon.run((db) => moveOn(db, row, waiting, 'done'), deadline);
    return nothing;
  }
  await closeCall(deps, row, snapshot, deadline);
  if (!waiting && !asked && !bringsNews(row, snapshot, findings, now)) return nothing;
  const session = await keepSnapshot(deps, row, snapshot, deadline);
  if (!session) return nothing;
  return { stored: true, parked: await parkNext(deps, row, session, deadline) };
}

/** A session that can't be stored must not be the first of every list, which would keep newer ones out. */
async function putBack(deps: SweepDependencies, row: SessionRow, deadline: Date): Promise<void> {
  const { neon, clock } = deps;
  const waiting = waitsForCallLog(row);
  if (!waiting) return;
  const next = { step: waiting.nextStep, at: new Date(clock.now().getTime() + putBackMs) };
  const { rowCount } = await neon.run((db) => moveOn(db, row, waiting, next), deadline);
  if (rowCount) tellParked(deps, row, next);
}

/** Recordings before voicemails: one message does both. Whether there is something to send. */
export async function parkNext(
  deps: SweepDependencies,
  row: CallKey & Pick<SessionRow, 'nextStep' | 'nextAttemptAt'>,
  session: StoredSession,
  deadline: Date,
): Promise<boolean> {
  const { neon, clock } = deps;
  const step = nextStepOf(session);
  const next = step && { step, at: clock.now() };
  const waiting = waitsForCallLog(row);
  const isParked = await neon.run(async (db) => {
    if (waiting) return (await moveOn(db, row, waiting, next ?? 'done')).rowCount;
    return next && !row.nextAttemptAt ? (await parkCall(db, row, next)).rowCount : 0;
  }, deadline);
  if (next && isParked) tellParked(deps, row, next, groupOf(next.step));
  return step !== undefined;
}

function nextStepOf({ recordings, voicemails }: StoredSession): NextStep | undefined {
  const isOpen = ({
    storedAt,
    unavailableReason,
  }: {
    storedAt: Date | null;
    unavailableReason: string | null;
  }) => !storedAt && !unavailableReason;
  if (recordings.some(isOpen)) return 'recording';
  return voicemails.some(isOpen) ? 'voicemail' : undefined;
}

/** What `moveOn` has to know of a session that is parked for the call log. */
function waitsForCallLog({
  nextStep,
  nextAttemptAt,
}: Pick<SessionRow, 'nextStep' | 'nextAttemptAt'>): { nextStep: NextStep; nextAttemptAt: Date } | undefined {
  const waits = nextStep === 'call_log' || nextStep === 'extension_call_log';
  return waits && nextAttemptAt ? { nextStep, nextAttemptAt } : undefined;
}

/** Whether a session's row learns something from the list. Most sessions of a list are known and settled. */
function bringsNews(
  row: SessionRow,
  snapshot: CallLogSnapshot,
  { recordings, voicemails, recordingStatus }: SnapshotFindings,
  now: Date,
): boolean {
  if (row.callLogStatus === 'none' || row.callLogStatus === 'pending') {
    const end = Math.max(spanOf(snapshot)?.endedAt.getTime() ?? 0, row.lastEventAt.getTime());
    return now.getTime() - end >= ownMessagesMs;
  }
  if (row.callLogStatus === 'failed' || row.coverage === 'extension') return true;
  if (recordings.some(({ recordingId }) => !row.recordingIds.includes(recordingId))) return true;
  if (voicemails.some(({ messageId }) => !row.messageIds.includes(messageId))) return true;
  const isUndecided = row.recordingStatus === 'pending' || row.recordingStatus === 'expected';
  return isUndecided && recordingStatus !== 'pending' && recordingStatus !== 'available';
}
