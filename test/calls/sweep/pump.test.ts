import { afterEach, expect, it } from 'vitest';
import { answeredCall } from '../../../local/ringcentral/sample-calls.ts';
import { riverside } from '../../simulation/call-accounts.ts';
import { startCallWorld, stopCallWorlds } from '../call-world.ts';
import { sweepEachMinute } from './sweeping.ts';

afterEach(stopCallWorlds);

const { accountId } = riverside;
const talk = (number: number, startedAt: Date) =>
  answeredCall({ accountId, number, startedAt, talkSeconds: 60, recordingDelaySeconds: 60 });

it('30 calls that end at once: each stored once, in order, without a 429', async () => {
  const world = await startCallWorld();
  const startedAt = new Date(world.now() + 1000);
  for (let number = 1; number <= 30; number += 1) world.ring(talk(number, startedAt));
  sweepEachMinute(world, 20);
  await world.run(20);
  const heavy = world.requests().filter(({ group }) => group === 'heavy');
  console.log(
    heavy
      .map(({ at, surface, status }) => [(at - startedAt.getTime()) / 1000, surface, status].join(' '))
      .join('\n'),
  );
  console.log(world.logged('call_sweep.pump_finished'));
  console.log(
    await world.database.query(
      'select recording_status, next_step, next_attempt_at, count(*) from calls group by 1,2,3',
    ),
  );
  expect(heavy.filter(({ status }) => status === 429)).toEqual([]);
});
