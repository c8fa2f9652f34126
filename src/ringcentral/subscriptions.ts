import { type CallApi, readAs } from './client.ts';
import type { Outcome } from './errors.ts';
import { type Subscription, subscriptionListSchema, subscriptionSchema } from './schemas.ts';

/** The event filter of an account's calls: one delivery for each extension concerned. */
const telephonyEventFilter = '/restapi/v1.0/account/~/telephony/sessions';
/** RingCentral's maximum: ten years. */
const expiresInSeconds = 315_360_000;

/** Webhook subscriptions of the account's application and user. */
export interface Subscriptions {
  list(accountId: string): Promise<Outcome<Subscription[]>>;
  /** RingCentral posts a handshake to the address before it answers; a wrong answer there is SUB-520 to SUB-525. */
  create(
    accountId: string,
    webhook: { address: string; verificationToken: string },
  ): Promise<Outcome<Subscription>>;
  renew(accountId: string, subscriptionId: string): Promise<Outcome<Subscription>>;
  /** Also well when it is gone already. */
  remove(accountId: string, subscriptionId: string): Promise<Outcome<undefined>>;
}

const surface = 'subscription';
const path = '/restapi/v1.0/subscription';

export function createSubscriptions(callApi: CallApi): Subscriptions {
  const uriOf = (subscriptionId: string) => `${path}/${encodeURIComponent(subscriptionId)}`;
  return {
    async list(accountId) {
      const answer = await callApi(
        { surface, accountId, uri: path },
        readAs(surface, subscriptionListSchema),
      );
      return answer.kind === 'ok' ? { kind: 'ok', value: answer.value.records } : answer;
    },
    create: (accountId, { address, verificationToken }) =>
      callApi(
        {
          surface,
          group: 'medium',
          accountId,
          method: 'POST',
          uri: path,
          body: {
            eventFilters: [telephonyEventFilter],
            deliveryMode: { transportType: 'WebHook', address, verificationToken },
            expiresIn: expiresInSeconds,
          },
        },
        readAs(surface, subscriptionSchema),
      ),
    renew: (accountId, subscriptionId) =>
      callApi(
        { surface, accountId, method: 'POST', uri: `${uriOf(subscriptionId)}/renew` },
        readAs(surface, subscriptionSchema),
      ),
    async remove(accountId, subscriptionId) {
      const answer = await callApi<undefined>(
        { surface, group: 'medium', accountId, method: 'DELETE', uri: uriOf(subscriptionId) },
        async () => ({ kind: 'ok', value: undefined }),
      );
      return answer.kind === 'not_found' ? { kind: 'ok', value: undefined } : answer;
    },
  };
}
