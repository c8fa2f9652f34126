import { logEvents } from '../../platform/log-events.ts';
import type { Failure } from '../../ringcentral/errors.ts';
import { sendCallWork } from '../message.ts';
import { moveOn } from '../parking.ts';
import type { SweepDependencies } from './dependencies.ts';
import { forbiddenSince, isForbidden, isOutOfReach, outOfReach } from './list-memory.ts';
import {
  askExtensions,
  listParked,
  lookLater,
  type MadeList,
  type ParkedList,
  wasLookedFor,
} from './list-parked.ts';
import { findParked, type ParkedRow, type ParkedWork } from './parked-rows.ts';
import type { Schedule } from './schedule.ts';
import { chunksOf } from './session-rows.ts';
import {
  backLimitOf,
  type PlannedMessage,
  planLists,
  planMessages,
  type SlotsLeft,
  type WorkClass,
} from './slots.ts';

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
/** By then the row says that the message is sent: one that found it parked would leave the call log to us. */
const movedOnBySeconds = 5;
const classes: readonly WorkClass[] = ['live', 'back'];

/**
 * Sends an account's parked work on, as far as its Heavy slots of this minute go: lists first in time, since they
 * need a slot at once, then messages, each with a delay until its slots have grown. Sessions that no list serves are
 * asked for one by one.
 *
 * @param passed the list that a pass has made in this minute
 * @throws errors of state table, database and queue
 */
export async function pump(
  deps: SweepDependencies,
  accountId: string,
  schedule: Schedule,
  passed: MadeList | undefined,
  deadline: Date,
): Promise<PumpReport> {
  const { neon, clock, log } = deps;
  const find = () => neon.run((db) => findParked(db, accountId, clock.now()), deadline);
  const before = await find();
  const slots = await slotsOf(deps, accountId);
  const isAlone = (row: ParkedRow) => waitsForList(row) && isOutOfReach(schedule, clock.now(), row);
  const lists = await makeLists(
    deps,
    accountId,
    schedule,
    { work: before, slots, passed, isAlone },
    deadline,
  );
  const work = await find();
  const backLimit = backLimitOf(slots, before.live.some(needsSlot)) - lists.backPages;
  const rows = { live: inOrder(work.live, isAlone), back: inOrder(work.back, isAlone) };
  const paced = planMessages(rows, await slotsOf(deps, accountId), backLimit);
  const free = [...work.live, ...work.back].filter((row) => !needsSlot(row)).slice(0, freeMessages);
  const sent = await sendWork(deps, paced, free, deadline);
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
    sent_alone: sent.alone,
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

interface Wanted {
  work: ParkedWork;
  slots: SlotsLeft;
  passed: MadeList | undefined;
  /** No list serves this session. */
  isAlone(row: ParkedRow): boolean;
}

interface Lists {
  made: number;
  backPages: number;
  failed: number;
  failure?: Failure;
}

async function makeLists(
  deps: SweepDependencies,
  accountId: string,
  schedule: Schedule,
  { work, slots, passed, isAlone }: Wanted,
  deadline: Date,
): Promise<Lists> {
  const unlisted = { live: work.live.filter(waitsForList), back: work.back.filter(waitsForList) };
  if (passed) await lookLater(deps, [...unlisted.live, ...unlisted.back], passed, deadline);
  const rowsOf = (workClass: WorkClass) =>
    unlisted[workClass].filter((row) => !isAlone(row) && (!passed || !wasLookedFor(passed, row)));
  const lists: Lists = { made: 0, backPages: 0, failed: 0 };
  if (isForbidden(schedule, deps.clock.now())) {
    await askExtensions(deps, [...rowsOf('live'), ...rowsOf('back')], deadline);
    return lists;
  }
  const wishOf = (workClass: WorkClass) => ({
    messages: work[workClass].filter(hasContent).reduce((sum, { openRecordings }) => sum + openRecordings, 0),
    wantsList: rowsOf(workClass).length > 0,
  });
  const wanted = planLists({ live: wishOf('live'), back: wishOf('back') }, slots);
  for (const workClass of classes.filter((one) => wanted.includes(one))) {
    if (deadline.getTime() - deps.clock.now().getTime() < listTimeMs) break;
    const list = await listParked(deps, accountId, rowsOf(workClass), deadline);
    lists.made += 1;
    lists.failed += list.failed;
    if (workClass === 'back') lists.backPages += list.pages;
    if (list.failure) {
      await remember(schedule, list, deps.clock.now());
      return { ...lists, failure: list.failure };
    }
  }
  return lists;
}

/** What a list has come up against, so that the next minutes don't make the same one for the same sessions. */
async function remember(
  schedule: Schedule,
  { failure, outOfReach: missed }: ParkedList,
  now: Date,
): Promise<void> {
  if (failure?.kind === 'forbidden') await schedule.set(forbiddenSince(now));
  if (missed) await schedule.set(outOfReach(missed, now));
}

async function sendWork(
  deps: SweepDependencies,
  paced: readonly PlannedMessage<{ parked: ParkedRow; slots: number }>[],
  free: readonly ParkedRow[],
  deadline: Date,
): Promise<Record<WorkClass | 'free' | 'alone' | 'movedOn', number>> {
  const messages = [
    ...paced.map(({ row: { parked }, delaySeconds }) => ({
      row: parked,
      delaySeconds: wantsCallLog(parked) ? Math.max(delaySeconds, movedOnBySeconds) : delaySeconds,
    })),
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
  const alone = paced.filter(({ row }) => wantsCallLog(row.parked)).length;
  return { live: sent('live'), back: sent('back'), free: free.length, alone, movedOn };
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
const asksExtension = ({ nextStep }: ParkedRow) => nextStep === 'extension_call_log';
const wantsCallLog = (row: ParkedRow) => waitsForList(row) || asksExtension(row);
const needsSlot = (row: ParkedRow) => wantsCallLog(row) || hasContent(row);

/** Recordings that are known before the sessions that are asked for one by one. */
function inOrder(
  rows: readonly ParkedRow[],
  isAlone: (row: ParkedRow) => boolean,
): { parked: ParkedRow; slots: number }[] {
  return [
    ...rows.filter(hasContent).map((parked) => ({ parked, slots: parked.openRecordings })),
    ...rows.filter((row) => asksExtension(row) || isAlone(row)).map((parked) => ({ parked, slots: 1 })),
  ];
}
