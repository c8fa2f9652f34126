import { and, asc, eq, isNull, not, or, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../db/client.ts';
import { callRecordings, calls, voicemails } from '../../db/schema/index.ts';
import { hasOpen, limitStatements } from '../call-statements.ts';
import { parkCall } from '../parking.ts';
import type { NextStep } from '../step.ts';
import type { SweepDependencies } from './dependencies.ts';
import {
  endedSince,
  isDueAgain,
  isInRetryHour,
  isOpenAndFree,
  lacksRecording,
  snapshotBefore,
  startedSince,
} from './open-calls.ts';
import { groupOf, tellParked } from './tell-parked.ts';

/** As many as a minute can use for a while; the rest comes with the next pass. */
const rowsOfAKind = 200;
const minuteMs = 60_000;
/** A message that works on a session is done by then. */
const workMs = 15 * minuteMs;
const voicemailWorkMs = 5 * minuteMs;
/** Longer calls are not sought here. */
const longestCallMs = 26 * 60 * minuteMs;

/**
 * Parks what is known and not fetched, and nobody works on: recordings whose content wasn't there, or couldn't be
 * stored, voicemails that couldn't be read. What goes wrong again and again is tried less and less often, since each
 * try may be three receives and a message in the dead-letter queue.
 *
 * @param pass `short`: calls that ended after `since`; `full`: those again, and older ones
 */
export async function retryOpen(
  deps: SweepDependencies,
  accountId: string,
  { pass, since }: { pass: 'short' | 'full'; since: Date },
  deadline: Date,
): Promise<number> {
  const now = deps.clock.now();
  const ago = (ms: number) => new Date(now.getTime() - ms);
  const isRecent = and(
    isOpenAndFree(accountId),
    endedSince(since),
    startedSince(new Date(since.getTime() - longestCallMs)),
  );
  const isFull = pass === 'full';
  const recording = and(
    isRecent,
    hasOpen(callRecordings),
    or(
      // With a known recording: its content was not found.
      eq(calls.recordingStatus, 'pending'),
      // With a step, a message was sent for it already.
      and(snapshotBefore(ago(workMs)), isFull ? isInRetryHour(now) : isNull(calls.nextStep)),
    ),
  );
  const voicemail = and(
    isRecent,
    eq(calls.voicemailStatus, 'pending'),
    not(hasOpen(callRecordings)),
    hasOpen(voicemails),
    snapshotBefore(ago(voicemailWorkMs)),
    isFull ? isInRetryHour(now) : undefined,
  );
  const recordings = await parkAll(deps, accountId, recording, 'recording', deadline);
  return recordings + (await parkAll(deps, accountId, voicemail, 'voicemail', deadline));
}

/**
 * Where the account's call log is forbidden to us, sessions without their recording are asked for one by one, at ever
 * longer distances. Those that no extension has shown yet only when `all` says so.
 */
export async function askOpenAlone(
  deps: SweepDependencies,
  accountId: string,
  { since, all }: { since: Date; all: boolean },
  deadline: Date,
): Promise<number> {
  const now = deps.clock.now();
  const which = and(
    isOpenAndFree(accountId),
    startedSince(since),
    sql`${calls.callLogStatus} <> 'none'`,
    lacksRecording(),
    all ? or(isNull(calls.snapshotAt), isDueAgain(now)) : isDueAgain(now),
  );
  return parkAll(deps, accountId, which, 'extension_call_log', deadline);
}

async function parkAll(
  deps: SweepDependencies,
  accountId: string,
  which: SQL | undefined,
  step: NextStep,
  deadline: Date,
): Promise<number> {
  const { neon, clock } = deps;
  const next = { step, at: clock.now() };
  const keys = await neon.run(async (db) => {
    const rows = await find(db, which);
    const found = rows.map(({ telephonySessionId }) => ({ accountId, telephonySessionId }));
    await db.batch([limitStatements(db), ...found.map((key) => parkCall(db, key, next))]);
    return found;
  }, deadline);
  for (const key of keys) tellParked(deps, key, next, groupOf(step));
  return keys.length;
}

const find = (db: Database, which: SQL | undefined) =>
  db
    .select({ telephonySessionId: calls.telephonySessionId })
    .from(calls)
    .where(which)
    .orderBy(asc(calls.startedAt))
    .limit(rowsOfAKind);
