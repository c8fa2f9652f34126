import { setTimeout as wait } from 'node:timers/promises';
import { type Clock, systemClock } from '../platform/clock.ts';
import { toDatabaseError } from './errors.ts';

export interface RetryOptions {
  /** No attempt begins after this, nor shortly before it. */
  deadline: Date;
  clock?: Clock;
  sleep?: (milliseconds: number) => Promise<unknown>;
  /** 0 to 1, for the jitter. */
  random?: () => number;
}

const maximumAttempts = 4;
const firstDelayMs = 100;
/** Less than this is not enough for a round trip. */
const shortestAttemptMs = 250;

/**
 * Runs an idempotent batch, again where the error says that it may help: at once when a kept connection had
 * died, after a growing, jittered pause otherwise. (Whether a lost answer's batch was committed is unknown:
 * that is why only idempotent work belongs here.)
 *
 * @throws DatabaseError for database errors, other errors as they are
 */
export async function retryTransient<T>(
  run: () => Promise<T>,
  { deadline, clock = systemClock, sleep = wait, random = Math.random }: RetryOptions,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      const failure = toDatabaseError(error);
      if (!failure) throw error;
      const { retry } = failure;
      const delayMs =
        retry === 'at-once' && attempt === 1 ? 0 : firstDelayMs * 2 ** (attempt - 1) * (0.5 + random());
      const leftMs = deadline.getTime() - clock.now().getTime() - delayMs;
      const exhausted = attempt >= (retry === 'once' ? 2 : maximumAttempts);
      if (retry === 'never' || exhausted || leftMs < shortestAttemptMs) throw failure;
      if (delayMs > 0) await sleep(delayMs);
    }
  }
}
