import type { Clock } from '../platform/clock.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Log } from '../platform/logger.ts';
import type { Meter } from '../platform/metrics.ts';
import type { Queue } from '../platform/queue.ts';
import { type CallWork, sendCallWork } from './message.ts';
import type { StepResult } from './step.ts';

export interface RedriveDependencies {
  queue: Pick<Queue, 'send'>;
  clock: Clock;
  log: Log;
  meter: Meter;
  /** From 0 up to 1. */
  random: () => number;
}

/** A message is cloned at most so often; the original and five clones stay under Lambda's loop detection of 16. */
const maximumRedrives = 5;
/** SQS's longest delay. */
const longestDelaySeconds = 900;
const spreadSeconds = { least: 120, most: 600 };

/** Seconds after a 429 until the clone comes: Retry-After and a spread, within what SQS can delay. */
export function redriveDelay(retryAfterSeconds: number, random: () => number): number {
  const spread = spreadSeconds.least + random() * (spreadSeconds.most - spreadSeconds.least);
  return Math.min(longestDelaySeconds, Math.ceil(retryAfterSeconds + spread));
}

/**
 * After a 429: sends a clone of the message with one redrive more, or says that there were enough. The clone goes
 * first: should the process die before the original is deleted, both run, and the work is idempotent.
 *
 * @returns whether the original may be acknowledged; otherwise SQS receives it again, and then has the DLQ for it
 * @throws the queue's errors: then there is no clone, and the original stays
 */
export async function redrive(
  { queue, clock, log, meter, random }: RedriveDependencies,
  work: CallWork,
  { retryAfterSeconds, group }: Extract<StepResult, { kind: 'redrive' }>,
): Promise<boolean> {
  const { accountId, telephonySessionId, redriveCount } = work;
  const ids = { account_id: accountId, telephony_session_id: telephonySessionId, rate_limit_group: group };
  if (redriveCount >= maximumRedrives) {
    log.error(logEvents.redriveExhausted, {
      ...ids,
      redrive_count: redriveCount,
      retry_outcome: 'batch_item_failure',
    });
    return false;
  }
  const delaySeconds = redriveDelay(retryAfterSeconds, random);
  const clone = { ...work, redriveCount: redriveCount + 1 };
  await sendCallWork(queue, clone, { now: clock.now(), delaySeconds });
  meter.count('CallRedriven');
  log.warn(logEvents.redriveScheduled, {
    ...ids,
    redrive_count: clone.redriveCount,
    delay_seconds: delaySeconds,
  });
  log.info(logEvents.redriveAcknowledged, {
    ...ids,
    previous_redrive_count: redriveCount,
    retry_outcome: 'clone_sent',
  });
  return true;
}
