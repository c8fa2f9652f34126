import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStateTable } from '../../src/platform/state-table.ts';
import { freshDatabase } from '../support/database.ts';
import { startDynamoDb } from '../support/dynamodb.ts';
import { aParsedMail } from '../support/leads.ts';
import type { CrashPoint } from './crash.ts';
import { LeadWorld } from './lead-world.ts';

let dynamo: Awaited<ReturnType<typeof startDynamoDb>>;
let worlds = 0;

beforeAll(async () => {
  dynamo = await startDynamoDb();
});
afterAll(() => dynamo.stop());

async function aWorld(): Promise<LeadWorld> {
  worlds += 1;
  await dynamo.createTable({ TableName: `state-${worlds}` });
  return new LeadWorld(await freshDatabase(), createStateTable(`state-${worlds}`, dynamo.client));
}

/** The mail of the n-th invented person. */
const mailOf = (person: number) =>
  aParsedMail({
    mailKey: person.toString(16).padStart(64, '0'),
    fields: { email: `p${person}@x.example`, phone: `+1212555${String(100 + person).padStart(4, '0')}` },
  });

/** Every moment to die in. The calls are sequential, so before a call is after the one before it. */
function deaths(calls: number): CrashPoint[] {
  const after = Array.from({ length: calls }, (_, index) => ({ call: index + 1, when: 'after' as const }));
  return [{ call: 1, when: 'before' }, ...after];
}

describe('a process that dies', () => {
  it("at each await of a mail's way: one lead, one task, one timeline row, nothing lost", async () => {
    const rehearsal = await aWorld();
    rehearsal.addMail(mailOf(1));
    const calls = await rehearsal.tick();
    expect(calls).toBeGreaterThan(10);
    await rehearsal.settle();
    await rehearsal.expectOneOfEach(1);

    for (const point of deaths(calls)) {
      const world = await aWorld();
      world.addMail(mailOf(1));
      await world.tick(point);
      await world.settle();
      await world.expectOneOfEach(1);
    }
  }, 120_000);

  it('at each await while Neon is down, and again in the retry processor', async () => {
    const arrange = async () => {
      const world = await aWorld();
      world.addMail(mailOf(1));
      world.neonIsDown = true;
      return world;
    };
    const rehearsal = await arrange();
    const tickCalls = await rehearsal.tick();
    rehearsal.neonIsDown = false;
    const retryCalls = await rehearsal.retry();
    expect([tickCalls > 8, retryCalls > 3]).toEqual([true, true]);

    const runs = [
      ...deaths(tickCalls).map((tick) => ({ tick, retry: undefined })),
      ...deaths(retryCalls).map((retry) => ({ tick: undefined, retry })),
    ];
    for (const { tick, retry } of runs) {
      const world = await arrange();
      await world.tick(tick);
      world.neonIsDown = false;
      await world.retry(retry);
      await world.settle();
      await world.expectOneOfEach(1);
    }
  }, 120_000);
});

it('the checks find a wrong order of effects: published_at before the event is out', async () => {
  let found = 0;
  for (let call = 1; call <= 16 && found === 0; call += 1) {
    const world = await aWorld();
    world.mutation = 'mark-before-publish';
    world.addMail(mailOf(1));
    await world.tick({ call, when: 'before' });
    await world.settle();
    await world.expectOneOfEach(1).catch(() => {
      found += 1;
    });
  }
  expect(found).toBeGreaterThan(0);
}, 60_000);

describe('an outage', () => {
  it('N11 of Neon for 20 minutes leaves nothing in the final DLQ, and every lead has its task', async () => {
    const world = await aWorld();
    world.neonIsDown = true;
    for (let person = 1; person <= 12; person += 1) {
      world.addMail(mailOf(person));
      if (person % 3 > 0) continue;
      await world.tick();
      await world.retry();
    }
    world.neonIsDown = false;
    await world.settle();
    await world.expectOneOfEach(12);
  });

  it('whose retry messages are lost ends in the outbox: the event goes out all the same', async () => {
    const world = await aWorld();
    world.busIsDown = true;
    world.addMail(mailOf(1));
    await world.tick();
    for (const { messageId } of world.retryQueue.receive(5).Records) world.retryQueue.delete(messageId);
    world.busIsDown = false;
    await world.settle();
    await world.expectOneOfEach(1);
  });

  it('of the event bus for 20 minutes: the same', async () => {
    const world = await aWorld();
    world.busIsDown = true;
    for (let person = 1; person <= 4; person += 1) {
      world.addMail(mailOf(person));
      await world.tick();
      await world.retry();
    }
    world.busIsDown = false;
    await world.settle();
    await world.expectOneOfEach(4);
  });
});
