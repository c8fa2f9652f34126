import { and, asc, inArray, isNotNull } from 'drizzle-orm';
import { calls } from '../../db/schema/index.ts';
import type { Failure } from '../../ringcentral/errors.ts';
import { type CallLogSnapshot, snapshotSchema } from '../../ringcentral/schemas.ts';
import { sessionSnapshot } from '../../ringcentral/snapshot.ts';
import type { SweepDependencies } from './dependencies.ts';
import {
  endedSince,
  isDueAgain,
  isOpenAndFree,
  lacksRecording,
  startedBefore,
  startedSince,
} from './open-calls.ts';
import { selectSessionRows } from './session-rows.ts';
import { type Listed, type Taken, takeListed } from './take-list.ts';

const idsPerRequest = 50;
const dayMs = 24 * 3600_000;
/** Longer calls are not sought here. */
const longestCallMs = 24 * 3600_000;

/**
 * Asks for open sessions that began before the window of the lists, by the ids of the records that we know: up to 50
 * records in one request, the longest unasked first.
 */
export async function fetchStragglers(
  deps: SweepDependencies,
  accountId: string,
  windowFrom: Date,
  deadline: Date,
): Promise<Taken & { asked: number; failure?: Failure }> {
  const stragglers = await findStragglers(deps, accountId, windowFrom, deadline);
  const nothing = { asked: 0, stored: 0, parked: 0, failed: 0, complete: true };
  if (stragglers.length === 0) return nothing;
  const ids = stragglers.flatMap(({ snapshot }) => snapshot.records.map(({ id }) => id));
  const answer = await deps.callLog.fetchRecords(accountId, ids);
  if (answer.kind !== 'ok') return { ...nothing, failure: answer };
  const fresh = answer.value;
  const listed = stragglers.map(
    ({ row, snapshot }): Listed => ({ row, snapshot: merge(snapshot, fresh, row), asked: true }),
  );
  const always = { from: new Date(0), to: deps.clock.now() };
  return { asked: listed.length, ...(await takeListed(deps, listed, always, deadline)) };
}

async function findStragglers(
  { neon, clock }: SweepDependencies,
  accountId: string,
  windowFrom: Date,
  deadline: Date,
): Promise<Listed[]> {
  const now = clock.now();
  const since = new Date(now.getTime() - dayMs);
  const which = and(
    isOpenAndFree(accountId),
    startedBefore(windowFrom),
    startedSince(new Date(since.getTime() - longestCallMs)),
    endedSince(since),
    lacksRecording(),
    isNotNull(calls.snapshot),
    isDueAgain(now),
  );
  return neon.run(async (db) => {
    const found = await db
      .select({ telephonySessionId: calls.telephonySessionId, snapshot: calls.snapshot })
      .from(calls)
      .where(which)
      .orderBy(asc(calls.snapshotAt))
      .limit(idsPerRequest);
    const chosen = new Map<string, CallLogSnapshot>();
    let ids = 0;
    for (const { telephonySessionId, snapshot } of found) {
      const stored = snapshotSchema.parse(snapshot);
      ids += stored.records.length;
      if (ids <= idsPerRequest || chosen.size === 0) chosen.set(telephonySessionId, stored);
    }
    if (chosen.size === 0) return [];
    const rows = await selectSessionRows(
      db,
      accountId,
      inArray(calls.telephonySessionId, [...chosen.keys()]),
    );
    return rows.flatMap((row) => {
      const snapshot = chosen.get(row.telephonySessionId);
      return snapshot ? [{ row, snapshot }] : [];
    });
  }, deadline);
}

/** An answer may have a part of the session's records: those that it doesn't have stay as they are. */
function merge(
  stored: CallLogSnapshot,
  fresh: CallLogSnapshot,
  { telephonySessionId, sessionId }: Listed['row'],
): CallLogSnapshot {
  const ids = { telephonySessionId, sessionId: sessionId ?? undefined };
  const records = sessionSnapshot(fresh, ids)?.records ?? [];
  const replaced = new Set(records.map(({ id }) => id));
  return {
    ...stored,
    fetchedAt: fresh.fetchedAt,
    records: [...stored.records.filter(({ id }) => !replaced.has(id)), ...records],
  };
}
