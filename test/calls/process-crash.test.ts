import { afterEach, expect, it } from 'vitest';
import { voicemailCall } from '../../local/ringcentral/sample-calls.ts';
import { riverside } from '../simulation/call-accounts.ts';
import { expectNoRefusals, expectOneOfEach } from '../simulation/call-checks.ts';
import type { CallProcess } from '../simulation/call-process.ts';
import { sessionOf } from '../simulation/call-samples.ts';
import { type CallWorld, startCallWorld, stopCallWorlds, type WorldOptions } from './call-world.ts';

afterEach(stopCallWorlds);

const { accountId } = riverside;
const startedAt = new Date('2026-03-04T15:00:10.000Z');

/** Recorded calls, of which the second has to be parked, and a voicemail. */
async function run(recordings: 1 | 2, options: WorldOptions = {}): Promise<CallWorld> {
  const world = await startCallWorld(options);
  const timed = { accountId, startedAt, disconnects: [120], readyAfter: 150 };
  const recorded = [1, 2].slice(0, recordings).map((number) => sessionOf({ ...timed, number }));
  for (const call of [...recorded, voicemailCall({ accountId, startedAt, number: 3 })]) {
    world.ring(call, call.events.slice(-1));
  }
  world.startSweep();
  await world.settle(120);
  return world;
}

/** To die after these is to die after the call before them, which for a request is its slot. */
const onlyReads = new Set([
  ...['get', 'head', 'describe', 'getText'],
  ...['fetchCallLog', 'openRecording', 'fetchVoicemail', 'fetchTranscript', 'openVoicemailAudio'],
]);

/** The calls of a process after which the world is another one, and the moment before the first. */
function deathsOf({ names }: CallProcess): { call: number; when: 'before' | 'after' }[] {
  const changes = names.flatMap((name, index) =>
    onlyReads.has(name) || (name === 'run' && names[index + 1] === 'batch') ? [] : [index + 1],
  );
  return [{ call: 1, when: 'before' }, ...changes.map((call) => ({ call, when: 'after' as const }))];
}

/** Of processes that do the same, the first. */
const kindsOf = (processes: readonly CallProcess[]) => {
  const ways = processes.map(({ names }) => names.join());
  return processes.flatMap((process, index) =>
    ways.indexOf(ways[index] ?? '') === index ? [{ process, index }] : [],
  );
};

/** Nothing lost, nothing doubled; what is in the bucket is not downloaded again. */
async function expectAsIfAlive(world: CallWorld, recordings: number): Promise<void> {
  await expectOneOfEach(world, { recordings, voicemails: 1 });
  expect([...world.objects.uploads.values()]).toEqual(Array(recordings + 1).fill(1));
  expectNoRefusals(world);
  await stopCallWorlds();
}

it('an invocation that dies at any of its calls: nothing lost, nothing doubled', async () => {
  const { invocations } = await run(1);
  const runs = kindsOf(invocations).flatMap(({ process, index }) =>
    deathsOf(process).map((point) => ({ invocation: index + 1, point })),
  );
  expect(runs.length).toBeGreaterThan(20);
  for (const { invocation, point } of runs) {
    const world = await run(1, { crashAt: (n) => (n === invocation ? point : undefined) });
    expect(world.invocations[invocation - 1]?.dead).toBe(true);
    await expectAsIfAlive(world, 1);
  }
}, 120_000);

it('a sweep that dies at any of its calls: nothing lost, nothing doubled', async () => {
  const { sweeps } = await run(2);
  const runs = kindsOf(sweeps).flatMap(({ process, index }) =>
    process.names.includes('send') ? deathsOf(process).map((point) => ({ sweep: index + 1, point })) : [],
  );
  expect(runs.length).toBeGreaterThan(5);
  for (const { sweep, point } of runs) {
    const world = await run(2, { crashSweepAt: (n) => (n === sweep ? point : undefined) });
    expect(world.sweeps[sweep - 1]?.dead).toBe(true);
    await expectAsIfAlive(world, 2);
  }
}, 120_000);
