import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fault } from '../../local/ringcentral/faults.ts';
import { voicemailCall } from '../../local/ringcentral/sample-calls.ts';
import { riverside } from '../simulation/call-accounts.ts';
import { expectNoRefusals, expectOneOfEach } from '../simulation/call-checks.ts';
import { sessionOf } from '../simulation/call-samples.ts';
import type { CallWorld } from '../simulation/call-world.ts';
import { startCallWorld, stopCallWorlds } from './call-world.ts';

const { accountId } = riverside;
const startedAt = new Date('2026-03-04T15:00:10.000Z');
const endless = Number.POSITIVE_INFINITY;

let world: CallWorld;
beforeEach(async () => {
  world = await startCallWorld();
  world.startSweep();
});
afterEach(stopCallWorlds);

const aCall = (number = 1, more: Partial<Parameters<typeof sessionOf>[0]> = {}) =>
  sessionOf({ accountId, startedAt, number, disconnects: [120], readyAfter: 150, ...more });

/** Calls that all hang up at once. */
function burst(calls: number): void {
  for (let number = 1; number <= calls; number += 1) {
    const call = aCall(number);
    world.ring(call, call.events.slice(-1));
  }
}
const heavy = () => world.requests(/call_log|recording/).filter(({ owner }) => owner === accountId).length;
const refused = () => world.requests().filter(({ status }) => status === 429);
const insidePenalty = () => world.requests().filter((request) => request.insidePenalty);
const status = (code: number, more: Partial<Extract<Fault, { kind: 'status' }>> = {}): Fault => ({
  kind: 'status',
  status: code,
  ...more,
});

describe('RingCentral', () => {
  it('fails at a recording until its message is a dead letter: the sweep stores it, the dead letter adds nothing', async () => {
    world.simulator.faults.add({ surface: 'recording_content', fault: status(503), times: 3 });
    world.ring(aCall());
    await world.settle(90);
    expect(await world.calls()).toMatchObject([{ recording_status: 'stored' }]);
    expect(world.queue.deadLetters).toHaveLength(1);
    world.queue.redriveDeadLetters();
    await world.run(10);
    await expectOneOfEach(world, { recordings: 1 });
  });

  it.each([
    ['cuts the connection', { kind: 'reset' }],
    ['sends half of it', { kind: 'truncate' }],
    ['sends a page', status(200, { body: '<html>Sorry</html>' })],
    ['sends nothing', status(200, { body: '' })],
  ] as [string, Fault][])(
    '%s instead of the recording: nothing of it is kept, and it is fetched again',
    async (_, fault) => {
      world.simulator.faults.add({ surface: 'recording_content', fault });
      world.ring(aCall());
      await world.settle(90);
      await expectOneOfEach(world, { recordings: 1 });
    },
  );

  it('names a recording that it never has: deleted, with a reason, and no dead letter', async () => {
    const call = aCall();
    for (const recording of call.recordings) recording.contentAt = endless;
    world.ring(call);
    await world.run(120);
    expect(await world.calls()).toMatchObject([
      { recording_status: 'deleted', recording_reason: 'content_deleted' },
    ]);
    await expectOneOfEach(world, { recordings: 0 });
  });

  it('refuses the login for a while: the work is parked, few logins are tried, and all is done after it', async () => {
    const fault = status(400, { errorCode: 'OAU-251' });
    world.simulator.faults.add({ surface: 'oauth_token', fault, times: 3 });
    burst(5);
    await world.settle(120);
    const logins = world.requests(/oauth/).filter(({ owner }) => owner === riverside.clientId);
    expect(logins.filter((login) => login.status === 400).length).toBeLessThanOrEqual(3);
    await expectOneOfEach(world, { recordings: 5 });
    expectNoRefusals(world);
  });

  it('forbids the account`s call log: a burst is worked off by the extensions', async () => {
    world.simulator.faults.add({
      surface: 'account_call_log',
      fault: status(403, { errorCode: 'CMN-408' }),
      times: endless,
    });
    burst(12);
    await world.settle(120);
    await expectOneOfEach(world, { recordings: 12 });
    expectNoRefusals(world);
  });

  it('closes for an hour: nobody asks meanwhile, nothing is lost', async () => {
    const headers = { 'retry-after': '3600', 'x-rate-limit-group': 'heavy' };
    burst(12);
    await world.run(2);
    const before = heavy();
    world.simulator.faults.add({ surface: 'account_call_log', fault: status(429, { headers }) });
    await world.run(60);
    expect(heavy()).toBe(before + 1);
    await world.settle(120);
    await expectOneOfEach(world, { recordings: 12 });
    expect(insidePenalty()).toEqual([]);
  });

  it('halves the limit in the middle of a burst: at most one refusal', async () => {
    burst(12);
    await world.run(5);
    world.simulator.limiter.setRule('heavy', { limit: 5 });
    await world.settle(120);
    expect(refused().length).toBeLessThanOrEqual(1);
    expect(insidePenalty()).toEqual([]);
    await expectOneOfEach(world, { recordings: 12 });
  });

  it('raises the limit: a burst goes faster', async () => {
    world.simulator.limiter.setRule('heavy', { limit: 40 });
    burst(24);
    await world.settle(60);
    expectNoRefusals(world);
    await expectOneOfEach(world, { recordings: 24 });
    const [last] = await world.database.query('select max(stored_at) as at from call_recordings');
    expect(Number(last?.at) - startedAt.getTime()).toBeLessThan(6 * 60_000);
  });
});

it('Transcribe has too much to do for ten minutes: the jobs wait, and are started then', async () => {
  world.transcriber.refuse = 'busy';
  burst(3);
  world.ring(voicemailCall({ accountId, startedAt, number: 9 }));
  await world.run(12);
  world.transcriber.refuse = undefined;
  await world.settle(60);
  await expectOneOfEach(world, { recordings: 3, voicemails: 1 });
});

it('the state table is out of reach for three minutes: nobody calls RingCentral, all is done after it', async () => {
  await world.run(2);
  const { get } = world.state;
  world.state.get = () => Promise.reject(new Error('state table down'));
  const asked = world.requests().length;
  const call = aCall();
  world.ring(call);
  await world.run(2).catch(() => {});
  expect(world.requests()).toHaveLength(asked);
  world.state.get = get;
  world.startSweep();
  await world.settle(60);
  await expectOneOfEach(world, { recordings: 1 });
});
