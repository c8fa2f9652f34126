import { logEvents } from '../../platform/log-events.ts';
import type { Failure } from '../../ringcentral/errors.ts';
import { sendCallWork } from '../message.ts';
import { moveOn } from '../parking.ts';
import type { SweepDependencies } from './dependencies.ts';
import { listParked, lookLater, type MadeList, wasLookedFor } from './list-parked.ts';
import { findParked, type ParkedRow, type ParkedWork } from './parked-rows.ts';
import { chunksOf } from './session-rows.ts';
import { backLimitOf, planLists, planMessages, type SlotsLeft, type WorkClass } from './slots.ts';

export interface PumpReport {
  /** Parked sessions when it began, and when it ended. */
  parked: number;
  left: number;
  /** Listed sessions that couldn't be stored. */
  failed: number;
  failure?: Failure;
}

/** Messages without a Heavy slot: more at a time would only crowd the processor. */
const freeMessages = 100;
const sendsAtOnce = 10;
/** A list takes up to 30 s, and what it has must be stored. */
const listTimeMs = 40_000;
const classes: readonly WorkClass[] = ['live', 'back'];

/**
 * Sends an account's parked work on, as far as its Heavy slots of this minute go: lists first in time, since they
 * need a slot at once, then messages, each with a delay until its slots have grown.
 *
 * @param passed the list that a pass has made in this minute
 * @throws errors of state table, database and queue
 */
export async function pump(
  deps: SweepDependencies,
  accountId: string,
  passed: MadeList | undefined,
  deadline: Date,
): Promise<PumpReport> {
  const { neon, clock, log } = deps;
  const find = () => neon.run((db) => findParked(db, accountId, clock.now()), deadline);
  const before = await find();
  const slots = await slotsOf(deps, accountId);
  const lists = await makeLists(deps, accountId, before, slots, passed, deadline);
  const work = await find();
  const backLimit = backLimitOf(slots, before.live.some(needsSlot)) - lists.backPages;
  const sent = await sendWork(deps, work, await slotsOf(deps, accountId), backLimit, deadline);
  const left = work.parked - sent.movedOn;
  log.info(logEvents.pumpFinished, {
    account_id: accountId,
    parked: before.parked,
    left,
    slots: slots.thisMinute,
    lists: lists.made,
    list_failure: lists.failure?.kind,
    sent_live: sent.live,
    sent_back: sent.back,
    sent_free: sent.free,
  });
  return {
    parked: before.parked,
    left,
    failed: lists.failed,
    ...(lists.failure ? { failure: lists.failure } : {}),
  };
}

/** None while the gate is closed, though it may open within the minute. */
async function slotsOf({ gate }: SweepDependencies, accountId: string): Promise<SlotsLeft> {
  const status = await gate.status({ owner: accountId, group: 'heavy' });
  const { slotsNow, slotsThisMinute, secondsPerSlot, closedUntil } = status;
  return closedUntil
    ? { now: 0, thisMinute: 0, secondsPerSlot }
    : { now: slotsNow, thisMinute: slotsThisMinute, secondsPerSlot };
}

async function makeLists(
  deps: SweepDependencies,
  accountId: string,
  work: ParkedWork,
  slots: SlotsLeft,
  passed: MadeList | undefined,
  deadline: Date,
): Promise<{ made: number; backPages: number; failed: number; failure?: Failure }> {
  const unlisted = { live: work.live.filter(waitsForList), back: work.back.filter(waitsForList) };
  if (passed) await lookLater(deps, [...unlisted.live, ...unlisted.back], passed, deadline);
  const rowsOf = (workClass: WorkClass) =>
    unlisted[workClass].filter((row) => !passed || !wasLookedFor(passed, row));
  const wishOf = (workClass: WorkClass) => ({
    messages: work[workClass].filter(hasContent).reduce((sum, { openRecordings }) => sum + openRecordings, 0),
    wantsList: rowsOf(workClass).length > 0,
  });
  const lists = { made: 0, backPages: 0, failed: 0 };
  const wanted = planLists({ live: wishOf('live'), back: wishOf('back') }, slots);
  for (const workClass of classes.filter((one) => wanted.includes(one))) {
    if (deadline.getTime() - deps.clock.now().getTime() < listTimeMs) break;
    const { pages, failed, failure } = await listParked(deps, accountId, rowsOf(workClass), deadline);
    lists.made += 1;
    lists.failed += failed;
    if (workClass === 'back') lists.backPages += pages;
    if (failure) return { ...lists, failure };
  }
  return lists;
}

async function sendWork(
  deps: SweepDependencies,
  work: ParkedWork,
  slots: SlotsLeft,
  backLimit: number,
  deadline: Date,
): Promise<Record<WorkClass | 'free' | 'movedOn', number>> {
  const rows = { live: inOrder(work.live), back: inOrder(work.back) };
  const paced = planMessages(rows, slots, backLimit);
  const free = [...work.live, ...work.back].filter((row) => !needsSlot(row)).slice(0, freeMessages);
  const messages = [
    ...paced.map(({ row: { parked }, delaySeconds }) => ({ row: parked, delaySeconds })),
    ...free.map((row) => ({ row, delaySeconds: 0 })),
  ];
  let movedOn = 0;
  for (const some of chunksOf(messages, sendsAtOnce)) {
    const moved = await Promise.all(
      some.map(({ row, delaySeconds }) => sendOn(deps, row, delaySeconds, deadline)),
    );
    movedOn += moved.filter(Boolean).length;
  }
  const sent = (one: WorkClass) => paced.filter(({ workClass }) => workClass === one).length;
  return { live: sent('live'), back: sent('back'), free: free.length, movedOn };
}

/**
 * Sends first: dying in between means a message twice, which ends in the same rows. Whether the row moved on: it stays
 * parked when the message has been parked anew already.
 */
async function sendOn(
  { queue, neon, clock }: SweepDependencies,
  row: ParkedRow,
  delaySeconds: number,
  deadline: Date,
): Promise<boolean> {
  const { accountId, telephonySessionId } = row;
  const work = { kind: 'session', accountId, telephonySessionId, redriveCount: 0 } as const;
  await sendCallWork(queue, work, { now: clock.now(), delaySeconds });
  const { rowCount } = await neon.run((db) => moveOn(db, row, row, 'sent'), deadline);
  return (rowCount ?? 0) > 0;
}

const waitsForList = ({ nextStep }: ParkedRow) => nextStep === 'call_log';
const hasContent = ({ nextStep, openRecordings }: ParkedRow) =>
  nextStep === 'recording' && openRecordings > 0;
const isAskedAlone = ({ nextStep }: ParkedRow) => nextStep === 'extension_call_log';
const needsSlot = (row: ParkedRow) => waitsForList(row) || hasContent(row) || isAskedAlone(row);

/** Recordings that are known before the sessions that are asked for one by one. */
function inOrder(rows: readonly ParkedRow[]): { parked: ParkedRow; slots: number }[] {
  return [
    ...rows.filter(hasContent).map((parked) => ({ parked, slots: parked.openRecordings })),
    ...rows.filter(isAskedAlone).map((parked) => ({ parked, slots: 1 })),
  ];
}
