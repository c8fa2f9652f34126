import { setTimeout as sleep } from 'node:timers/promises';
import type { RulePlan } from './assembly/rules.ts';
import type { Journal } from './journal.ts';
import type { LocalStage } from './stage.ts';

export interface SettleLimits {
  /** For one tick and all that follows from it: a call that isn't in the call log is given up after 15.5 min. */
  tickMs: number;
  /** Ticks in a row that settle nothing, until the rest is given up. */
  idleTicks: number;
  betweenIdleTicksMs: number;
}

/** What of the calls isn't done. */
export interface OpenCalls {
  /** Calls that wait for the sweep, and those that it would find something new of. */
  left: number;
  /** Epoch milliseconds at which RingCentral will have something that it doesn't have yet. */
  comingAt?: number;
  /** Epoch milliseconds at which the first of them is to be looked at again, where nothing is before. */
  dueAt?: number;
}

/** What there may be left to do besides what is under way. */
export interface Work {
  /** Mails that no tick has settled. */
  unseen(): readonly number[];
  openCalls(): Promise<OpenCalls>;
  isSweep(rule: RulePlan): boolean;
}

const defaults: SettleLimits = { tickMs: 20 * 60_000, idleTicks: 4, betweenIdleTicksMs: 3_000 };
const pollMs = 100;

/**
 * Lets the schedules tick until nothing is left to do, and waits until all that follows is done: queues empty,
 * no invocation or delivery under way. The sweep looks for late recordings every few minutes only, so its first
 * tick waits until they have come. What can't be finished is recorded in the journal.
 */
export async function settle(
  stage: LocalStage,
  work: Work,
  journal: Journal,
  limits: SettleLimits = defaults,
): Promise<void> {
  const end = Date.now() + limits.tickMs;
  let idleTicks = 0;
  let before = { mails: work.unseen().length, calls: Number.POSITIVE_INFINITY };
  for (;;) {
    const { comingAt } = await work.openCalls();
    const waits = comingAt !== undefined && comingAt > Date.now();
    stage.schedules.tick(waits ? work.isSweep : undefined);
    if (!(await untilIdle(stage, Date.now() + limits.tickMs))) {
      journal.fail(
        'time_limit',
        'run',
        `still busy after ${limits.tickMs / 1000} s: ${await busyQueues(stage)}`,
      );
      return;
    }
    if (waits) {
      await sleep(comingAt - Date.now());
      continue;
    }
    const mails = work.unseen().length;
    const { left: calls, dueAt } = await work.openCalls();
    if (mails + calls === 0) return;
    if (mails === 0 && dueAt !== undefined && dueAt > Date.now() && dueAt < end) {
      await sleep(dueAt - Date.now());
      continue;
    }
    const isFirstOfCalls = calls === 0 && before.calls === Number.POSITIVE_INFINITY;
    const hasMoved = mails < before.mails || (calls < before.calls && !isFirstOfCalls);
    idleTicks = hasMoved ? 0 : idleTicks + 1;
    before = { mails, calls };
    if (idleTicks >= limits.idleTicks) {
      const after = `after ${idleTicks} ticks without progress`;
      if (mails > 0) journal.fail('mail_unsettled', 'mailbox', `${mails} left unseen ${after}`);
      if (calls > 0) journal.fail('call_unsettled', 'calls', `${calls} left unfinished ${after}`);
      return;
    }
    if (idleTicks > 0) await sleep(limits.betweenIdleTicksMs);
  }
}

/** Idle twice in a row: between the looks at two queues a message may have gone from one to the other. */
async function untilIdle(stage: LocalStage, end: number): Promise<boolean> {
  let idleLooks = 0;
  while (idleLooks < 2) {
    if (Date.now() > end) return false;
    idleLooks = (await stage.isIdle()) ? idleLooks + 1 : 0;
    await sleep(pollMs);
  }
  return true;
}

async function busyQueues({ queues }: LocalStage): Promise<string> {
  const busy: string[] = [];
  for (const { name, arn } of queues.plans) {
    const { visible, inFlight, delayed } = await queues.depth(arn);
    const waiting = visible + inFlight + delayed;
    if (waiting > 0) busy.push(`${waiting} in ${name}`);
  }
  return busy.join(', ') || 'an invocation is running';
}
