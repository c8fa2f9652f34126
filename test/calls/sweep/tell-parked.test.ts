import { afterEach, expect, it } from 'vitest';
import { answeredCall, voicemailCall } from '../../../local/ringcentral/sample-calls.ts';
import { riverside } from '../../simulation/call-accounts.ts';
import { withShortAudio } from '../../simulation/call-samples.ts';
import { type CallWorld, startCallWorld, stopCallWorlds } from '../call-world.ts';
import { noPasses, seedCall, seedParked, sweepNow } from './sweeping.ts';

afterEach(stopCallWorlds);

const { accountId } = riverside;
const minute = 60_000;
const startedAt = (world: CallWorld, minutesAgo: number) => new Date(world.now() - minutesAgo * minute);
const answered = (world: CallWorld, number: number, minutesAgo = 5) =>
  withShortAudio(
    answeredCall({ accountId, number, startedAt: startedAt(world, minutesAgo), talkSeconds: 60 }),
  );
const parked = (world: CallWorld) =>
  world
    .logged('ringcentral.parked')
    .sort((a, b) => String(a.telephony_session_id).localeCompare(String(b.telephony_session_id)));

it('what a list leads to is told as what a message parks', async () => {
  const world = await startCallWorld();
  await noPasses(world);
  const recorded = answered(world, 1);
  const message = voicemailCall({ accountId, number: 2, startedAt: startedAt(world, 5) });
  const unlisted = answered(world, 3, 3);
  for (const record of unlisted.records) record.visibleAt = Number.POSITIVE_INFINITY;
  for (const call of [recorded, message, unlisted]) await seedParked(world, call);
  await sweepNow(world);
  const line = (call: { telephonySessionId: string }, more: Record<string, unknown>) => ({
    account_id: accountId,
    telephony_session_id: call.telephonySessionId,
    ...more,
  });
  expect(parked(world)).toEqual([
    line(recorded, { next_step: 'recording', wait_seconds: 0, rate_limit_group: 'heavy' }),
    line(message, { next_step: 'voicemail', wait_seconds: 0, rate_limit_group: 'light' }),
    // It waits for the log, not for a slot.
    line(unlisted, {
      next_step: 'call_log',
      wait_seconds: Math.ceil((unlisted.endedAt + 5 * minute - world.now()) / 1000),
      rate_limit_group: undefined,
    }),
  ]);
});

it('so is what a refused list leads to', async () => {
  const world = await startCallWorld();
  await noPasses(world);
  const call = answered(world, 1);
  await seedParked(world, call);
  const fault = { kind: 'status', status: 403, errorCode: 'CMN-408' } as const;
  world.simulator.faults.add({ surface: 'account_call_log', fault });
  await sweepNow(world);
  expect(parked(world)).toMatchObject([
    { next_step: 'extension_call_log', wait_seconds: 0, rate_limit_group: 'heavy' },
  ]);
});

it('and what a pass finds to be unfinished', async () => {
  const world = await startCallWorld();
  const call = answered(world, 1, 75);
  await seedCall(world, call, {
    call_log_status: 'found',
    recording_status: 'available',
    snapshot: { fetchedAt: new Date(call.endedAt).toISOString(), coverage: 'account', records: [] },
    snapshot_at: new Date(call.endedAt),
  });
  await world.database.query(
    'insert into call_recordings (recording_id, account_id, telephony_session_id, content_uri) values ($1, $2, $3, $4)',
    [call.recordings[0]?.id, accountId, call.telephonySessionId, `${world.simulator.url}/media/x`],
  );
  await sweepNow(world);
  expect(parked(world)).toMatchObject([
    { next_step: 'recording', wait_seconds: 0, rate_limit_group: 'heavy' },
  ]);
});
