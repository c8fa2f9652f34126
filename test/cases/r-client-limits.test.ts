import { afterEach, beforeEach, expect, it } from 'vitest';
import { answeredCall } from '../../local/ringcentral/sample-calls.ts';
import type { Outcome } from '../../src/ringcentral/errors.ts';
import { recordingsOf } from '../../src/ringcentral/snapshot.ts';
import { type Container, createWorld, type World } from '../ringcentral/client-under-test.ts';
import { account, startTestSimulator, type TestSimulator } from '../ringcentral/simulated-account.ts';

const { accountId } = account;
let simulator: TestSimulator;
let world: World;
let container: Container;

beforeEach(async () => {
  simulator = await startTestSimulator();
  world = createWorld(simulator);
  container = world.container();
});
afterEach(() => simulator.stop());

const context = (telephonySessionId: string) => ({ accountId, telephonySessionId });
const status429 = (retryAfter: string, headers: Record<string, string> = {}) =>
  ({
    kind: 'status',
    status: 429,
    errorCode: 'CMN-301',
    headers: { 'retry-after': retryAfter, ...headers },
  }) as const;
const surfaces = () => simulator.journal.map(({ surface }) => surface);
const heavyStatus = () => container.gate.status({ owner: accountId, group: 'heavy' });

function addCalls(count: number) {
  const calls = Array.from({ length: count }, (_, number) =>
    answeredCall({ accountId, number, startedAt: simulator.clock.now(), recordingDelaySeconds: 30 }),
  );
  simulator.calls.push(...calls);
  simulator.clock.advance(3600_000);
  return calls;
}

/** As a processor does: parks without a slot, and comes back when the gate said so. */
async function untilDone<T>(work: () => Promise<Outcome<T> | { kind: 'no_extension' }>): Promise<T> {
  for (;;) {
    const outcome = await work();
    if (outcome.kind === 'ok') return outcome.value;
    if (outcome.kind !== 'no_slot') throw new Error(JSON.stringify(outcome));
    await comeBackIn(outcome.waitSeconds);
  }
}

const sleepers: { at: number; wake: () => void }[] = [];
function comeBackIn(seconds: number): Promise<void> {
  return new Promise((wake) => sleepers.push({ at: simulator.clock.now().getTime() + seconds * 1000, wake }));
}

function letPass(milliseconds: number): void {
  simulator.clock.advance(milliseconds);
  const now = simulator.clock.now().getTime();
  for (const sleeper of sleepers.splice(0)) {
    if (sleeper.at <= now) sleeper.wake();
    else sleepers.push(sleeper);
  }
}

it('R6 429 storm: twenty messages at once, all done without a single 429 or request in a penalty', async () => {
  const calls = addCalls(20);
  let done = 0;
  const work = calls.map(async ({ telephonySessionId, endedAt }) => {
    const worker = world.container();
    const snapshot = await untilDone(() =>
      worker.callLog.fetchCallLog(telephonySessionId, accountId, { firstEventAt: new Date(endedAt) }),
    );
    for (const { contentUri = '' } of recordingsOf(snapshot)) {
      const { stream } = await untilDone(() =>
        worker.media.openRecording(contentUri, context(telephonySessionId)),
      );
      stream.resume();
    }
    done += 1;
  });
  while (done < calls.length) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (sleepers.length === calls.length - done) letPass(2500);
  }
  await Promise.all(work);
  const heavy = simulator.journal.filter(({ group }) => group === 'heavy');
  expect(heavy).toHaveLength(40);
  expect(heavy.filter(({ status, insidePenalty }) => status !== 200 || insidePenalty)).toEqual([]);
});

it('R6 429 storm: a penalty that came all the same is not disturbed by any container', async () => {
  const [call] = addCalls(1);
  simulator.limiter.penalise(accountId, 'heavy', simulator.clock.now().getTime());
  const attempt = (worker: Container) =>
    worker.callLog.fetchCallLog(call?.telephonySessionId ?? '', accountId, {
      firstEventAt: simulator.clock.now(),
    });
  expect(await attempt(container)).toMatchObject({ kind: 'rate_limited', retryAfterSeconds: 60 });
  for (let seconds = 0; seconds < 60; seconds += 10) {
    expect(await attempt(world.container())).toMatchObject({ kind: 'no_slot', waitSeconds: 68 - seconds });
    simulator.clock.advance(10_000);
  }
  simulator.clock.advance(7500);
  expect((await attempt(world.container())).kind).toBe('ok');
  expect(simulator.journal.filter(({ insidePenalty }) => insidePenalty)).toHaveLength(1);
});

it('R7 429 on media: a rate limit, not a failed download; the known contentUri costs no call log again', async () => {
  const [call] = addCalls(1);
  if (!call) throw new Error('no call');
  const { telephonySessionId } = call;
  const fetched = await container.callLog.fetchCallLog(telephonySessionId, accountId, {
    firstEventAt: new Date(call.endedAt),
  });
  if (fetched.kind !== 'ok') throw new Error(fetched.kind);
  const [recording] = recordingsOf(fetched.value);
  const fault = status429('45', { 'x-rate-limit-group': 'heavy' });
  simulator.faults.add({ surface: 'recording_content', fault });
  const open = () => container.media.openRecording(recording?.contentUri ?? '', context(telephonySessionId));
  expect(await open()).toEqual({
    kind: 'rate_limited',
    surface: 'recording_content',
    group: 'heavy',
    retryAfterSeconds: 45,
  });
  expect(container.log.lines.at(-1)).toEqual({
    level: 'warn',
    event: 'ringcentral.rate_limited',
    fields: {
      api_surface: 'recording_content',
      account_id: accountId,
      telephony_session_id: telephonySessionId,
      retry_after_seconds: 45,
      rate_limit_group: 'heavy',
      client_error_action: 'throw',
    },
  });
  expect(await open()).toMatchObject({ kind: 'no_slot', waitSeconds: 53 });
  simulator.clock.advance(52_500);
  expect((await open()).kind).toBe('ok');
  expect(surfaces().filter((surface) => surface === 'account_call_log')).toHaveLength(1);
});

it('R8 429 with full Remaining: Retry-After is obeyed, Remaining not believed', async () => {
  const headers = { 'x-rate-limit-remaining': '50', 'x-rate-limit-limit': '50' };
  simulator.faults.add({ surface: 'account_call_log', fault: status429('60', headers) });
  const attempt = () =>
    container.callLog.fetchCallLog('s-1', accountId, { firstEventAt: simulator.clock.now() });
  expect(await attempt()).toMatchObject({ kind: 'rate_limited', retryAfterSeconds: 60 });
  expect(await attempt()).toMatchObject({ kind: 'no_slot', waitSeconds: 68 });
  expect((await heavyStatus()).closedUntil).toEqual(new Date(simulator.clock.now().getTime() + 60_000));
  expect(container.capacities.filter(({ source }) => source === 'account_call_log')).toEqual([]);
});

it.each([
  ['', 60],
  ['Wed, 04 Mar 2026 15:01:00 GMT', 60],
  ['soon', 60],
  ['-5', 60],
  ['1200', 1200],
])('R8 Retry-After %j is %i seconds', async (retryAfter, seconds) => {
  simulator.faults.add({ surface: 'account_call_log', fault: status429(retryAfter) });
  expect(
    await container.callLog.fetchCallLog('s-1', accountId, { firstEventAt: simulator.clock.now() }),
  ).toMatchObject({ kind: 'rate_limited', retryAfterSeconds: seconds });
  expect((await heavyStatus()).closedUntil).toEqual(
    new Date(simulator.clock.now().getTime() + seconds * 1000),
  );
});
