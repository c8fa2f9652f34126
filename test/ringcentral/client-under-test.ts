import type { StateTable } from '../../src/platform/state-table.ts';
import type { Accounts } from '../../src/ringcentral/account.ts';
import { createAccounts } from '../../src/ringcentral/account.ts';
import { createRingCentral, type RingCentral } from '../../src/ringcentral/ringcentral.ts';
import { recordingLog, recordingMeter } from '../support/fakes.ts';
import { memoryStateTable } from './memory-state-table.ts';
import { account, type TestSimulator } from './simulated-account.ts';

export interface Container extends RingCentral {
  log: ReturnType<typeof recordingLog>;
  meter: ReturnType<typeof recordingMeter>;
  capacities: { accountId: string; source: string; limit: number; remaining: number }[];
}

export interface World {
  simulator: TestSimulator;
  state: ReturnType<typeof memoryStateTable>;
  /** What SSM holds; may be changed while the test runs. */
  parameters: Map<string, string>;
  /** A cold Lambda container: nothing shared with the others but state table and parameters. */
  container(state?: StateTable): Container;
}

const prefix = '/ringcentral';

/** Everything real but the clock, SSM and DynamoDB. */
export function createWorld(simulator: TestSimulator): World {
  const state = memoryStateTable();
  const { accountId, clientId, clientSecret, jwt } = account;
  const parameters = new Map([
    [
      `${prefix}/${accountId}`,
      JSON.stringify({
        server: simulator.url,
        clientId,
        clientSecret,
        jwt,
        webhookVerificationTokens: ['v'],
      }),
    ],
  ]);
  return {
    simulator,
    state,
    parameters,
    container(ownState = state) {
      const log = recordingLog();
      const meter = recordingMeter();
      const capacities: Container['capacities'] = [];
      const ringCentral = createRingCentral({
        accounts: accountsOf(parameters, simulator),
        state: ownState,
        clock: simulator.clock,
        log,
        meter,
        reportCapacity: (capacity) => capacities.push(capacity),
      });
      return { ...ringCentral, log, meter, capacities };
    },
  };
}

/** As the SSM client: a value is read once and kept until `refresh`. */
function accountsOf(parameters: Map<string, string>, { clock }: TestSimulator): Accounts {
  const cached = new Map<string, string>();
  const read = async (name: string) => {
    const value = parameters.get(name);
    if (value === undefined) throw Object.assign(new Error('not found'), { name: 'ParameterNotFound' });
    cached.set(name, value);
    return value;
  };
  return createAccounts(
    { get: async (name) => cached.get(name) ?? read(name), refresh: read },
    prefix,
    clock,
  );
}
