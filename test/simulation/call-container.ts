import type { Database } from '../../src/db/client.ts';
import { retryTransient } from '../../src/db/retry.ts';
import type { StageDatabase } from '../../src/db/stage-database.ts';
import { createStoreDirectory } from '../../src/leads/store-directory.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { Log } from '../../src/platform/logger.ts';
import type { Meter } from '../../src/platform/metrics.ts';
import type { ObjectStore } from '../../src/platform/object-store.ts';
import type { Queue } from '../../src/platform/queue.ts';
import type { StateTable } from '../../src/platform/state-table.ts';
import type { Transcriber } from '../../src/platform/transcriber.ts';
import type { Accounts } from '../../src/ringcentral/account.ts';
import { createCallLog } from '../../src/ringcentral/call-log.ts';
import type { ReportCapacity } from '../../src/ringcentral/capacity-metrics.ts';
import { createCallApi } from '../../src/ringcentral/client.ts';
import { createGate } from '../../src/ringcentral/gate.ts';
import { createLogin } from '../../src/ringcentral/login.ts';
import { createMedia } from '../../src/ringcentral/media.ts';
import { createSend, type Send } from '../../src/ringcentral/send.ts';
import { createTokens } from '../../src/ringcentral/tokens.ts';
import { callStores } from './call-accounts.ts';
import type { CallProcess } from './call-process.ts';
import type { Turns } from './call-turns.ts';

/** What lives outside of the process. */
export interface Outside {
  database: Database;
  accounts: Accounts;
  state: StateTable;
  queue: Queue;
  objects: ObjectStore;
  transcriber: Transcriber;
  clock: Clock;
  log: Log;
  meter: Meter;
  reportCapacity: ReportCapacity;
  random: () => number;
}

/** A cold container: the product's parts over the world outside, each call to which `process` may die at. */
export function callContainer(outside: Outside, process: CallProcess, turns?: Turns) {
  const { accounts, clock, log, meter, reportCapacity } = outside;
  /** Calls to the outside, that is: not those that make several of them. */
  const reach = <T extends object>(port: T): T => process.wrap(turns ? turns.wrap(port, process) : port);

  const state = reach(outside.state);
  const gate = createGate(state, clock);
  const direct = createSend({ gate, clock, log, reportCapacity });
  const send = turns ? inTurn(direct, process, turns) : direct;
  const tokens = createTokens({ state, gate, accounts, login: createLogin(send), clock, log, meter });
  const callApi = createCallApi({ accounts, tokens, gate, send });

  const database = mortalDatabase(process, outside.database);
  const patience = () => ({ deadline: new Date(Date.now() + 30_000) });
  const neon: StageDatabase = { run: (work) => retryTransient(() => work(database), patience()) };
  return {
    stage: 'test',
    neon: reach(neon),
    accounts,
    stores: createStoreDirectory(async () => callStores, clock, log),
    state,
    queue: reach(outside.queue),
    objects: reach(outside.objects),
    transcriber: reach(outside.transcriber),
    callLog: process.wrap(createCallLog(callApi, clock, log)),
    media: process.wrap(createMedia(callApi)),
    gate,
    clock,
    log,
    meter,
    random: outside.random,
  };
}

/** Each batch counts as a call to the outside. */
function mortalDatabase(process: CallProcess, db: Database): Database {
  const mortal = process.wrap({ batch: db.batch.bind(db) });
  return new Proxy(db, { get: (target, key) => Reflect.get(key === 'batch' ? mortal : target, key) });
}

/** The whole answer comes within the turn. */
const inTurn =
  (send: Send, process: CallProcess, turns: Turns): Send =>
  (...request) =>
    turns.take(process, async () => {
      const answer = await send(...request);
      if (answer.kind !== 'answer') return answer;
      const { status, headers } = answer.response;
      const body = status === 204 ? null : await answer.response.arrayBuffer();
      return { kind: 'answer', response: new Response(body, { status, headers }) };
    });
