import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  backLimitOf,
  budgetOf,
  planLists,
  planMessages,
  type SlotsLeft,
} from '../../../src/calls/sweep/slots.ts';

const bucket: SlotsLeft = { now: 2, thisMinute: 10, secondsPerSlot: 7.5 };
const rows = (...slots: number[]) => slots.map((number, index) => ({ id: index, slots: number }));
const idle = { messages: 0, wantsList: false };

describe('lists', () => {
  it('are made at once when there is a slot', () => {
    const live = { messages: 0, wantsList: true };
    expect(planLists({ live, back: idle }, bucket)).toEqual(['live']);
    expect(planLists({ live, back: live }, bucket)).toEqual(['live', 'back']);
    expect(planLists({ live, back: live }, { ...bucket, now: 1 })).toEqual(['live']);
    expect(planLists({ live, back: live }, { ...bucket, now: 0 })).toEqual([]);
  });

  it('come after the recordings of their class that are known already', () => {
    expect(planLists({ live: { messages: 9, wantsList: true }, back: idle }, bucket)).toEqual([]);
    expect(planLists({ live: { messages: 8, wantsList: true }, back: idle }, bucket)).toEqual(['live']);
    expect(planLists({ live: idle, back: { messages: 8, wantsList: true } }, bucket)).toEqual(['back']);
    const live = { messages: 1, wantsList: false };
    expect(planLists({ live, back: { messages: 4, wantsList: true } }, bucket)).toEqual([]);
    expect(planLists({ live, back: { messages: 3, wantsList: true } }, bucket)).toEqual(['back']);
  });
});

describe('messages', () => {
  it('come when their slots have grown', () => {
    const messages = planMessages({ live: rows(1, 1, 1, 1), back: [] }, bucket, 0);
    expect(messages.map(({ delaySeconds }) => delaySeconds)).toEqual([0, 0, 8.5, 16]);
    const big = planMessages({ live: rows(1, 3), back: [] }, bucket, 0);
    expect(big.map(({ delaySeconds }) => delaySeconds)).toEqual([0, 16]);
  });

  it('leave the last slot of the minute to the next minute`s list', () => {
    expect(planMessages({ live: rows(...Array(20).fill(1)), back: [] }, bucket, 9)).toHaveLength(9);
    expect(budgetOf({ ...bucket, thisMinute: 2 })).toBe(2);
  });

  it('of back-fill get half while live work is due', () => {
    const back = rows(...Array(20).fill(1));
    expect(planMessages({ live: rows(1), back }, bucket, backLimitOf(bucket, true))).toHaveLength(5);
    expect(planMessages({ live: [], back }, bucket, backLimitOf(bucket, false))).toHaveLength(9);
  });

  it('that need more slots than there ever are go when all of them are free', () => {
    expect(planMessages({ live: rows(30), back: [] }, bucket, 0)).toHaveLength(1);
    expect(planMessages({ live: rows(1, 30), back: [] }, bucket, 0)).toHaveLength(1);
  });
});

it('never more than the slots, at most half for back-fill, nobody overtakes', () => {
  const slots = fc
    .record({ now: fc.nat(20), more: fc.nat(20), secondsPerSlot: fc.integer({ min: 1, max: 75 }) })
    .map(({ now, more, secondsPerSlot }) => ({ now, thisMinute: now + more, secondsPerSlot }));
  const content = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 40 });
  const work = fc.record({ content, wantsList: fc.boolean() });
  fc.assert(
    fc.property(slots, work, work, (left, live, back) => {
      const wish = ({ content, wantsList }: typeof live) => ({
        messages: content.reduce((sum, one) => sum + one, 0),
        wantsList,
      });
      const isLiveDue = live.content.length > 0 || live.wantsList;
      const lists = planLists({ live: wish(live), back: wish(back) }, left);
      const backLists = lists.filter((one) => one === 'back').length;
      // As the pump goes on: the lists have taken their slots.
      const after = { ...left, now: left.now - lists.length, thisMinute: left.thisMinute - lists.length };
      const limit = backLimitOf(left, isLiveDue) - backLists;
      const messages = planMessages(
        { live: rows(...live.content), back: rows(...back.content) },
        after,
        limit,
      );

      const costOf = (of: 'live' | 'back', most: number) =>
        messages
          .filter(({ workClass }) => workClass === of)
          .reduce((sum, { row }) => sum + Math.min(row.slots, most), 0);
      const backSlots = backLists + costOf('back', Math.min(limit, budgetOf(after)));
      const all = lists.length - backLists + costOf('live', budgetOf(after)) + backSlots;
      expect(all).toBeLessThanOrEqual(left.thisMinute);
      expect(lists.length).toBeLessThanOrEqual(left.now);
      if (isLiveDue) expect(backSlots).toBeLessThanOrEqual(left.thisMinute / 2);
      for (const of of ['live', 'back'] as const) {
        const ids = messages.filter(({ workClass }) => workClass === of).map(({ row }) => row.id);
        expect(ids).toEqual(ids.map((_, index) => index));
        if (lists.includes(of) && of === 'live') expect(ids).toHaveLength(live.content.length);
      }
      const delays = messages.map(({ delaySeconds }) => delaySeconds);
      expect(delays).toEqual([...delays].sort((a, b) => a - b));
    }),
    { numRuns: 2000 },
  );
});
