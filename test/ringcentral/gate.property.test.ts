import fc, { type Scheduler } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SlidingWindowLimiter } from '../../local/ringcentral/limiter.ts';
import { createGate, type Slot } from '../../src/ringcentral/gate.ts';
import { memoryStateTable } from './memory-state-table.ts';

/**
 * Workers share one gate and one RingCentral (the simulator's limiter). Every access to the state table, every
 * arrival, every answer and every tick of time is a step whose order fast-check chooses.
 *
 * What the gate relies on, and so the model keeps: a request arrives, and its answer is dealt with, within
 * `transitMs` of its slot, and clocks are apart by at most 2 x `skewMs`; together that is less than the time in
 * which one slot grows, and than a quarter of the window.
 */
const key = { owner: '900100', group: 'heavy' } as const;
const limits = [2, 5, 8, 10, 20];

interface Plan {
  limit: number;
  workers: { skew: number; lives: Life[] }[];
  /** Milliseconds by which time moves, tick by tick. */
  ticks: number[];
  /** After how many ticks RingCentral changes the limit, or penalises out of turn. */
  limitChanges: { tick: number; limit: number }[];
  penalties: number[];
}

/** What becomes of one attempt: a request, or a crash with the slot in hand. */
type Life = 'request' | 'crash';

const plan: fc.Arbitrary<Plan> = fc.record({
  limit: fc.constantFrom(...limits),
  workers: fc.array(
    fc.record({
      skew: fc.integer({ min: -1, max: 1 }),
      lives: fc.array(fc.constantFrom<Life>('request', 'request', 'request', 'crash'), {
        minLength: 1,
        maxLength: 6,
      }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  ticks: fc.array(fc.constantFrom(50, 1000, 3750, 7500, 15_000), { minLength: 40, maxLength: 40 }),
  limitChanges: fc.array(
    fc.record({ tick: fc.integer({ min: 0, max: 80 }), limit: fc.constantFrom(...limits) }),
    { maxLength: 2 },
  ),
  penalties: fc.array(fc.integer({ min: 0, max: 120 }), { maxLength: 1 }),
});

interface Attempt {
  /** Its place in the order of events when it last looked at its clock, right after it read the bucket. */
  lookedAt: number;
  nobodyUnaware: boolean;
}

async function run(scheduler: Scheduler, { limit, workers, ticks, limitChanges, penalties }: Plan) {
  const slackMs = Math.min(15_000, 75_000 / Math.max(limit, ...limitChanges.map((change) => change.limit)));
  const skewMs = Math.floor(slackMs / 8);
  const transitMs = Math.floor(slackMs / 2);

  let time = Date.parse('2026-03-04T15:00:00Z');
  let order = 0;
  const limiter = new SlidingWindowLimiter({ heavy: { limit } });
  let rule = limit;
  /** When a worker had dealt with an answer that names the rule of now, and none of the old ones was under way. */
  let toldAt: number | undefined;
  const state = memoryStateTable((access) => scheduler.schedule(Promise.resolve(), access));
  /** When each attempt under way last looked at its clock; time may not run away from it. */
  const underWay = new Map<object, number>();
  /** Requests under way whose slot was given under a limit that is no longer RingCentral's. */
  const unaware = new Set<object>();
  /** The refused request that started the penalty or prolonged it last, and when its closing was known. */
  let lastRefused: { closedAt: number } | undefined;
  const requests: { allowed: boolean }[] = [];
  const violations: string[] = [];

  let over = false;
  /** Who found no slot tries again when time has moved. */
  const waiting: (() => void)[] = [];
  const wakeAll = () => {
    for (const wake of waiting.splice(0)) wake();
  };

  async function attempt(skew: number, life: Life): Promise<void> {
    const me: Attempt = { lookedAt: 0, nobodyUnaware: true };
    const clock = {
      now: () => {
        underWay.set(me, time);
        me.lookedAt = order;
        order += 1;
        me.nobodyUnaware = unaware.size === 0;
        return new Date(time + skew * skewMs);
      },
    };
    const gate = createGate(state, clock);
    try {
      const taken = await gate.take(key);
      if (!('slot' in taken)) {
        underWay.delete(me);
        if (!over) await new Promise<void>((resolve) => waiting.push(resolve));
      } else if (life === 'request') await request(me, taken.slot, gate);
    } finally {
      underWay.delete(me);
      unaware.delete(me);
    }
  }

  async function request(me: Attempt, slot: Slot, gate: ReturnType<typeof createGate>): Promise<void> {
    if (slot.limit !== rule) unaware.add(me);
    if (toldAt !== undefined && toldAt < me.lookedAt && slot.limit > rule)
      violations.push('a limit that was told is forgotten');
    await scheduler.schedule(Promise.resolve(), 'arrive');
    const wasRefused = lastRefused;
    const admission = limiter.admit(key.owner, key.group, time);
    requests.push({ allowed: admission.allowed });
    if (!admission.allowed) {
      if (
        admission.insidePenalty
          ? (wasRefused?.closedAt ?? Number.POSITIVE_INFINITY) < me.lookedAt
          : slot.limit === rule && me.nobodyUnaware && !unaware.has(me)
      ) {
        violations.push(
          admission.insidePenalty ? 'inside a known penalty' : 'more than the limit in a window',
        );
      }
      const refused = { closedAt: Number.POSITIVE_INFINITY };
      lastRefused = refused;
      await scheduler.schedule(Promise.resolve(), 'answer 429');
      await gate.close(key, admission.rule.penaltySeconds);
      refused.closedAt = order;
      order += 1;
      return;
    }
    await scheduler.schedule(Promise.resolve(), 'answer');
    const { rule: told, remaining } = admission;
    await gate.learn(slot, { limit: told.limit, windowSeconds: told.windowSeconds, remaining });
    unaware.delete(me);
    if (told.limit === rule && unaware.size === 0) toldAt ??= order;
  }

  const work = workers.map(async ({ skew, lives }) => {
    for (let n = 0; !over; n += 1) {
      await attempt(skew, lives[n % lives.length] ?? 'request');
      await scheduler.schedule(Promise.resolve(), 'next');
    }
  });
  const passing = (async () => {
    for (const [tick, milliseconds] of ticks.entries()) {
      for (let left = milliseconds; left > 0; ) {
        await scheduler.schedule(Promise.resolve(), `tick ${left}`);
        const passed = Math.min(left, ...[...underWay.values()].map((at) => at + transitMs - time));
        time += passed;
        left -= passed;
      }
      for (const change of limitChanges.filter((c) => c.tick === tick)) {
        rule = change.limit;
        toldAt = undefined;
        limiter.setRule(key.group, { limit: rule });
        for (const me of underWay.keys()) unaware.add(me);
      }
      if (penalties.includes(tick)) {
        limiter.penalise(key.owner, key.group, time);
        lastRefused = { closedAt: Number.POSITIVE_INFINITY };
      }
      wakeAll();
    }
    over = true;
    wakeAll();
  })();
  await scheduler.waitFor(Promise.all([...work, passing]));
  return { violations, requests };
}

describe('the gate, whatever the order of things', () => {
  it('lets no request through that RingCentral refuses, but for what nobody could know', async () => {
    let allowed = 0;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), plan, async (scheduler, planned) => {
        const { violations, requests } = await run(scheduler, planned);
        allowed += requests.filter((request) => request.allowed).length;
        refused += requests.filter((request) => !request.allowed).length;
        expect(violations).toEqual([]);
      }),
      { numRuns: 300 },
    );
    // The model has to have been at the limits, or it shows nothing.
    expect(allowed).toBeGreaterThan(2000);
    expect(refused).toBeGreaterThan(20);
  });
});
