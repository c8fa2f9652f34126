import type { Failure } from '../../ringcentral/errors.ts';
import { giveUpCallLog, nextLookAt } from '../call-log-step.ts';
import { limitStatements } from '../call-statements.ts';
import { moveOn } from '../parking.ts';
import type { SweepDependencies } from './dependencies.ts';
import type { Stretch } from './list-memory.ts';
import { coverageOf, isWithin, type ListedSessions, sessionsOf, type Window } from './list-sessions.ts';
import { endOf, type ParkedRow } from './parked-rows.ts';
import { chunksOf, findSessionRows, type SessionRow } from './session-rows.ts';
import { type Listed, takeListed } from './take-list.ts';
import { tellParked } from './tell-parked.ts';

/** A list that was made: of what time, and which of our sessions it has. */
export interface MadeList {
  covered: Window;
  found: ReadonlySet<string>;
}

/** What webhooks told may have begun later than the record, when the first ones were lost. */
const beforeMs = 3600_000;
const afterMs = 5 * 60_000;
/** No list is of more than this: it would take pages that get no slots. */
const longestMs = 26 * 3600_000;
const recordsPerPage = 1000;
const rowsPerBatch = 100;

export interface ParkedList {
  pages: number;
  /** Sessions that couldn't be stored. */
  failed: number;
  failure?: Failure;
  /** When sessions began that the list broke off before. */
  outOfReach?: Stretch;
}

/**
 * One call-log list for parked sessions, the oldest first. Those that it has are stored and parked for their
 * recordings; those that it hasn't are looked for again, until the log has had its time. No failure loses a row.
 *
 * @param rows parked for the call log; at least one
 */
export async function listParked(
  deps: SweepDependencies,
  accountId: string,
  rows: readonly ParkedRow[],
  deadline: Date,
): Promise<ParkedList> {
  const window = windowOf(rows, deps.clock.now());
  const list = await deps.callLog.listCallLog(accountId, window);
  const { failure } = list;
  const pages = Math.max(1, Math.ceil(list.snapshot.records.length / recordsPerPage));
  if (failure?.kind === 'forbidden') {
    await askExtensions(deps, rows, deadline);
    return { pages, failed: 0, failure };
  }
  const sessions = sessionsOf(list.snapshot);
  const listed = await matchRows(deps, accountId, sessions, deadline);
  const covered = coverageOf(list, window);
  const { failed } = await takeListed(deps, listed, covered, deadline);
  await lookLater(deps, rows, madeOf(listed, covered), deadline);
  if (!failure) return { pages, failed };
  const missed = list.snapshot.records.length > 0 ? missedBy(covered, window, rows) : undefined;
  return { pages, failed, failure, ...(missed ? { outOfReach: missed } : {}) };
}

/** Sessions that the whole list would have had, and that it broke off before. */
function missedBy(covered: Window, window: Window, rows: readonly ParkedRow[]): Stretch | undefined {
  const starts = rows
    .filter((row) => isWithin(window, spanOfRow(row)) && row.startedAt < covered.from)
    .map(({ startedAt }) => startedAt.getTime());
  return starts.length > 0 ? { from: new Date(Math.min(...starts)), before: covered.from } : undefined;
}

export const madeOf = (listed: readonly Listed[], covered: Window): MadeList => ({
  covered,
  found: new Set(listed.map(({ row }) => row.telephonySessionId)),
});

/** Our rows of the sessions that a list has. */
export async function matchRows(
  { neon }: Pick<SweepDependencies, 'neon'>,
  accountId: string,
  { byTelephonySession, bySession }: ListedSessions,
  deadline: Date,
): Promise<Listed[]> {
  const ids = { telephonySessionIds: [...byTelephonySession.keys()], sessionIds: [...bySession.keys()] };
  const rows = await neon.run((db) => findSessionRows(db, accountId, ids), deadline);
  const snapshotOf = ({ telephonySessionId, sessionId }: SessionRow) =>
    byTelephonySession.get(telephonySessionId) ?? bySession.get(sessionId ?? '');
  return rows.flatMap((row) => {
    const snapshot = snapshotOf(row);
    return snapshot ? [{ row, snapshot }] : [];
  });
}

/** Whether a list has looked for a parked session, whatever came of it. */
export const wasLookedFor = ({ covered }: MadeList, row: ParkedRow): boolean =>
  isWithin(covered, spanOfRow(row));

const spanOfRow = (row: ParkedRow) => ({ startedAt: row.startedAt, endedAt: endOf(row) });

/** Those that a list should have and hasn't: again 5 min and 15 min 30 s after the end, and then no more. */
export async function lookLater(
  deps: Pick<SweepDependencies, 'neon' | 'clock' | 'log'>,
  rows: readonly ParkedRow[],
  list: MadeList,
  deadline: Date,
): Promise<void> {
  const { neon, clock } = deps;
  const unlisted = rows.filter((row) => wasLookedFor(list, row) && !list.found.has(row.telephonySessionId));
  const nextOf = (row: ParkedRow) => {
    const at = nextLookAt(endOf(row), clock.now());
    return at && ({ step: 'call_log', at } as const);
  };
  for (const some of chunksOf(unlisted, rowsPerBatch)) {
    await neon.run(
      (db) =>
        db.batch([
          limitStatements(db),
          ...some.flatMap((row) => {
            const next = nextOf(row);
            return next
              ? [moveOn(db, row, row, next)]
              : [giveUpCallLog(db, row, endOf(row)), moveOn(db, row, row, 'done')];
          }),
        ]),
      deadline,
    );
    for (const row of some) {
      const next = nextOf(row);
      if (next) tellParked(deps, row, next);
    }
  }
}

/** The account's call log is forbidden to us: each session is asked for by itself, at one of its extensions. */
export async function askExtensions(
  deps: Pick<SweepDependencies, 'neon' | 'clock' | 'log'>,
  rows: readonly ParkedRow[],
  deadline: Date,
): Promise<void> {
  const { neon, clock } = deps;
  const next = { step: 'extension_call_log', at: clock.now() } as const;
  for (const some of chunksOf(rows, rowsPerBatch)) {
    await neon.run(
      (db) => db.batch([limitStatements(db), ...some.map((row) => moveOn(db, row, row, next))]),
      deadline,
    );
    for (const row of some) tellParked(deps, row, next, 'heavy');
  }
}

/** Of the oldest sessions, as many as go into one window with all of their records. */
function windowOf(rows: readonly ParkedRow[], now: Date): Window {
  const firstStart = Math.min(...rows.map(({ startedAt }) => startedAt.getTime()));
  const from = firstStart - beforeMs;
  const ends = rows.map((row) => endOf(row).getTime());
  const firstEnd = Math.max(
    ...rows.filter(({ startedAt }) => startedAt.getTime() === firstStart).map((row) => endOf(row).getTime()),
  );
  const inReach = ends.filter((end) => end + afterMs <= from + longestMs);
  const to = Math.max(firstEnd, ...inReach) + afterMs;
  return { from: new Date(from), to: new Date(Math.min(to, now.getTime())) };
}
