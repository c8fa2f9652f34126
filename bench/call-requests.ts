import type { Simulator } from '../local/ringcentral/simulator.ts';
import { chooser } from '../test/simulation/call-interleaving.ts';
import type { CallWorld } from '../test/simulation/call-world.ts';
import { burstOf, hangUpAt, startDatabases, startRingCentral } from './call-bench-world.ts';
import { type Model, retryAfterOnly, runModel, twoFetches } from './call-models.ts';
import type { Report } from './report.ts';

const models = [retryAfterOnly, twoFetches];
const minuteMs = 60_000;
/** RingCentral's limit: no way to download more. */
const downloadsAMinute = 10;
/** The comparisons get so long. */
const patienceMinutes = 48 * 60;

/** The product's flow until nothing is left to do. */
async function runProduct(world: CallWorld, calls: number): Promise<CallWorld> {
  world.startSweep();
  for (const call of burstOf(calls)) world.ring(call, call.events.slice(-1));
  await world.settle(calls + 60);
  return world;
}

function forbidAccount({ faults }: Simulator): void {
  const fault = { kind: 'status', status: 403, errorCode: 'CMN-408' } as const;
  faults.add({ surface: 'account_call_log', fault, times: Number.POSITIVE_INFINITY });
}

const logRequests = ({ journal }: Simulator) =>
  journal.filter(({ path }) => path.includes('telephonySessionId')).length;
const heavy = ({ journal }: Simulator) =>
  journal.filter(({ group, owner }) => group === 'heavy' && owner === burstOf(1)[0]?.accountId);

/** Requests to the call log for one message, and for one whose account-level log is forbidden. */
export async function measureCallRequests(): Promise<Report> {
  const databases = await startDatabases();
  const product = async (forbidden: boolean) => {
    const world = await databases.newWorld();
    if (forbidden) forbidAccount(world.simulator);
    return logRequests((await runProduct(world, 1)).simulator);
  };
  const comparison = async (model: Model, forbidden: boolean) => {
    const ringCentral = await startRingCentral();
    if (forbidden) forbidAccount(ringCentral.simulator);
    // A message that gets as far as it can in one go.
    ringCentral.simulator.limiter.setRule('heavy', { limit: 100 });
    await runModel(model, ringCentral, burstOf(1), { minutes: 10, random: () => 0 });
    await ringCentral.simulator.stop();
    return logRequests(ringCentral.simulator);
  };
  try {
    const rows = [['this app', String(await product(false)), String(await product(true))]];
    for (const model of models) {
      rows.push([model.name, String(await comparison(model, false)), String(await comparison(model, true))]);
    }
    return {
      title: 'Call Log requests a message',
      notes: ['One Disconnected of a recorded call, counted at the simulated RingCentral.'],
      columns: ['', 'account level', '403, then extension level'],
      rows,
    };
  } finally {
    await databases.stop();
  }
}

interface Drain {
  name: string;
  heavy: number;
  refused: number;
  stored: number;
  deadLetters: number;
  /** From the hanging up until the last recording was stored. */
  minutes: number;
}

/** How long bursts of calls take, and what they cost, against the same bursts without pacing. */
export async function measureCallBursts(): Promise<Report> {
  const databases = await startDatabases();
  try {
    const rows: string[][] = [];
    for (const calls of [1, 100, 500]) {
      const own = await drainProduct(await databases.newWorld(), calls);
      const others: Drain[] = [];
      for (const model of calls === 500 ? [] : models) others.push(await drainModel(model, calls));
      rows.push(...[own, ...others].map((drain) => rowOf(drain, calls)));
    }
    return {
      title: 'Bursts of calls',
      notes: [
        'Recorded calls that hang up at once, RingCentral at 10 Heavy requests a minute with a penalty of 60 s that every request in it restarts; simulated time. The floor is 90 s, and a minute for each ten downloads. "never": not all within 48 h.',
        "Ours has the sweep's list of the first minute in it: an hour costs one, whatever happens.",
      ],
      columns: [
        '',
        'calls',
        'Heavy a call',
        '429s',
        'stored',
        'dead letters',
        'minutes',
        'of the floor',
        'of ours',
      ],
      rows,
    };
  } finally {
    await databases.stop();
  }
}

const floorMinutes = (calls: number) => 1.5 + Math.ceil(calls / downloadsAMinute) - 1;

function rowOf(drain: Drain, calls: number): string[] {
  const { name, heavy: requests, refused, stored, deadLetters, minutes } = drain;
  const isDone = stored === calls;
  return [
    name,
    String(calls),
    (requests / calls).toFixed(2),
    String(refused),
    String(stored),
    String(deadLetters),
    isDone ? minutes.toFixed(1) : 'never',
    isDone ? `${(minutes / floorMinutes(calls)).toFixed(2)}×` : '',
  ];
}

async function drainProduct(world: CallWorld, calls: number): Promise<Drain> {
  const { simulator } = await runProduct(world, calls);
  const rows = await world.database.query(
    'select stored_at from call_recordings where stored_at is not null',
  );
  const times = rows.map(({ stored_at }) => Number(stored_at instanceof Date ? stored_at : Number.NaN));
  return drainOf('this app', simulator, times, world.queue.deadLetters.length);
}

async function drainModel(model: Model, calls: number): Promise<Drain> {
  // Logging in is not what is compared.
  const ringCentral = await startRingCentral({ tokenSeconds: 60 * patienceMinutes });
  const choose = chooser(calls);
  const random = () => choose(1000) / 1000;
  const run = await runModel(model, ringCentral, burstOf(calls), { minutes: patienceMinutes, random });
  await ringCentral.simulator.stop();
  return drainOf(model.name, ringCentral.simulator, [...run.stored.values()], run.deadLetters);
}

function drainOf(name: string, simulator: Simulator, times: number[], deadLetters: number): Drain {
  const requests = heavy(simulator);
  return {
    name,
    heavy: requests.length,
    refused: requests.filter(({ status }) => status === 429).length,
    stored: times.length,
    deadLetters,
    minutes: (Math.max(...times) - hangUpAt) / minuteMs,
  };
}
