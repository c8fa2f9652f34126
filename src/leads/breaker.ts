import type { Clock } from '../platform/clock.ts';
import { errorCode } from '../platform/errors.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Log } from '../platform/logger.ts';
import { conditionFailed, type StateTable } from '../platform/state-table.ts';

/** Consecutive infrastructure failures that open the breaker, and the pause, both from the seed. */
export const breakerThreshold = 5;
export const breakerPauseMs = 15 * 60_000;

const key = 'breaker#neon';

export type BreakerDecision =
  | { allowed: true; probe: boolean }
  | { allowed: false; remainingSeconds: number };

/**
 * The circuit breaker before the stage's Neon. Its state is in the state table, since a memory of its own
 * would be forgotten between two ticks of a five-minute schedule. A state table that can't be read means
 * closed: the breaker saves time, it never costs a lead.
 */
export interface Breaker {
  /** Asked before a write. After the pause exactly one caller gets the probe. */
  check(): Promise<BreakerDecision>;
  /** One success closes the breaker and resets the count. */
  succeeded(): Promise<void>;
  /** Reports an infrastructure failure; an error that Postgres itself answered is none. Answers whether the breaker is open now. */
  failed(): Promise<boolean>;
}

export function createBreaker(state: StateTable, clock: Clock, log: Log): Breaker {
  /** Known failures, so that the usual success costs no write. `undefined` = not read yet. */
  let known: { failures: number; openUntil: number } | undefined;

  const remember = (item: Record<string, unknown> | undefined) => {
    known = { failures: Number(item?.failures ?? 0), openUntil: Number(item?.open_until ?? 0) };
    return known;
  };

  async function orClosed<T>(work: () => Promise<T>, closed: T): Promise<T> {
    try {
      return await work();
    } catch (error) {
      log.warn(logEvents.stateUnreadable, { state: key, error_code: errorCode(error) });
      return closed;
    }
  }

  return {
    check: () =>
      orClosed<BreakerDecision>(
        async () => {
          const { failures, openUntil } = remember(await state.get(key));
          if (failures < breakerThreshold) return { allowed: true, probe: false };
          const now = clock.now().getTime();
          if (now < openUntil)
            return { allowed: false, remainingSeconds: Math.ceil((openUntil - now) / 1000) };
          // The pause is over: whoever moves open_until first is the probe, the others wait one more pause.
          const probe = await state.update(key, {
            update: 'SET open_until = :next',
            condition: 'open_until = :seen',
            values: { ':next': now + breakerPauseMs, ':seen': openUntil },
          });
          if (probe !== conditionFailed) return { allowed: true, probe: true };
          return { allowed: false, remainingSeconds: Math.ceil(breakerPauseMs / 1000) };
        },
        { allowed: true, probe: false },
      ),

    succeeded: () =>
      orClosed(async () => {
        if (known?.failures === 0) return;
        if ((known ?? remember(await state.get(key))).failures === 0) return;
        const wasOpen = (known?.failures ?? 0) >= breakerThreshold;
        await state.delete(key);
        remember(undefined);
        if (wasOpen) log.info(logEvents.breakerClosed);
      }, undefined),

    failed: () =>
      orClosed(async () => {
        const before = known;
        const item = await state.update(key, {
          update: 'SET open_until = :until ADD failures :one',
          values: { ':until': clock.now().getTime() + breakerPauseMs, ':one': 1 },
        });
        const { failures } = remember(item === conditionFailed ? undefined : item);
        if (failures >= breakerThreshold && (before?.failures ?? 0) < breakerThreshold) {
          log.error(logEvents.breakerOpened, { failures });
        }
        return failures >= breakerThreshold;
      }, false),
  };
}
