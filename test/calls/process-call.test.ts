import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SimulatedCall } from '../../local/ringcentral/world.ts';
import type { CallKey } from '../../src/calls/call-statements.ts';
import { parkCall } from '../../src/calls/parking.ts';
import type { NextStep } from '../../src/calls/step.ts';
import { lakeside, lakesideNumber, riverside } from '../simulation/call-accounts.ts';
import { expectOneOfEach } from '../simulation/call-checks.ts';
import { sessionOf } from '../simulation/call-samples.ts';
import { type CallWorld, startCallWorld, stopCallWorlds } from './call-world.ts';

const { accountId } = riverside;
const startedAt = new Date('2026-03-04T15:00:10.000Z');
const endedAt = startedAt.getTime() + 120_000;

let world: CallWorld;
beforeEach(async () => {
  world = await startCallWorld();
});
afterEach(stopCallWorlds);

const aCall = (number = 1, more: Partial<Parameters<typeof sessionOf>[0]> = {}) =>
  sessionOf({ accountId, startedAt, number, disconnects: [120], readyAfter: 150, ...more });
const keyOf = ({ accountId: account, telephonySessionId }: SimulatedCall): CallKey => ({
  accountId: account,
  telephonySessionId,
});
const surfaces = () => world.requests(/call_log|recording/).map(({ surface }) => surface);
const looks = () => world.requests(/call_log/).map(({ at }) => Math.round((at - endedAt) / 1000));

/** The Disconnected of a call again, so many seconds after its end, of another party. */
function another(call: SimulatedCall, afterSeconds: number) {
  const [last] = call.events.slice(-1);
  if (!last) throw new Error('a call has events');
  const at = new Date(endedAt + afterSeconds * 1000).toISOString();
  const parties = last.body.parties.map((party) => ({ ...party, id: `${party.id}0` }));
  return { ...last, timestamp: at, body: { ...last.body, eventTime: at, sequence: 99, parties } };
}

describe('a Disconnected while others are parked', () => {
  const parkAnother = async (step: NextStep, afterSeconds: number, account = accountId) => {
    const more = account === accountId ? {} : { accountId: account, businessNumber: lakesideNumber };
    const other = aCall(99, more);
    world.ring(other, other.events.slice(0, 1));
    await world.run(1);
    const at = new Date(endedAt + 90_000 + afterSeconds * 1000);
    await parkCall(world.database.db, keyOf(other), { step, at });
    const call = aCall();
    world.ring(call);
    await world.run(4);
  };

  it.each(['call_log', 'extension_call_log', 'recording'] as const)(
    'for a Heavy slot (%s) parks at once, without a request',
    async (step) => {
      await parkAnother(step, 0);
      expect(world.requests()).toEqual([]);
      expect(world.logged('ringcentral.parked')).toMatchObject([{ next_step: 'call_log', wait_seconds: 0 }]);
    },
  );

  it.each([
    ['voicemail', 0],
    ['transcription', 0],
    ['call_log', 300],
  ] as const)('for something else (%s, due in %i s) is served', async (step, seconds) => {
    await parkAnother(step, seconds);
    expect(surfaces()).toEqual(['account_call_log', 'recording_content']);
  });

  it('of another account is served', async () => {
    await parkAnother('call_log', 0, lakeside.accountId);
    expect(surfaces()).toEqual(['account_call_log', 'recording_content']);
  });
});

describe('a Disconnected of a known session', () => {
  it('is a no-op when the snapshot is 90 s newer than it and everything is stored', async () => {
    const call = aCall();
    world.ring(call, [...call.events, another(call, 0)]);
    await world.run(30);
    expect(surfaces()).toEqual(['account_call_log', 'recording_content']);
  });

  it('asks again where the snapshot is older: somebody may have recorded since', async () => {
    const call = aCall();
    world.ring(call, [...call.events, another(call, 60)]);
    await world.run(30);
    expect(surfaces()).toEqual(['account_call_log', 'recording_content', 'account_call_log']);
  });

  it('asks again where the snapshot had no recording, however new it is', async () => {
    const call = aCall(1, { readyAfter: 9999 });
    const late = another(call, 0);
    world.ring(call, [
      ...call.events,
      late,
      { ...late, timestamp: new Date(endedAt + 600_000).toISOString() },
    ]);
    await world.run(30);
    expect(looks()).toEqual([90, 90, 690]);
  });

  it('finishes a recording that the snapshot knows, without a look into the call log', async () => {
    const call = aCall();
    for (const recording of call.recordings) recording.contentAt = endedAt + 400_000;
    const late = { ...another(call, 0), timestamp: new Date(endedAt + 600_000).toISOString() };
    world.ring(call, [...call.events, late]);
    await world.run(30);
    expect(surfaces()).toEqual(['account_call_log', 'recording_content', 'recording_content']);
    await expectOneOfEach(world, { recordings: 1 });
  });

  it('that SQS delivers again after its look was stored does not look again', async () => {
    const fault = { kind: 'status', status: 503 } as const;
    world.simulator.faults.add({ surface: 'recording_content', fault });
    world.ring(aCall());
    await world.run(30);
    expect(surfaces()).toEqual(['account_call_log', 'recording_content', 'recording_content']);
    await expectOneOfEach(world, { recordings: 1 });
  });
});

describe('a session whose row says what is next', () => {
  const send = async (call: SimulatedCall) => {
    await world.queue.send(
      {
        version: 1,
        kind: 'session',
        ...keyOf(call),
        redriveCount: 0,
        sentAt: world.clock.now().toISOString(),
      },
      { delaySeconds: 0 },
    );
    await world.run(10);
  };

  it('the recording: goes on by the stored snapshot', async () => {
    const call = aCall();
    for (const recording of call.recordings) recording.contentAt = endedAt + 400_000;
    world.ring(call);
    await world.run(10);
    await send(call);
    expect(surfaces()).toEqual(['account_call_log', 'recording_content', 'recording_content']);
  });

  it('the call log: asks for it, though there is a snapshot', async () => {
    const call = aCall();
    world.ring(call);
    await world.run(10);
    await world.database.query("update calls set next_step = 'call_log'");
    await send(call);
    expect(looks()).toHaveLength(2);
    expect(await world.calls()).toMatchObject([{ next_step: null }]);
  });

  it('nothing, everything is stored: no request', async () => {
    const call = aCall();
    world.ring(call);
    await world.run(10);
    const asked = world.requests().length;
    await send(call);
    expect(world.requests()).toHaveLength(asked);
    await expectOneOfEach(world, { recordings: 1 });
  });
});
