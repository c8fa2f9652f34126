import type { Turns } from './call-turns.ts';
import type { CallWorld } from './call-world.ts';

/** A whole number from 0 up to below this. */
export type Choose = (below: number) => number;

/** Mulberry32: the same seed, the same run. */
export function chooser(seed: number): Choose {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/**
 * How long a call may wait for its turn while time goes on. A slot of the gate is good for 7.5 s (one slot's time at
 * RingCentral's default limit); the clocks of two containers may be a second apart on top.
 */
const longestStallMs = 4_000;
const longestStepMs = 1_500;

/** Runs the world with all its processes at once until nothing is left to do: whose turn it is, is chosen. */
export async function interleave(
  world: CallWorld,
  turns: Turns,
  choose: Choose,
  minutes: number,
): Promise<void> {
  const { timetable } = world;
  const end = world.now() + minutes * 60_000;
  for (;;) {
    await turns.settled();
    if (turns.size === 0) {
      if (timetable.nextAt > end || (await world.isQuiet())) break;
      await timetable.runNext();
      continue;
    }
    const horizon = turns.longestSince + longestStallMs;
    const isTimesTurn = choose(4) === 0;
    if (isTimesTurn && timetable.nextAt <= horizon) await timetable.runNext();
    else if (isTimesTurn) world.clock.advance(Math.min(choose(longestStepMs), horizon - world.now()));
    else turns.release(choose(turns.size));
  }
  await world.ended();
}
