import { logEvents } from '../../platform/log-events.ts';
import type { Failure } from '../../ringcentral/errors.ts';
import type { SweepDependencies } from './dependencies.ts';
import { takeUnknown } from './found-calls.ts';
import { giveUpOld } from './give-up.ts';
import { forbiddenSince } from './list-memory.ts';
import { type MadeList, madeOf, matchRows } from './list-parked.ts';
import { coverageOf, type ListedSessions, sessionsOf, type Window } from './list-sessions.ts';
import { hasOpenCalls } from './open-calls.ts';
import { askOpenAlone, retryOpen } from './retry-open.ts';
import type { Schedule } from './schedule.ts';
import { fetchStragglers } from './stragglers.ts';
import { type Listed, takeListed } from './take-list.ts';

export interface PassReport {
  /** The list that was made, for the pump. */
  list?: MadeList;
  /** Calls that no webhook told of, but those of an account's first pass, which began before there were any. */
  withoutWebhook: number;
  /** Sessions whose work failed. */
  failed: number;
  failure?: Failure;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const shortMs = 2 * hourMs;
const fullMs = 26 * hourMs;
/** After an outage of ours a full pass reaches as far back as the one that should have been, at most so far. */
const lateMs = 2 * hourMs;
const longestMs = 7 * 24 * hourMs;
/** A pass that goes on where it broke off sees the sessions whole that the first part cut. */
const overlapMs = hourMs;
/** The schedule's own jitter must not turn five minutes into six. */
const jitterMs = 30_000;
const tryAgainMs = 5 * minuteMs;

/**
 * Looks into an account's call log for what the webhooks didn't tell: each hour over the last 26 hours, else every
 * five minutes over the last two, if sessions are open there. What is to be fetched is parked. Without a slot the pass
 * stays due; one that broke off goes on where it was.
 *
 * @throws errors of database, state table and StoresV2
 */
export async function runPass(
  deps: SweepDependencies,
  accountId: string,
  schedule: Schedule,
  deadline: Date,
): Promise<PassReport> {
  const now = deps.clock.now();
  const due = schedule.due(now);
  if (due.has('full_pass_at')) return fullPass(deps, accountId, schedule, deadline);
  return shortPass(deps, accountId, schedule, deadline);
}

async function shortPass(
  deps: SweepDependencies,
  accountId: string,
  schedule: Schedule,
  deadline: Date,
): Promise<PassReport> {
  const now = deps.clock.now();
  const window = { from: new Date(now.getTime() - shortMs), to: now };
  const isOpen = await deps.neon.run((db) => hasOpenCalls(db, accountId, window.from), deadline);
  const looked = isOpen ? await look(deps, accountId, window, deadline) : undefined;
  if (looked?.failure && !looked.list) {
    if (looked.failure.kind !== 'forbidden') return settle(deps, accountId, schedule, 'short', looked);
    await askOpenAlone(deps, accountId, { since: window.from, all: false }, deadline);
  }
  const stragglers = await fetchStragglers(deps, accountId, window.from, deadline);
  const retried = await retryOpen(deps, accountId, { pass: 'short', since: window.from }, deadline);
  await schedule.set({
    pass_at: now.getTime() + 5 * minuteMs - jitterMs,
    ...(looked ? permissionOf(looked, now) : {}),
  });
  return report(deps, accountId, 'short', looked ?? nothing, { stragglers: stragglers.asked, retried });
}

async function fullPass(
  deps: SweepDependencies,
  accountId: string,
  schedule: Schedule,
  deadline: Date,
): Promise<PassReport> {
  const now = deps.clock.now();
  const window = fullWindow(schedule, now);
  const all = await look(deps, accountId, window, deadline);
  // An account's first pass finds calls that began before there were webhooks.
  const looked = schedule.at('full_passed_at') === undefined ? { ...all, withoutWebhook: 0 } : all;
  const isForbidden = looked.failure?.kind === 'forbidden';
  if (looked.failure && !isForbidden) {
    if (looked.list) await schedule.set({ full_pass_to: goOnAt(looked.list.covered) });
    return settle(deps, accountId, schedule, 'full', looked);
  }
  if (!looked.complete) return report(deps, accountId, 'full', looked, {});
  // Before anything is parked, since what is parked isn't given up.
  const gave_up = await giveUpOld(deps, accountId, isForbidden, deadline);
  if (isForbidden) await askOpenAlone(deps, accountId, { since: window.from, all: true }, deadline);
  const stragglers = await fetchStragglers(deps, accountId, window.from, deadline);
  const since = new Date(now.getTime() - fullMs);
  const retried = await retryOpen(deps, accountId, { pass: 'full', since }, deadline);
  await schedule.set({
    full_pass_at: now.getTime() + hourMs - jitterMs,
    pass_at: now.getTime() + 5 * minuteMs - jitterMs,
    full_pass_to: undefined,
    full_passed_at: now.getTime(),
    ...permissionOf(looked, now),
  });
  return report(deps, accountId, 'full', looked, { stragglers: stragglers.asked, retried, gave_up });
}

/** For the pump, whose lists would be refused as this one was. */
const permissionOf = ({ failure }: Looked, now: Date) =>
  failure?.kind === 'forbidden' ? forbiddenSince(now) : { forbidden_until: undefined };

function fullWindow(schedule: Schedule, now: Date): Window {
  const last = schedule.at('full_passed_at') ?? now.getTime();
  const isLate = last < now.getTime() - lateMs;
  const from = Math.max((isLate ? last : now.getTime()) - fullMs, now.getTime() - longestMs);
  const to = Math.min(now.getTime(), schedule.at('full_pass_to') ?? now.getTime());
  return { from: new Date(from), to: new Date(to) };
}

/** Where the rest of a broken-off window ends: some of it is listed twice, but always less than before. */
function goOnAt({ from, to }: Window): number {
  return from.getTime() + Math.min(overlapMs, (to.getTime() - from.getTime()) / 2);
}

interface Looked {
  records: number;
  stored: number;
  parked: number;
  /** Sessions that had no row. */
  found: number;
  withoutWebhook: number;
  failed: number;
  /** Whether time was enough for all that the list has. */
  complete: boolean;
  list?: MadeList;
  failure?: Failure;
}

const nothing: Looked = {
  records: 0,
  stored: 0,
  parked: 0,
  found: 0,
  withoutWebhook: 0,
  failed: 0,
  complete: true,
};

/** One list, and what it brings to light. `list` is missing when not even a page came. */
async function look(
  deps: SweepDependencies,
  accountId: string,
  window: Window,
  deadline: Date,
): Promise<Looked> {
  const list = await deps.callLog.listCallLog(accountId, window);
  const { snapshot, failure } = list;
  if (failure && snapshot.records.length === 0) return { ...nothing, failure };
  const covered = coverageOf(list, window);
  const sessions = sessionsOf(snapshot);
  const listed = await matchRows(deps, accountId, sessions, deadline);
  const made = madeOf(listed, covered);
  const taken = await takeListed(deps, listed, covered, deadline);
  const unknown = unknownOf(sessions, listed).map(([telephonySessionId, snapshot]) => ({
    accountId,
    telephonySessionId,
    snapshot,
  }));
  const found = await takeUnknown(deps, unknown, deadline);
  return {
    records: snapshot.records.length,
    stored: taken.stored + found.found,
    parked: taken.parked + found.parked,
    found: found.found,
    withoutWebhook: found.found,
    failed: taken.failed + found.failed,
    complete: taken.complete && found.complete,
    list: made,
    ...(failure ? { failure } : {}),
  };
}

/** Sessions without a row, by their records' own ids: a leg may name a session that is no call by itself. */
function unknownOf({ byTelephonySession }: ListedSessions, listed: readonly Listed[]) {
  const known = new Set(listed.flatMap(({ snapshot }) => snapshot.records.map(({ id }) => id)));
  return [...byTelephonySession].filter(([telephonySessionId, { records }]) =>
    records.every(
      (record) =>
        !known.has(record.id) && (record.telephonySessionId ?? telephonySessionId) === telephonySessionId,
    ),
  );
}

/** A list that failed: again in a minute, but not where only a person can help. */
async function settle(
  deps: SweepDependencies,
  accountId: string,
  schedule: Schedule,
  kind: 'short' | 'full',
  looked: Looked,
): Promise<PassReport> {
  if (looked.failure?.kind === 'configuration') {
    const at = deps.clock.now().getTime() + tryAgainMs - jitterMs;
    await schedule.set(kind === 'full' ? { full_pass_at: at, pass_at: at } : { pass_at: at });
  }
  return report(deps, accountId, kind, looked, {});
}

function report(
  { log }: SweepDependencies,
  accountId: string,
  kind: 'short' | 'full',
  { list, failure, failed, complete, withoutWebhook, ...counts }: Looked,
  more: Record<string, number>,
): PassReport {
  log.info(logEvents.passFinished, {
    account_id: accountId,
    kind,
    ...counts,
    without_webhook: withoutWebhook,
    failed,
    complete: complete && failure === undefined,
    list_failure: failure?.kind,
    ...more,
  });
  return {
    withoutWebhook,
    failed,
    ...(list ? { list } : {}),
    ...(failure ? { failure } : {}),
  };
}
