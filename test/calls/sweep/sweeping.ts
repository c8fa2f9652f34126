import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { SimulatedCall } from '../../../local/ringcentral/world.ts';
import { announceParked } from '../../../src/calls/parking.ts';
import { receiveWebhook } from '../../../src/calls/receive-webhook.ts';
import { runSweep, type SweepDependencies } from '../../../src/calls/sweep/sweep.ts';
import { createStoreDirectory } from '../../../src/leads/store-directory.ts';
import { createRingCentral } from '../../../src/ringcentral/ringcentral.ts';
import { callStores, riverside, simulatedAccounts } from '../../simulation/call-accounts.ts';
import type { CallWorld } from '../call-world.ts';
import { aRequest } from '../webhooks.ts';

const { accountId } = riverside;
const nowhere = 'https://calls.example/ringcentral';

/** A subscription that works, for tests of other things. */
const subscribed: SweepDependencies['subscriptions'] = {
  list: async () => ({
    kind: 'ok',
    value: [
      {
        id: 'one',
        status: 'Active',
        eventFilters: [`/restapi/v1.0/account/${accountId}/telephony/sessions`],
        deliveryMode: { transportType: 'WebHook', address: `${nowhere}/${accountId}` },
      },
    ],
  }),
  create: async () => Promise.reject(new Error('There is a subscription')),
  renew: async () => Promise.reject(new Error('It lasts')),
  remove: async () => Promise.reject(new Error('It works')),
};

/** RingCentral as the sweep's own container sees it. */
export function ringCentralOf({ clock, log, meter, state, simulator }: CallWorld) {
  const accounts = simulatedAccounts(simulator.url);
  return createRingCentral({ accounts, state, clock, log, meter, reportCapacity: () => {} });
}

/** The sweep's container in a simulated world. */
export function sweepOf(world: CallWorld, overrides: Partial<SweepDependencies> = {}): SweepDependencies {
  const { clock, log, meter, state, queue, database } = world;
  return {
    neon: { run: (work) => work(database.db) },
    stores: createStoreDirectory(async () => callStores, clock, log),
    state,
    queue,
    accounts: simulatedAccounts(world.simulator.url),
    ...ringCentralOf(world),
    subscriptions: subscribed,
    webhookUrl: nowhere,
    checkTranscriptions: async () => {},
    clock,
    log,
    meter,
    ...overrides,
  };
}

/** One sweep, now. */
export async function sweepNow(world: CallWorld, deps = sweepOf(world)): Promise<void> {
  await runSweep(deps, [accountId], new Date(world.now() + 105_000));
}

/** A sweep at the start of each of the coming minutes, for ever; or more seldom, where a day must go by. */
export function sweepEachMinute(world: CallWorld, deps = sweepOf(world), minutes = 1): void {
  const next = (at: number) =>
    world.timetable.add(
      at,
      async () => {
        next(at + minutes * 60_000);
        await sweepNow(world, deps);
      },
      { endless: true },
    );
  next(Math.ceil(world.now() / 60_000) * 60_000);
}

export interface TestReceiver {
  /** `WEBHOOK_URL` */
  url: string;
  stop(): Promise<void>;
}

/** The webhook receiver behind real HTTP, which RingCentral's simulator can post to. */
export async function startReceiver(world: CallWorld): Promise<TestReceiver> {
  const { clock, log, meter, queue } = world;
  const receiver = { accounts: simulatedAccounts(world.simulator.url), queue, clock, log, meter };
  const server = createServer(async (request, response) => {
    const [, , account = ''] = (request.url ?? '').split('/');
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const event = aRequest({ accountId: account, headers, body: await text(request) });
    const answer = await receiveWebhook(receiver, event);
    const answered = Object.entries(answer.headers ?? {}).map(([name, value]) => [name, String(value)]);
    response.writeHead(answer.statusCode ?? 500, Object.fromEntries(answered)).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port');
  return {
    url: `http://127.0.0.1:${address.port}/ringcentral`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A session as its webhooks left it, with RingCentral's side of it; `columns` are laid over the row. */
export async function seedCall(
  world: CallWorld,
  call: SimulatedCall,
  columns: Record<string, unknown> = {},
): Promise<void> {
  world.simulator.calls.push(call);
  const row = {
    account_id: call.accountId,
    telephony_session_id: call.telephonySessionId,
    session_id: call.records[0]?.sessionId,
    extension_id: call.records[0]?.extensionId,
    extension_ids: [call.records[0]?.extensionId],
    direction: 'inbound',
    started_at: new Date(call.records[0]?.startedAt ?? 0),
    ended_at: new Date(call.endedAt),
    status: 'disconnected',
    last_sequence: 9,
    last_event_at: new Date(call.endedAt),
    call_log_status: 'pending',
    ...columns,
  };
  const names = Object.keys(row);
  await world.database.query(
    `insert into calls (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(row),
  );
}

/** The same, parked and due for a step, with the sign for the sweep. */
export async function seedParked(
  world: CallWorld,
  call: SimulatedCall,
  nextStep = 'call_log',
  columns: Record<string, unknown> = {},
): Promise<void> {
  await seedCall(world, call, { next_step: nextStep, next_attempt_at: world.clock.now(), ...columns });
  await announceParked(world.state, call.accountId, world.clock.now());
}

/** No pass or check is due for the next hour: the pump alone. */
export async function noPasses(world: CallWorld): Promise<void> {
  const at = world.now() + 3600_000;
  await world.state.put(`sweep#${accountId}`, {
    version: 1,
    pass_at: at,
    full_pass_at: at,
    full_passed_at: world.now(),
    subscription_at: at,
    transcriptions_at: at,
  });
  await world.state.put('sweep#unlisted', { version: 1, check_at: at });
}
