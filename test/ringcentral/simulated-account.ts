import type { SimulatedAccount } from '../../local/ringcentral/oauth.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../local/ringcentral/simulator.ts';
import { FakeClock } from '../support/fakes.ts';

export const account: SimulatedAccount = {
  accountId: '900100',
  clientId: 'client-a',
  clientSecret: 'secret-a',
  jwt: 'jwt-a',
  ownerExtensionId: '900100201',
};

export type TestSimulator = Simulator & { clock: FakeClock };

/** A simulator with one account and a clock that stands still until it is moved. */
export async function startTestSimulator(options: Partial<SimulatorOptions> = {}): Promise<TestSimulator> {
  const clock = new FakeClock('2026-03-04T15:00:00.000Z');
  return Object.assign(await startSimulator({ accounts: [account], clock, ...options }), { clock });
}

/** The body of an answer, for expectations on it. */
export async function readJson(answer: Response | Promise<Response>) {
  return JSON.parse(await (await answer).text());
}
