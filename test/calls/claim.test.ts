import { beforeAll, beforeEach, expect, it } from 'vitest';
import { recordCallEvent } from '../../src/calls/call-store.ts';
import { underClaim } from '../../src/calls/claim.ts';
import { readParties } from '../../src/calls/lifecycle.ts';
import type { StepResult } from '../../src/calls/step.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { FakeClock, recordingLog } from '../support/fakes.ts';
import { accountId, anEvent, instantOf } from './events.ts';

const key = { accountId, telephonySessionId: 's-77aa' };
const done: StepResult = { kind: 'done' };

let database: TestDatabase;
let clock: FakeClock;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  await database.query('truncate calls');
  clock = new FakeClock('2026-03-04T16:00:00.000Z');
  const event = anEvent({ code: 'Disconnected' });
  const parties = readParties(event).map((party) => ({ ...party, store: undefined }));
  await recordCallEvent(database.db, { accountId, event, parties }, instantOf(0));
});

const log = recordingLog();
const neon = { run: <T>(work: (db: TestDatabase['db']) => Promise<T>) => work(database.db) };
const run = (work: () => Promise<StepResult>, doneByOthersSince?: Date) =>
  underClaim({ neon, clock, log }, { ...key, doneByOthersSince }, work, new Date(0));
const unwanted = () => Promise.reject(new Error('two at once'));
const ago = (seconds: number) => new Date(clock.now().getTime() - seconds * 1000);

it('is given back, also when the work fails', async () => {
  expect(await run(async () => done)).toEqual(done);
  await expect(run(() => Promise.reject(new Error('down')))).rejects.toThrow('down');
  expect(await run(async () => done)).toEqual(done);
});

it('keeps the others out while it lasts', async () => {
  const inner: StepResult[] = [];
  await run(async () => {
    clock.advance(100_000);
    // It began after our call was ready to be looked up: what it does is enough for us.
    inner.push(await run(unwanted, ago(100)));
    // It began before that, or we want a look of our own.
    inner.push(await run(unwanted, ago(99)));
    inner.push(await run(unwanted));
    return done;
  });
  const later = { kind: 'retry', reason: 'worked_on', afterSeconds: 60 };
  expect(inner).toEqual([done, later, later]);
});

it('ends with the function that had it', async () => {
  const order: string[] = [];
  await run(async () => {
    clock.advance(131_000);
    await run(async () => {
      order.push('the next one');
      return done;
    });
    order.push('the dead one');
    return done;
  });
  expect(order).toEqual(['the next one', 'the dead one']);
});

it('a session that nobody knows is a fault', async () => {
  await database.query('truncate calls');
  expect(await run(async () => done)).toEqual({ kind: 'failed', reason: 'unknown_session' });
});
