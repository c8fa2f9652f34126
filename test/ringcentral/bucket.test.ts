import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Bucket,
  closeBucket,
  learnLimit,
  newBucket,
  slotsWithin,
  takeSlot,
} from '../../src/ringcentral/bucket.ts';

const start = Date.parse('2026-03-04T15:00:00Z');
const bucketOf = (limit: number, windowSeconds = 60): Bucket => ({
  ...newBucket('heavy'),
  limit,
  windowSeconds,
});

/** Takes slots one after another, waiting where none is left; the times at which they were taken. */
function takeAll(bucket: Bucket, count: number, from = start): number[] {
  const times: number[] = [];
  let now = from;
  for (let state = bucket; times.length < count; ) {
    const result = takeSlot(state, now);
    if ('waitMs' in result) now += result.waitMs;
    else {
      times.push(now);
      state = result.bucket;
    }
  }
  return times;
}

describe('the bucket', () => {
  it('gives a burst of 0.2 x limit at once and 0.8 x limit in each window after it', () => {
    const seconds = takeAll(bucketOf(10), 10).map((at) => (at - start) / 1000);
    expect(seconds).toEqual([0, 0, 7.5, 15, 22.5, 30, 37.5, 45, 52.5, 60]);
  });

  it.each([
    ['light', 10],
    ['medium', 8],
    ['heavy', 2],
    ['auth', 1],
  ] as const)("starts full at RingCentral's default for %s: %i slots", (group, slots) => {
    expect(slotsWithin(newBucket(group), start, 0)).toBe(slots);
  });

  it('counts the slots of the coming minute', () => {
    expect(slotsWithin(bucketOf(10), start, 60_000)).toBe(10);
    const [, second = 0] = takeAll(bucketOf(10), 2);
    const spent = { ...bucketOf(10), emptyAt: second };
    expect(slotsWithin(spent, start, 60_000)).toBe(8);
    expect(slotsWithin(closeBucket(spent, start, 90), start, 60_000)).toBe(0);
  });

  it('never exceeds the limit in any sliding window, whatever limit and window', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 1, max: 600 }),
        fc.array(fc.integer({ min: 0, max: 700_000 }), { maxLength: 20 }),
        (limit, windowSeconds, pauses) => {
          let bucket = bucketOf(limit, windowSeconds);
          let now = start;
          const times: number[] = [];
          for (const pause of pauses) {
            now += pause;
            for (;;) {
              const result = takeSlot(bucket, now);
              if ('waitMs' in result) {
                if (times.length > 0 && result.waitMs > 2 * windowSeconds * 1000) throw new Error('stuck');
                break;
              }
              times.push(now);
              bucket = result.bucket;
            }
          }
          const windowMs = windowSeconds * 1000;
          for (const [index, at] of times.entries()) {
            const after = times[index + limit];
            if (after !== undefined) expect(after - at).toBeGreaterThanOrEqual(windowMs);
          }
        },
      ),
    );
  });
});

describe('a 429', () => {
  it.each([
    [45, 45],
    [5, 30],
    [0, 30],
    [1200, 1200],
  ])('with Retry-After %i closes for %i s, and it reopens empty', (retryAfter, closedFor) => {
    const closed = closeBucket(bucketOf(10), start, retryAfter);
    expect(closed.closedUntil).toBe(start + closedFor * 1000);
    expect(takeSlot(closed, start + closedFor * 1000)).toEqual({ waitMs: 7500 });
    expect(slotsWithin(closed, start + closedFor * 1000 + 7500, 0)).toBe(1);
  });

  it('only ever closes for longer', () => {
    const long = closeBucket(bucketOf(10), start, 600);
    expect(closeBucket(long, start + 1000, 30)).toEqual(long);
  });
});

describe('learning', () => {
  const at = { limit: 10, windowSeconds: 60 };

  it('takes over a larger limit and goes on', () => {
    const learned = learnLimit(bucketOf(10), at, { limit: 50, windowSeconds: 60, remaining: 49 }, start);
    expect(slotsWithin(learned, start, 0)).toBe(10);
  });

  it('lets a smaller limit count what the window has already spent', () => {
    const learned = learnLimit(bucketOf(10), at, { limit: 5, windowSeconds: 60, remaining: 0 }, start);
    expect(takeSlot(learned, start)).toEqual({ waitMs: 60_000 + 15_000 });
    const light = learnLimit(bucketOf(10), at, { limit: 5, windowSeconds: 60, remaining: 4 }, start);
    expect(takeSlot(light, start)).toEqual({ waitMs: 15_000 });
  });

  it('never guesses: without both numbers, or with zeros, all stays as it was', () => {
    const before = bucketOf(10);
    expect(learnLimit(before, at, {}, start)).toBe(before);
    expect(learnLimit(before, at, { limit: 20 }, start)).toBe(before);
    expect(learnLimit(before, at, { limit: 0, windowSeconds: 60 }, start)).toBe(before);
  });

  it('is not undone by an older answer', () => {
    const learned = learnLimit(bucketOf(10), at, { limit: 5, windowSeconds: 60, remaining: 3 }, start);
    expect(learnLimit(learned, at, { limit: 10, windowSeconds: 60, remaining: 9 }, start)).toBe(learned);
    expect(learnLimit(learned, at, { limit: 20, windowSeconds: 60, remaining: 19 }, start)).toBe(learned);
  });
});
