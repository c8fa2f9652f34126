import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createStateTable } from '../../src/platform/state-table.ts';
import { createGate, type Gate } from '../../src/ringcentral/gate.ts';
import { StateUnavailableError } from '../../src/ringcentral/versioned-item.ts';
import { startDynamoDb } from '../support/dynamodb.ts';
import { brokenStateTable, FakeClock } from '../support/fakes.ts';
import { memoryStateTable } from './memory-state-table.ts';

const heavy = { owner: '900100', group: 'heavy' } as const;
let clock: FakeClock;
let dynamoDb: Awaited<ReturnType<typeof startDynamoDb>>;

beforeAll(async () => {
  dynamoDb = await startDynamoDb();
});
afterAll(() => dynamoDb.stop());
beforeEach(() => {
  clock = new FakeClock();
});

const slotOf = async (gate: Gate) => {
  const taken = await gate.take(heavy);
  if (!('slot' in taken)) throw new Error(`no slot for ${taken.waitSeconds} s`);
  return taken.slot;
};

describe.each(['memory', 'DynamoDB protocol'])('the gate on a state table (%s)', (kind) => {
  let gate: Gate;
  beforeEach(async (context) => {
    if (kind === 'memory') gate = createGate(memoryStateTable(), clock);
    else {
      const TableName = `state-${context.task.id.replace(/\W/g, '')}`;
      await dynamoDb.createTable({ TableName });
      gate = createGate(createStateTable(TableName, dynamoDb.client), clock);
    }
  });

  it('gives two Heavy slots, then one every 7.5 s', async () => {
    await slotOf(gate);
    await slotOf(gate);
    expect(await gate.take(heavy)).toEqual({ waitSeconds: 8 });
    clock.advance(7500);
    await slotOf(gate);
    expect(await gate.take(heavy)).toEqual({ waitSeconds: 8 });
  });

  it('keeps owners and groups apart', async () => {
    await slotOf(gate);
    await slotOf(gate);
    expect(await gate.take({ owner: '900200', group: 'heavy' })).toHaveProperty('slot');
    expect(await gate.take({ owner: '900100', group: 'light' })).toHaveProperty('slot');
  });

  it('gives two slots to ten who ask at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => gate.take(heavy)));
    expect(answers.filter((answer) => 'slot' in answer)).toHaveLength(2);
  });

  it('closes for everybody, for the longest Retry-After of all, and reopens empty', async () => {
    await gate.close(heavy, 600);
    await gate.close(heavy, 45);
    expect(await gate.take(heavy)).toEqual({ waitSeconds: 608 });
    expect(await gate.status(heavy)).toEqual({
      limit: 10,
      windowSeconds: 60,
      slotsNow: 0,
      slotsThisMinute: 0,
      secondsPerSlot: 7.5,
      closedUntil: new Date(clock.now().getTime() + 600_000),
    });
    clock.advance(600_000);
    expect(await gate.take(heavy)).toEqual({ waitSeconds: 8 });
    const { closedUntil, slotsThisMinute } = await gate.status(heavy);
    expect([closedUntil, slotsThisMinute]).toEqual([undefined, 8]);
  });

  it('learns limit and window of an answer', async () => {
    const slot = await slotOf(gate);
    await gate.learn(slot, { limit: 100, remaining: 99, windowSeconds: 60 });
    const { limit, slotsNow } = await gate.status(heavy);
    expect([limit, slotsNow]).toEqual([100, 10]);
  });
});

it('writes nothing for an answer without news', async () => {
  const state = memoryStateTable();
  const gate = createGate(state, clock);
  const slot = await slotOf(gate);
  const before = state.items.get('gate#900100#heavy');
  await gate.learn(slot, { limit: 10, windowSeconds: 60, remaining: 3 });
  await gate.learn(slot, {});
  expect(state.items.get('gate#900100#heavy')).toBe(before);
});

it('gives no slot while the state table is out of reach', async () => {
  const gate = createGate(brokenStateTable, clock);
  await expect(gate.take(heavy)).rejects.toThrow(StateUnavailableError);
  await expect(gate.status(heavy)).rejects.toThrow(StateUnavailableError);
});
