import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import type { RateLimit } from '../../local/ringcentral/limiter.ts';
import { type CallWorld, startCallWorld, stopCallWorlds, type WorldOptions } from '../calls/call-world.ts';
import { FakeClock } from '../support/fakes.ts';
import { riverside } from './call-accounts.ts';
import { expectNoRefusals, expectOneOfEach } from './call-checks.ts';
import { type Choose, chooser, interleave } from './call-interleaving.ts';
import { sessionOf } from './call-samples.ts';
import { Turns } from './call-turns.ts';
import type { CrashPoint } from './crash.ts';

afterEach(stopCallWorlds);

/** For a longer search: CALL_FLOW_RUNS=1000 npx vitest run test/simulation/call-flow.property.test.ts */
const numRuns = Number(process.env.CALL_FLOW_RUNS ?? 8);
const startedAt = new Date('2026-03-04T15:00:10.000Z');

interface Session {
  /** Seconds after the start of the run. */
  begins: number;
  disconnects: number[];
  /** Seconds from the first hang-up until the recording is there. */
  readyAfter: number;
}

/** Close together, so that their messages meet, and with so low a limit that it is always used up. */
const sessions = fc.array(
  fc.record({
    begins: fc.nat(5),
    disconnects: fc
      .array(fc.integer({ min: 60, max: 75 }), { minLength: 1, maxLength: 2 })
      .map((times) => times.toSorted((a, b) => a - b)),
    readyAfter: fc.constantFrom(10, 10, 10, 400),
  }),
  { minLength: 3, maxLength: 7 },
);
/** What RingCentral allows; a limit that no header tells must be its default, or laxer. */
const limits = fc.oneof(
  fc.record({
    heavy: fc.record({ limit: fc.integer({ min: 3, max: 12 }), windowSeconds: fc.constantFrom(60, 120) }),
    rateLimitHeaders: fc.constant(true),
  }),
  fc.constant({ heavy: { limit: 10, windowSeconds: 60 }, rateLimitHeaders: false }),
);

/** One of four dies, at one of its first 24 calls. */
const deathBy = (choose: Choose): CrashPoint | undefined =>
  choose(4) === 0 ? { call: 1 + choose(24), when: choose(2) === 0 ? 'before' : 'after' } : undefined;

async function run(all: Session[], seed: number, options: WorldOptions): Promise<CallWorld> {
  const choose = chooser(seed);
  const clock = new FakeClock('2026-03-04T15:00:00.000Z');
  const turns = new Turns(() => clock.now().getTime());
  let isMortal = true;
  const death = () => (isMortal ? deathBy(choose) : undefined);
  const world = await startCallWorld({
    ...options,
    clock,
    turns,
    random: () => choose(1000) / 1000,
    skewMs: () => choose(1000) - 500,
    crashAt: death,
    crashSweepAt: death,
  });
  for (const [index, { begins, disconnects, readyAfter }] of all.entries()) {
    world.ring(
      sessionOf({
        accountId: riverside.accountId,
        number: index + 1,
        startedAt: new Date(startedAt.getTime() + begins * 1000),
        disconnects,
        readyAfter: (disconnects[0] ?? 0) + readyAfter,
      }),
    );
  }
  world.startSweep();
  await interleave(world, turns, choose, 240);
  // A message whose process died three times is a dead letter: the person who redrives it finds it done.
  isMortal = false;
  world.queue.redriveDeadLetters();
  await interleave(world, turns, choose, 240);
  return world;
}

/** By the times alone, without trust in the simulator's own verdict. */
function expectWindowsKept(
  world: CallWorld,
  { limit: most, windowSeconds }: Omit<RateLimit, 'penaltySeconds'>,
): void {
  const times = world.simulator.journal.filter(({ group }) => group === 'heavy').map(({ at }) => at);
  const fullest = times.map(
    (end) => times.filter((at) => at > end - windowSeconds * 1000 && at <= end).length,
  );
  expect(Math.max(0, ...fullest)).toBeLessThanOrEqual(most);
}

it(
  'in any order of calls, with deaths and skewed clocks: no limit exceeded, one of each in the end',
  async () => {
    await fc.assert(
      fc.asyncProperty(sessions, limits, fc.nat(), async (all, { heavy, rateLimitHeaders }, seed) => {
        const world = await run(all, seed, { limits: { heavy }, rateLimitHeaders });
        expectNoRefusals(world);
        expectWindowsKept(world, heavy);
        await expectOneOfEach(world, { recordings: all.length });
        await stopCallWorlds();
      }),
      { numRuns },
    );
  },
  60_000 + numRuns * 30_000,
);
