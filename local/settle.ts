import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalMailbox } from './imap.ts';
import type { Journal } from './journal.ts';
import type { LocalStage } from './stage.ts';

export interface SettleLimits {
  /** For one tick and all that follows from it. */
  tickMs: number;
  /** Ticks in a row that settle no mail, until the rest is given up. */
  idleTicks: number;
  betweenIdleTicksMs: number;
}

const defaults: SettleLimits = { tickMs: 10 * 60_000, idleTicks: 4, betweenIdleTicksMs: 3_000 };
const pollMs = 100;

/**
 * Lets the schedules tick until no mail is left unseen, and waits until all that follows is done: queues
 * empty, no invocation or delivery under way. What can't be finished is recorded in the journal.
 */
export async function settle(
  stage: LocalStage,
  mailbox: Pick<LocalMailbox, 'unseen'>,
  journal: Journal,
  limits: SettleLimits = defaults,
): Promise<void> {
  let idleTicks = 0;
  let left = mailbox.unseen().length;
  for (;;) {
    stage.schedules.tick();
    if (!(await untilIdle(stage, Date.now() + limits.tickMs))) {
      journal.fail(
        'time_limit',
        'run',
        `still busy after ${limits.tickMs / 1000} s: ${await busyQueues(stage)}`,
      );
      return;
    }
    const now = mailbox.unseen().length;
    if (now === 0) return;
    idleTicks = now < left ? 0 : idleTicks + 1;
    left = now;
    if (idleTicks >= limits.idleTicks) {
      journal.fail(
        'mail_unsettled',
        'mailbox',
        `${left} left unseen after ${idleTicks} ticks without progress`,
      );
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
