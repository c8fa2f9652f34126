import type { Clock } from '../platform/clock.ts';
import type { StateTable } from '../platform/state-table.ts';
import {
  type Bucket,
  closeBucket,
  isNews,
  learnLimit,
  newBucket,
  slotMs,
  slotsWithin,
  takeSlot,
} from './bucket.ts';
import type { RateLimitHeaders } from './rate-limit-headers.ts';
import type { RateLimitGroup } from './surfaces.ts';
import { readItem, type VersionedItem, writeItem } from './versioned-item.ts';

/** Whose bucket: an account's, or for `auth` a client id's (RingCentral limits logins per application). */
export interface BucketKey {
  owner: string;
  group: RateLimitGroup;
}

/** The right to make one request, and the limit under which it was given. */
export interface Slot {
  key: BucketKey;
  limit: number;
  windowSeconds: number;
}

export interface GateStatus {
  limit: number;
  windowSeconds: number;
  /** Slots that can be taken at once, and within the coming minute. */
  slotsNow: number;
  slotsThisMinute: number;
  /** In what time one slot grows. */
  secondsPerSlot: number;
  /** The end of the last penalty, when it is still running. */
  closedUntil?: Date;
}

/**
 * The pacing of all containers together: one item per bucket in the state table. It is asked before each
 * request and never waits. No window exceeds its limit as long as a request leaves within one slot's time of its
 * slot (7.5 s for Heavy, 1.5 s for Light). Each method rejects when the state table can't be reached: then there is no call.
 */
export interface Gate {
  take(key: BucketKey): Promise<{ slot: Slot } | { waitSeconds: number }>;
  /** Takes over limit and window that the answer to the slot's request carries. */
  learn(slot: Slot, headers: RateLimitHeaders): Promise<void>;
  /** After a 429: nobody calls for max(retryAfterSeconds, 30) seconds. */
  close(key: BucketKey, retryAfterSeconds: number): Promise<void>;
  /** Reads without taking. */
  status(key: BucketKey): Promise<GateStatus>;
}

/** Each lost race is another container's success; so many in a row don't happen with the five that there are. */
const attempts = 20;

export function createGate(state: StateTable, clock: Clock): Gate {
  const now = () => clock.now().getTime();

  /** Replaces the bucket by what `compute` makes of it, unless that is nothing; again while others are faster. */
  async function change(
    key: BucketKey,
    compute: (bucket: Bucket) => Bucket | undefined,
  ): Promise<Bucket | undefined> {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const item = await readItem(state, itemKey(key));
      const changed = compute(bucketOf(item, key.group));
      if (!changed || (await writeItem(state, itemKey(key), item, attributesOf(changed)))) return changed;
    }
    throw new Error(`${itemKey(key)} changed ${attempts} times under our hands`);
  }

  return {
    async take(key) {
      let waitMs = 0;
      const bucket = await change(key, (before) => {
        const result = takeSlot(before, now());
        if ('bucket' in result) return result.bucket;
        waitMs = result.waitMs;
        return undefined;
      });
      if (!bucket) return { waitSeconds: Math.ceil(waitMs / 1000) };
      return { slot: { key, limit: bucket.limit, windowSeconds: bucket.windowSeconds } };
    },
    async learn({ key, ...taken }, headers) {
      if (!isNews(taken, headers)) return;
      await change(key, (bucket) => learnLimit(bucket, taken, headers, now()));
    },
    async close(key, retryAfterSeconds) {
      await change(key, (bucket) => closeBucket(bucket, now(), retryAfterSeconds));
    },
    async status(key) {
      const bucket = bucketOf(await readItem(state, itemKey(key)), key.group);
      const at = now();
      return {
        limit: bucket.limit,
        windowSeconds: bucket.windowSeconds,
        slotsNow: slotsWithin(bucket, at, 0),
        slotsThisMinute: slotsWithin(bucket, at, 60_000),
        secondsPerSlot: slotMs(bucket) / 1000,
        ...(bucket.closedUntil > at ? { closedUntil: new Date(bucket.closedUntil) } : {}),
      };
    },
  };
}

const itemKey = ({ owner, group }: BucketKey) => `gate#${owner}#${group}`;

function bucketOf(item: VersionedItem, group: RateLimitGroup): Bucket {
  if (item.version === 0) return newBucket(group);
  return {
    limit: Number(item.rate_limit),
    windowSeconds: Number(item.window_seconds),
    emptyAt: Number(item.empty_at),
    closedUntil: Number(item.closed_until),
  };
}

const attributesOf = ({ limit, windowSeconds, emptyAt, closedUntil }: Bucket) => ({
  rate_limit: limit,
  window_seconds: windowSeconds,
  empty_at: emptyAt,
  closed_until: closedUntil,
});
