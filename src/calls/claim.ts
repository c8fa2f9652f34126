import { randomUUID } from 'node:crypto';
import { and, eq, isNull, lt, or } from 'drizzle-orm';
import type { Database } from '../db/client.ts';
import { calls } from '../db/schema/index.ts';
import type { StageDatabase } from '../db/stage-database.ts';
import type { Clock } from '../platform/clock.ts';
import { errorCode } from '../platform/errors.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Log } from '../platform/logger.ts';
import {
  type CallKey,
  isCall,
  limitStatements,
  selectCall,
  selectRecordings,
  selectVoicemails,
} from './call-statements.ts';
import type { StepResult, StoredSession } from './step.ts';

export interface ClaimDependencies {
  neon: StageDatabase;
  clock: Clock;
  log: Log;
}

/** What a message wants of its session. */
export interface Claim extends CallKey {
  /**
   * Whoever began to work on the session at this time or later does what this message is for. Undefined when only
   * a look of its own will do.
   */
  doneByOthersSince: Date | undefined;
}

/** Longer than the function's time-out of 120 s: who holds on for so long is dead. */
const longestMs = 130_000;
/** By then the other one is done, or has left its message to SQS. */
const retrySeconds = 60;

/**
 * Works on a session that nobody else works on: a call has several Disconnected in the same second, and two workers
 * would ask the call log twice and fetch the sound twice. A claim saves double work only; correctness doesn't rest
 * on it.
 *
 * @param work gets the session as it is under the claim
 */
export async function underClaim(
  { neon, clock, log }: ClaimDependencies,
  { accountId, telephonySessionId, doneByOthersSince }: Claim,
  work: (session: StoredSession) => Promise<StepResult>,
  deadline: Date,
): Promise<StepResult> {
  const key = { accountId, telephonySessionId };
  const mine = { by: randomUUID(), at: clock.now() };
  const session = await neon.run((db) => claim(db, key, mine), deadline);
  if (!session) return { kind: 'failed', reason: 'unknown_session' };
  const { workedOnBy, workedOnAt } = session.call;
  if (workedOnBy !== mine.by) {
    return workedOnAt && doneByOthersSince && workedOnAt >= doneByOthersSince
      ? { kind: 'done' }
      : { kind: 'retry', reason: 'worked_on', afterSeconds: retrySeconds };
  }
  try {
    return await work(session);
  } finally {
    // It ends by itself; that it can't be given back fails nothing.
    await neon
      .run((db) => release(db, key, mine.by), deadline)
      .catch((error: unknown) => {
        log.warn(logEvents.claimNotReleased, {
          account_id: accountId,
          telephony_session_id: telephonySessionId,
          error_code: errorCode(error),
        });
      });
  }
}

/** The session as it is then, whoever has it. */
async function claim(
  db: Database,
  key: CallKey,
  { by, at }: { by: string; at: Date },
): Promise<StoredSession | undefined> {
  const isFree = or(isNull(calls.workedOnAt), lt(calls.workedOnAt, new Date(at.getTime() - longestMs)));
  const [, , [call], recordings, voicemails] = await db.batch([
    limitStatements(db),
    db
      .update(calls)
      .set({ workedOnBy: by, workedOnAt: at })
      .where(and(isCall(key), isFree)),
    selectCall(db, key),
    selectRecordings(db, key),
    selectVoicemails(db, key),
  ]);
  return call && { call, recordings, voicemails };
}

async function release(db: Database, key: CallKey, by: string): Promise<void> {
  await db
    .update(calls)
    .set({ workedOnBy: null, workedOnAt: null })
    .where(and(isCall(key), eq(calls.workedOnBy, by)));
}
