import type { FunctionPlan } from '../assembly/functions.ts';
import type { Journal } from '../journal.ts';
import type { SimulatedAccount } from '../ringcentral/oauth.ts';
import { type Simulator, startSimulator } from '../ringcentral/simulator.ts';
import type { SimulatedCall } from '../ringcentral/world.ts';
import type { ParameterValues } from '../services/ssm.ts';
import type { CallFile, Notification } from './call-files.ts';

/** RingCentral's side of a run: its API, and the webhooks that it posts. */
export interface Telephony {
  simulator: Simulator;
  /** The accounts that the stage's sweep watches, once `parameters` was asked. */
  watched(): readonly string[];
  /** `{prefix}/{accountId}` for each function that has a prefix, as an operator makes them. */
  parameters(functions: readonly FunctionPlan[]): ParameterValues;
  /** RingCentral knows these calls from now on, and posts their webhooks one after the other to the HTTP API. */
  play(
    webOrigin: string,
    calls: readonly SimulatedCall[],
    notifications: readonly Notification[],
  ): Promise<void>;
  close(): Promise<void>;
}

/** As an account with a raised limit: so that a handful of calls isn't paced over minutes. */
const limits = { heavy: { limit: 120 } };
const verificationToken = 'local-webhook-secret';

/** @param more accounts besides the stage's own */
export async function startTelephony(
  more: readonly string[],
  journal: Pick<Journal, 'fail'>,
): Promise<Telephony> {
  const accounts: SimulatedAccount[] = [];
  const simulator = await startSimulator({ accounts, limits });
  let watched: readonly string[] = [];

  async function post(webOrigin: string, { accountId, body }: Notification): Promise<void> {
    const answer = await fetch(`${webOrigin}/ringcentral/${accountId}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'RingCentral-Webhook/8.3',
        'verification-token': verificationToken,
      },
      body: JSON.stringify(body),
    });
    await answer.arrayBuffer();
    if (answer.status !== 200) {
      journal.fail('webhook_refused', accountId, `RingCentral's webhook was answered with ${answer.status}`);
    }
  }

  return {
    simulator,
    watched: () => watched,
    parameters(functions) {
      watched = [...new Set(functions.flatMap(accountIdsOf))];
      accounts.push(...[...new Set([...watched, ...more])].map(accountOf));
      return parametersFor(functions, accounts, simulator.url);
    },
    async play(webOrigin, calls, notifications) {
      simulator.calls.push(...calls);
      for (const notification of notifications) await post(webOrigin, notification);
    },
    close: () => simulator.stop(),
  };
}

/** The webhooks of simulated calls, in the order of their events. */
export function notificationsOf(calls: readonly SimulatedCall[]): Notification[] {
  const at = ({ timestamp }: SimulatedCall['events'][number]) => Date.parse(timestamp);
  return calls
    .flatMap(({ accountId, events }) => events.map((event) => ({ accountId, event })))
    .sort((a, b) => at(a.event) - at(b.event))
    .map(({ accountId, event }) => ({ accountId, body: event }));
}

/** The accounts that files tell of. */
export const accountsOf = (files: readonly CallFile[]) => [
  ...new Set(
    files
      .flatMap(({ notifications, calls }) => [...notifications, ...calls])
      .map(({ accountId }) => accountId),
  ),
];

const accountIdsOf = ({ environment }: FunctionPlan) =>
  (environment.RINGCENTRAL_ACCOUNT_IDS ?? '').split(',').filter(Boolean);

const accountOf = (accountId: string): SimulatedAccount => ({
  accountId,
  clientId: `client-${accountId}`,
  clientSecret: 'local-client-secret',
  jwt: `local-jwt-${accountId}`,
  ownerExtensionId: `${accountId}201`,
});

function parametersFor(
  functions: readonly FunctionPlan[],
  accounts: readonly SimulatedAccount[],
  server: string,
): ParameterValues {
  const byRegion = new Map<string, Map<string, string>>();
  for (const { region, environment } of functions) {
    const prefix = environment.RINGCENTRAL_PARAMETER_PREFIX;
    if (!prefix) continue;
    const inRegion = byRegion.get(region) ?? new Map<string, string>();
    byRegion.set(region, inRegion);
    for (const { accountId, clientId, clientSecret, jwt } of accounts) {
      const value = { server, clientId, clientSecret, jwt, webhookVerificationTokens: [verificationToken] };
      inRegion.set(`${prefix}/${accountId}`, JSON.stringify(value));
    }
  }
  return byRegion;
}
