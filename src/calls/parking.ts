import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/client.ts';
import { calls, nextSteps } from '../db/schema/index.ts';
import type { StageDatabase } from '../db/stage-database.ts';
import type { Clock } from '../platform/clock.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Log } from '../platform/logger.ts';
import type { Meter } from '../platform/metrics.ts';
import type { StateTable } from '../platform/state-table.ts';
import { type CallKey, isCall } from './call-statements.ts';
import type { NextStep, StepResult } from './step.ts';

/**
 * Parked work: no slot is waited for and no message goes round meanwhile, the session's row says what is next and
 * when. A row is parked exactly while `next_attempt_at` is set; the sweep sends it on.
 */
export interface ParkingDependencies {
  neon: StageDatabase;
  state: StateTable;
  clock: Clock;
  log: Log;
  meter: Meter;
}

/** State-table item that tells the sweep to open the database for this account. */
export const parkedItemKey = (accountId: string) => `parked#${accountId}`;

/**
 * Parks a session: the row first, then the sign for the sweep, and only then may the message go.
 *
 * @param deadline for the database
 */
export async function park(
  { neon, state, clock, log, meter }: ParkingDependencies,
  key: CallKey,
  { step, waitSeconds, group }: Extract<StepResult, { kind: 'park' }>,
  deadline: Date,
): Promise<void> {
  const now = clock.now();
  const at = new Date(now.getTime() + waitSeconds * 1000);
  await neon.run((db) => parkCall(db, key, { step, at }), deadline);
  await announceParked(state, key.accountId, now);
  meter.count('CallParked');
  log.info(logEvents.ringcentralParked, {
    account_id: key.accountId,
    telephony_session_id: key.telephonySessionId,
    next_step: step,
    wait_seconds: waitSeconds,
    rate_limit_group: group,
  });
}

/** Each announcement is another one, so that the sweep takes none off that it hasn't looked at. */
export async function announceParked(state: StateTable, accountId: string, now: Date): Promise<void> {
  await state.update(parkedItemKey(accountId), {
    update: 'SET parked_at = :now ADD announcements :one',
    values: { ':now': now.getTime(), ':one': 1 },
  });
}

/**
 * Writes the next step on the row. An earlier step that waits already stays: it leads to the later one.
 *
 * @throws NeonDbError; run it in `StageDatabase.run`
 */
export function parkCall(db: Database, key: CallKey, { step, at }: { step: NextStep; at: Date }) {
  const waitsForEarlier = sql`${calls.nextAttemptAt} is not null and ${rankOf(sql`${calls.nextStep}`)} < ${rankOf(sql`${step}::text`)}`;
  return db
    .update(calls)
    .set({
      nextStep: sql`case when ${waitsForEarlier} then ${calls.nextStep} else ${step} end`,
      nextAttemptAt: at,
      updatedAt: sql`now()`,
    })
    .where(isCall(key));
}

const rankOf = (step: SQL) => sql`array_position(${sql.raw(`array['${nextSteps.join("','")}']`)}, ${step})`;

/**
 * Takes a session out of the parked ones, or parks it for another step: unless it was parked anew since `seen`.
 *
 * @param next `sent`: a message now carries the step on. `done`: nothing is left to do
 */
export function moveOn(
  db: Database,
  key: CallKey,
  seen: { nextStep: NextStep; nextAttemptAt: Date },
  next: { step: NextStep; at: Date } | 'sent' | 'done',
) {
  return db
    .update(calls)
    .set({
      ...(next === 'sent' ? {} : { nextStep: next === 'done' ? null : next.step }),
      nextAttemptAt: typeof next === 'object' ? next.at : null,
      updatedAt: sql`now()`,
    })
    .where(and(isCall(key), eq(calls.nextStep, seen.nextStep), eq(calls.nextAttemptAt, seen.nextAttemptAt)));
}
