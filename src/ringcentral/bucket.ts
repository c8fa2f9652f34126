import type { RateLimitHeaders } from './rate-limit-headers.ts';
import type { RateLimitGroup } from './surfaces.ts';

/**
 * A token bucket as one point in time: at `emptyAt` it held nothing, and has filled since. A slot costs `slotMs`.
 * With rate = 0.8 x limit/window and burst = 0.2 x limit, a window's requests are at most burst + rate x window
 * = limit, whichever window one looks at.
 */
export interface Bucket {
  limit: number;
  windowSeconds: number;
  /** Epoch milliseconds; in the future while the gate is closed or pays for a limit that shrank. */
  emptyAt: number;
  /** Epoch milliseconds until which a 429 closed the gate; 0 if none ever did. */
  closedUntil: number;
}

/** At most so many requests in any window. */
export type Limit = Pick<Bucket, 'limit' | 'windowSeconds'>;

/** RingCentral's defaults per user, application and minute, until an answer says otherwise. */
const defaultLimits: Record<RateLimitGroup, number> = { light: 50, medium: 40, heavy: 10, auth: 5 };
const defaultWindowSeconds = 60;
/** RingCentral: without a Retry-After wait at least 30 s. */
const minimumPenaltySeconds = 30;

export function newBucket(group: RateLimitGroup): Bucket {
  return { limit: defaultLimits[group], windowSeconds: defaultWindowSeconds, emptyAt: 0, closedUntil: 0 };
}

/** Milliseconds in which one slot grows: 1 / (0.8 x limit/window). */
export function slotMs({ limit, windowSeconds }: Limit): number {
  return Math.ceil((1000 * windowSeconds) / (0.8 * limit));
}

/** How long an empty bucket takes to fill: burst x slotMs, the burst being at least one slot. */
function depthMs(bucket: Bucket): number {
  return Math.floor(Math.max(1, bucket.limit / 5) * slotMs(bucket));
}

/** A full bucket doesn't overflow into the future. */
const filledSince = (bucket: Bucket, now: number) => Math.max(bucket.emptyAt, now - depthMs(bucket));

/** The bucket with one slot less, or how long until there is one. */
export function takeSlot(bucket: Bucket, now: number): { bucket: Bucket } | { waitMs: number } {
  const emptyAt = filledSince(bucket, now) + slotMs(bucket);
  return emptyAt <= now ? { bucket: { ...bucket, emptyAt } } : { waitMs: emptyAt - now };
}

/** How many slots can be taken from now until `withinMs` from now. */
export function slotsWithin(bucket: Bucket, now: number, withinMs: number): number {
  return Math.max(0, Math.floor((now + withinMs - filledSince(bucket, now)) / slotMs(bucket)));
}

/** After a 429: closed for Retry-After, at least 30 s, forward only; it reopens empty. */
export function closeBucket(bucket: Bucket, now: number, retryAfterSeconds: number): Bucket {
  const until = now + Math.max(retryAfterSeconds, minimumPenaltySeconds) * 1000;
  return {
    ...bucket,
    closedUntil: Math.max(bucket.closedUntil, until),
    emptyAt: Math.max(bucket.emptyAt, until),
  };
}

/**
 * Whether an answer's limit or window differ from those under which its request took its slot. Not from those
 * that are known by now: an old answer must not undo what a newer one has taught.
 */
export function isNews(
  taken: Limit,
  headers: RateLimitHeaders,
): headers is RateLimitHeaders & { limit: number; windowSeconds: number } {
  const { limit, windowSeconds } = headers;
  if (!limit || !windowSeconds) return false;
  return limit !== taken.limit || windowSeconds !== taken.windowSeconds;
}

/**
 * Takes over limit and window of an answer, both or none. A stricter limit also counts what the last window
 * already spent under the old one: only `remaining - 0.8 x limit` slots are left now (usually a debt), so that
 * the window that holds both stays within the new limit.
 *
 * @param taken limit and window under which the answered request took its slot
 */
export function learnLimit(bucket: Bucket, taken: Limit, headers: RateLimitHeaders, now: number): Bucket {
  if (!isNews(taken, headers)) return bucket;
  const { limit, windowSeconds, remaining = 0 } = headers;
  const told = { limit, windowSeconds };
  // Once another answer has changed the bucket, nobody knows which one is newer: the stricter one counts.
  const unchanged = bucket.limit === taken.limit && bucket.windowSeconds === taken.windowSeconds;
  const learned = unchanged || !isLaxer(told, bucket) ? { ...bucket, ...told } : bucket;
  if (isLaxer(told, taken)) return learned;
  const debtPaidAt = now + (0.8 * limit - remaining) * slotMs(told);
  return { ...learned, emptyAt: Math.max(bucket.emptyAt, Math.ceil(debtPaidAt)) };
}

const isLaxer = (a: Limit, b: Limit) => a.limit >= b.limit && a.windowSeconds <= b.windowSeconds;
