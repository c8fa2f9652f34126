import { and, eq, isNull, lt, or, sql } from 'drizzle-orm';
import { calls } from '../../db/schema/index.ts';
import type { CallLogSnapshot } from '../../ringcentral/schemas.ts';
import { isCall, limitStatements } from '../call-statements.ts';
import type { SweepDependencies } from './dependencies.ts';
import { spanOf } from './list-sessions.ts';
import { insertTimeline, loggedTimeline } from './logged-call.ts';
import type { SessionRow } from './session-rows.ts';

/** By then, a call's own webhooks and their messages have done what they could (90 s, and once more at 5 min). */
export const ownMessagesMs = 10 * 60_000;
/** Two clocks of RingCentral's, in the same second. */
const slackMs = 2_000;
/** Webhook and record tell of the same end, each measured in its own way; a call's next Disconnected is later. */
const sameEndMs = 60_000;
const dayMs = 24 * 3600_000;

/**
 * Ends a call whose last Disconnected never came, or ends it later if an earlier party's is the last that came: all
 * its records are closed, and were so when we heard of it for the last time. (What came after their end is a part that
 * isn't listed yet, such as a transfer's; but not a day later.)
 * `last_sequence` stays, so a webhook that comes all the same is newer than this.
 */
export async function closeCall(
  { neon, clock }: Pick<SweepDependencies, 'neon' | 'clock'>,
  row: SessionRow,
  snapshot: CallLogSnapshot,
  deadline: Date,
): Promise<void> {
  const endedAt = spanOf(snapshot)?.endedAt;
  if (!endedAt || (row.endedAt && endedAt.getTime() <= row.endedAt.getTime() + sameEndMs)) return;
  const now = clock.now().getTime();
  if (now - endedAt.getTime() < ownMessagesMs) return;
  const lastHeard = row.lastEventAt.getTime();
  if (lastHeard > endedAt.getTime() + slackMs && now - lastHeard < dayMs) return;
  await neon.run(
    (db) =>
      db.batch([
        limitStatements(db),
        db
          .update(calls)
          .set({ status: 'disconnected', endedAt, updatedAt: sql`now()` })
          .where(
            and(
              isCall(row),
              or(isNull(calls.endedAt), lt(calls.endedAt, endedAt)),
              eq(calls.lastEventAt, row.lastEventAt),
            ),
          ),
        ...insertTimeline(db, loggedTimeline(row, snapshot, endedAt)),
      ]),
    deadline,
  );
}
