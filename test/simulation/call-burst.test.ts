import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallWorld, startCallWorld, stopCallWorlds } from '../calls/call-world.ts';
import { lakeside, lakesideNumber, riverside } from './call-accounts.ts';
import { expectNoRefusals, expectOneOfEach } from './call-checks.ts';
import { sessionOf } from './call-samples.ts';

const { accountId } = riverside;
/** The whole burst takes a while: CALL_BURST=500 npx vitest run test/simulation/call-burst.test.ts */
const calls = Number(process.env.CALL_BURST ?? 200);
const minuteMs = 60_000;
/** When the burst hangs up. */
const hangUpAt = Date.parse('2026-03-04T15:02:00.000Z');
const afterBurst = (minutes: number) => hangUpAt + minutes * minuteMs;
/** RingCentral's 10 a minute, of which 8 are spent. */
const slotsAMinute = 8;

let world: CallWorld;
/** When each session's recording was stored, by its number. */
let storedAt: (number: number) => number;

beforeAll(async () => {
  world = await startCallWorld();
  world.startSweep([accountId, lakeside.accountId]);
  // Milliseconds apart, so that it is plain which one is the oldest.
  for (let number = 1; number <= calls; number += 1) ring(number, hangUpAt + number);
  ring(early.number, early.endsAt);
  ring(late.number, late.endsAt);
  ring(elsewhere.number, elsewhere.endsAt, { accountId: lakeside.accountId, businessNumber: lakesideNumber });
  await world.settle(150);
  const rows = await world.database.query('select telephony_session_id, stored_at from call_recordings');
  const times = new Map(
    rows.map((row) => [Number(/\d{5}$/.exec(String(row.telephony_session_id))?.[0]), row.stored_at]),
  );
  storedAt = (number) => {
    const at = times.get(number);
    return at instanceof Date ? at.getTime() : Number.NaN;
  };
}, 120_000);
afterAll(stopCallWorlds);

/** Calls that come to the burst: while all of it is live work, when it is over 15 minutes old, and to another account. */
const early = { number: 901, endsAt: afterBurst(5) };
const late = { number: 902, endsAt: afterBurst(18) };
const elsewhere = { number: 903, endsAt: afterBurst(5) };

/** A recorded call of two minutes. */
function ring(
  number: number,
  endsAt: number,
  account: { accountId: string; businessNumber?: string } = { accountId },
) {
  const startedAt = new Date(endsAt - 2 * minuteMs);
  const call = sessionOf({ ...account, number, startedAt, disconnects: [120], readyAfter: 140 });
  world.ring(call, call.events.slice(-1));
}

/** Seconds from the end of the wait for the call log (90 s) until the recording was stored. */
const servedIn = ({ number, endsAt }: { number: number; endsAt: number }) =>
  (storedAt(number) - endsAt) / 1000 - 90;

describe(`${calls} Disconnected at once`, () => {
  it('no request is refused, none comes in a penalty', () => {
    expectNoRefusals(world);
  });

  it('every call is stored and transcribed, once; nothing is left in a queue', async () => {
    await expectOneOfEach(world, { recordings: calls + 3 });
  });

  it('a recording costs little more than one Heavy request', () => {
    const heavy = world.simulator.journal.filter(
      ({ group, owner }) => group === 'heavy' && owner === accountId,
    );
    expect(heavy.length).toBeLessThanOrEqual(1.2 * (calls + 2));
  });

  it('is over in little more than the time that its slots take', () => {
    const last = Math.max(...Array.from({ length: calls }, (_, n) => storedAt(n + 1)));
    expect((last - hangUpAt) / minuteMs).toBeLessThan((1.2 * calls) / slotsAMinute + 3);
  });

  it('the oldest come first, but for those of one minute', () => {
    const order = Array.from({ length: calls }, (_, n) => n + 1).toSorted(
      (a, b) => storedAt(a) - storedAt(b),
    );
    const moved = order.map((number, place) => Math.abs(number - (place + 1)));
    expect(Math.max(...moved)).toBeLessThanOrEqual(slotsAMinute);
  });

  it('a call that comes when the burst is 15 minutes old is served within two minutes', () => {
    expect(servedIn(late)).toBeLessThanOrEqual(120);
  });

  it('one that comes earlier is not older than the burst: it is served when that is 15 minutes old', () => {
    expect(storedAt(early.number)).toBeGreaterThan(afterBurst(15));
    expect(storedAt(early.number)).toBeLessThanOrEqual(afterBurst(17));
  });

  it('another account is served as ever', () => {
    expect(servedIn(elsewhere)).toBeLessThanOrEqual(5);
  });
});
