import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { breakerPauseMs, breakerThreshold, createBreaker } from '../../src/leads/breaker.ts';
import { createStateTable, type StateTable } from '../../src/platform/state-table.ts';
import { startDynamoDb } from '../support/dynamodb.ts';
import { brokenStateTable, FakeClock, recordingLog } from '../support/fakes.ts';

let dynamo: Awaited<ReturnType<typeof startDynamoDb>>;
let state: StateTable;

beforeAll(async () => {
  dynamo = await startDynamoDb();
  await dynamo.createTable({ TableName: 'state' });
  state = createStateTable('state', dynamo.client);
});
afterAll(() => dynamo.stop());
beforeEach(() => state.delete('breaker#neon'));

describe('the breaker, on a real state table', () => {
  it('opens at the fifth consecutive failure, for fifteen minutes, also for another container', async () => {
    const clock = new FakeClock();
    const log = recordingLog();
    const here = createBreaker(state, clock, log);
    const there = createBreaker(state, clock, recordingLog());
    for (let failure = 1; failure < breakerThreshold; failure += 1) {
      expect(await here.failed()).toBe(false);
      expect(await there.check()).toEqual({ allowed: true, probe: false });
    }
    expect(await here.failed()).toBe(true);
    expect(log.lines.filter(({ event }) => event === 'breaker.opened')).toHaveLength(1);
    expect(await there.check()).toEqual({ allowed: false, remainingSeconds: 900 });
    clock.advance(breakerPauseMs - 1000);
    expect(await there.check()).toEqual({ allowed: false, remainingSeconds: 1 });
  });

  it('lets exactly one probe through after the pause; its success closes and resets', async () => {
    const clock = new FakeClock();
    const breakers = Array.from({ length: 4 }, () => createBreaker(state, clock, recordingLog()));
    const [first] = breakers;
    if (!first) throw new Error('no breaker');
    for (let failure = 0; failure < breakerThreshold; failure += 1) await first.failed();
    clock.advance(breakerPauseMs);
    const decisions = await Promise.all(breakers.map((breaker) => breaker.check()));
    expect(decisions.filter(({ allowed }) => allowed)).toEqual([{ allowed: true, probe: true }]);

    const probing = breakers[decisions.findIndex(({ allowed }) => allowed)];
    await probing?.succeeded();
    for (const breaker of breakers) expect(await breaker.check()).toEqual({ allowed: true, probe: false });
    expect(await first.failed()).toBe(false);
  });

  it('opens again for a whole pause when the probe fails', async () => {
    const clock = new FakeClock();
    const breaker = createBreaker(state, clock, recordingLog());
    for (let failure = 0; failure < breakerThreshold; failure += 1) await breaker.failed();
    clock.advance(breakerPauseMs);
    expect(await breaker.check()).toEqual({ allowed: true, probe: true });
    expect(await breaker.failed()).toBe(true);
    expect(await breaker.check()).toEqual({ allowed: false, remainingSeconds: 900 });
  });

  it('counts consecutive failures only: a success in between starts anew', async () => {
    const breaker = createBreaker(state, new FakeClock(), recordingLog());
    for (let failure = 0; failure < breakerThreshold - 1; failure += 1) await breaker.failed();
    await breaker.check();
    await breaker.succeeded();
    for (let failure = 0; failure < breakerThreshold - 1; failure += 1) {
      expect(await breaker.failed()).toBe(false);
    }
  });

  it('is closed while the state table cannot be read, and never throws', async () => {
    const log = recordingLog();
    const breaker = createBreaker(brokenStateTable, new FakeClock(), log);
    expect(await breaker.check()).toEqual({ allowed: true, probe: false });
    expect(await breaker.failed()).toBe(false);
    await breaker.succeeded();
    expect(log.lines.every(({ event }) => event === 'state.unreadable')).toBe(true);
  });
});
