import { afterEach, expect, it } from 'vitest';
import { missedCall } from '../../../local/ringcentral/sample-calls.ts';
import { riverside } from '../../simulation/call-accounts.ts';
import { sessionOf } from '../../simulation/call-samples.ts';
import { startCallWorld, stopCallWorlds } from '../call-world.ts';
import { sweepEachMinute } from './sweeping.ts';

afterEach(stopCallWorlds);

const { accountId } = riverside;
const startedAt = new Date('2026-03-04T15:01:10.000Z');

it('R41 a call whose last Disconnected is lost ends when its records do, not when the first party left', async () => {
  const world = await startCallWorld();
  const call = sessionOf({
    accountId,
    startedAt,
    number: 1,
    disconnects: [300, 5400],
    endsAfter: 5400,
    readyAfter: 5520,
  });
  world.ring(call, call.events.slice(0, -1));
  sweepEachMinute(world);
  await world.run(89);
  expect(await world.calls()).toMatchObject([{ ended_at: new Date(startedAt.getTime() + 300_000) }]);
  await world.run(25);
  expect(await world.calls()).toMatchObject([
    { status: 'disconnected', ended_at: new Date(call.endedAt), recording_status: 'stored' },
  ]);
  // Late after all, it tells of the same end.
  for (const event of call.events.slice(-1)) await world.post(event);
  await world.run(10);
  expect(await world.calls()).toMatchObject([{ ended_at: new Date(call.endedAt), last_sequence: '21' }]);
});

it('a call whose Disconnected and record tell of nearly the same end keeps the first', async () => {
  const world = await startCallWorld();
  const call = missedCall({ accountId, startedAt, number: 1 });
  for (const record of call.records) record.durationMs = (record.durationMs ?? 0) + 20_000;
  world.ring(call);
  sweepEachMinute(world);
  await world.run(75);
  expect(await world.calls()).toMatchObject([{ ended_at: new Date(call.endedAt), call_log_status: 'found' }]);
  const logged = await world.database.query(
    "select 1 from contact_timeline where event_type = 'call.logged'",
  );
  expect(logged).toEqual([]);
});
