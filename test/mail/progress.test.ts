import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  advance,
  attemptsExhausted,
  firstProgress,
  type MailboxView,
  type MailProgress,
  selectCandidates,
} from '../../src/mail/progress.ts';

const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

function progress(known: Partial<MailProgress> = {}): MailProgress {
  return { watermark: 0, settled: new Set(), pending: new Set(), attempts: new Map(), ...known };
}

describe('which mails a tick takes', () => {
  it('takes UNSEEN, above the watermark, and pending, without what is settled, oldest first', () => {
    const state = progress({ watermark: 10, settled: new Set([12]), pending: new Set([4]) });
    expect(selectCandidates(state, { unseen: [3, 13], above: [11, 12, 13] })).toEqual([3, 4, 11, 13]);
  });

  it('takes 200 of a backlog: 150 from the old end, 50 from the new end, both served by any prefix', () => {
    const taken = selectCandidates(progress(), { unseen: [], above: range(1, 1000) });
    expect(taken).toHaveLength(200);
    expect(taken.slice(0, 8)).toEqual([1, 2, 3, 1000, 4, 5, 6, 999]);
    expect([...taken].sort((a, b) => a - b)).toEqual([...range(1, 150), ...range(951, 1000)]);
  });

  it('takes all of 200 in order of age', () => {
    expect(selectCandidates(progress(), { unseen: [], above: range(1, 200) })).toEqual(range(1, 200));
  });

  it('puts a mail that already cost an attempt behind the others', () => {
    const state = progress({ attempts: new Map([[1, 2]]) });
    expect(selectCandidates(state, { unseen: [1, 2, 3], above: [1, 2, 3] })).toEqual([2, 3, 1]);
  });

  it('keeps the tried mails within the 200 places', () => {
    const state = progress({ attempts: new Map(range(1, 300).map((uid) => [uid, 1])) });
    const taken = selectCandidates(state, { unseen: [], above: range(1, 320) });
    expect(taken).toHaveLength(200);
    expect(new Set(taken).size).toBe(200);
    expect(taken).toEqual(expect.arrayContaining(range(301, 320)));
  });

  it('starts at UIDNEXT - 1 with the mails of the last days pending, never with the history', () => {
    const first = firstProgress(501, [498, 500]);
    expect(first.watermark).toBe(500);
    expect(selectCandidates(first, { unseen: [7], above: [] })).toEqual([7, 498, 500]);
  });

  it('gives a mail three attempts', () => {
    expect([1, 2, 3, 4].map(attemptsExhausted)).toEqual([false, false, false, true]);
  });
});

describe('the watermark', () => {
  it('moves over a contiguous run of settled mails and stops before the first that is not', () => {
    const state = progress({ settled: new Set([1, 2, 4]) });
    const after = advance(state, { unseen: [3], above: [1, 2, 3, 4] });
    expect(after.watermark).toBe(2);
    expect([...after.settled]).toEqual([4]);
  });

  it('is not held up by a UID that is gone from the mailbox', () => {
    const state = progress({ settled: new Set([1, 4]) });
    expect(advance(state, { unseen: [], above: [1, 4] }).watermark).toBe(4);
  });

  it('does not move past a mail that arrived after the look', () => {
    const state = progress({ settled: new Set([1, 3]) });
    expect(advance(state, { unseen: [], above: [1] }).watermark).toBe(1);
  });

  it('keeps a settled mail in mind while the mailbox shows it UNSEEN, and forgets it then', () => {
    const state = progress({ settled: new Set([1, 2]) });
    const still = advance(state, { unseen: [2], above: [1, 2] });
    expect(still.watermark).toBe(2);
    expect(selectCandidates(still, { unseen: [2], above: [1, 2] })).toEqual([]);
    const flagged = advance(still, { unseen: [], above: [] });
    expect(flagged.settled.size).toBe(0);
    expect(selectCandidates(flagged, { unseen: [2], above: [] })).toEqual([2]);
  });

  it('passes a mail that holds up more than 10,000 settled ones, and keeps that mail pending', () => {
    const state = progress({ settled: new Set(range(2, 10_050)) });
    const view = { unseen: [], above: range(1, 10_050) };
    const after = advance(state, view);
    expect(after.watermark).toBe(10_050);
    expect([...after.pending]).toEqual([1]);
    expect(selectCandidates(after, view)).toEqual([1]);
  });
});

/** A mailbox and its books, moved on by generated events; settling is what the store writes (a set member). */
interface World {
  existing: Set<number>;
  unseen: Set<number>;
  uidNext: number;
  state: MailProgress;
  /** UIDs with an outcome, ever. */
  done: Set<number>;
}

function viewOf(world: World): MailboxView {
  const ascending = (uids: Iterable<number>) => [...uids].sort((a, b) => a - b);
  return {
    unseen: ascending(world.unseen),
    above: ascending(world.existing).filter((uid) => uid > world.state.watermark),
  };
}

const event = fc.oneof(
  fc.record({
    kind: fc.constant('arrive' as const),
    count: fc.integer({ min: 1, max: 300 }),
    seen: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('delete' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('read' as const), pick: fc.nat() }),
  fc.record({
    kind: fc.constant('tick' as const),
    /** How many the time allows, which fail (every nth), which can't be flagged (every mth). */
    time: fc.integer({ min: 0, max: 200 }),
    failEvery: fc.integer({ min: 2, max: 9 }),
    stuckEvery: fc.integer({ min: 2, max: 9 }),
  }),
);

function play(
  events: readonly (typeof event extends fc.Arbitrary<infer E> ? E : never)[],
  check: (world: World) => void,
) {
  const world: World = {
    existing: new Set(),
    unseen: new Set(),
    uidNext: 1,
    state: progress(),
    done: new Set(),
  };
  for (const step of events) {
    if (step.kind === 'arrive') {
      for (let i = 0; i < step.count; i++) {
        world.existing.add(world.uidNext);
        if (!step.seen) world.unseen.add(world.uidNext);
        world.uidNext += 1 + (i % 2);
      }
    } else if (step.kind === 'delete' || step.kind === 'read') {
      const uid = [...world.existing][step.pick % Math.max(1, world.existing.size)];
      if (uid === undefined) continue;
      world.unseen.delete(uid);
      if (step.kind === 'delete') world.existing.delete(uid);
    } else {
      tick(world, step);
    }
    check(world);
  }
  return world;
}

function tick(
  world: World,
  { time, failEvery, stuckEvery }: { time: number; failEvery: number; stuckEvery: number },
) {
  const view = viewOf(world);
  world.state = advance(world.state, view);
  const settled = new Set(world.state.settled);
  const pending = new Set(world.state.pending);
  for (const [index, uid] of selectCandidates(world.state, view).slice(0, time).entries()) {
    pending.add(uid);
    if (index % failEvery === failEvery - 1) continue;
    settled.add(uid);
    pending.delete(uid);
    world.done.add(uid);
    if (index % stuckEvery !== stuckEvery - 1) world.unseen.delete(uid);
  }
  world.state = { ...world.state, settled, pending };
}

describe('properties', () => {
  const history = fc.array(event, { maxLength: 25 });

  it('never moves the watermark past an existing mail without an outcome, unless it is pending', () => {
    fc.assert(
      fc.property(history, (events) => {
        play(events, ({ existing, state, done }) => {
          for (const uid of existing) {
            if (uid <= state.watermark && !done.has(uid)) expect(state.pending).toContain(uid);
          }
        });
      }),
      { numRuns: 60 },
    );
  });

  it('loses no mail: n waiting mails all get their turn within ceil(n / 200) ticks', () => {
    fc.assert(
      fc.property(history, (events) => {
        const world = play(events, () => {});
        const waiting = [...world.existing].filter((uid) => !world.done.has(uid));
        for (let i = 0; i < Math.ceil(waiting.length / 200); i++) {
          tick(world, { time: 200, failEvery: 10_000, stuckEvery: 10_000 });
        }
        expect(waiting.filter((uid) => !world.done.has(uid))).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('takes nothing twice while it is settled, and at most 200 at once', () => {
    fc.assert(
      fc.property(history, (events) => {
        play(events, (world) => {
          const view = viewOf(world);
          const after = advance(world.state, view);
          const taken = selectCandidates(after, view);
          expect(taken.length).toBeLessThanOrEqual(200);
          expect(new Set(taken).size).toBe(taken.length);
          expect(taken.filter((uid) => world.state.settled.has(uid))).toEqual([]);
        });
      }),
      { numRuns: 60 },
    );
  });

  it('gives the newest fresh mails their places in a backlog', () => {
    fc.assert(
      fc.property(fc.integer({ min: 201, max: 5000 }), (count) => {
        const taken = selectCandidates(progress(), { unseen: [], above: range(1, count) });
        expect(taken).toEqual(expect.arrayContaining(range(count - 49, count)));
      }),
    );
  });

  it('advances to the same state when told twice', () => {
    fc.assert(
      fc.property(history, (events) => {
        const world = play(events, () => {});
        const view = viewOf(world);
        const once = advance(world.state, view);
        expect(advance(once, view)).toEqual(once);
      }),
      { numRuns: 60 },
    );
  });
});
