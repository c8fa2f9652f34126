import type { SimulatedAccount } from '../../local/ringcentral/oauth.ts';
import type { Accounts } from '../../src/ringcentral/account.ts';
import type { Subscriptions } from '../../src/ringcentral/subscriptions.ts';
import { riversideStore } from '../support/leads.ts';

export const riverside: SimulatedAccount = {
  accountId: '900412',
  clientId: 'client-a',
  clientSecret: 'secret-a',
  jwt: 'jwt-a',
  ownerExtensionId: '900412201',
};
export const lakeside: SimulatedAccount = {
  accountId: '900777',
  clientId: 'client-b',
  clientSecret: 'secret-b',
  jwt: 'jwt-b',
  ownerExtensionId: '900777201',
};
export const lakesideNumber = '+12065550177';

/** StoresV2: a store for each account, by the number that callers dial. */
export const callStores = [
  { ...riversideStore, phoneNumbers: ['(206) 555-0199'] },
  {
    storeId: '0a7e1c55-43d2-4d0e-8f2b-9b1c6d2e0777',
    leadEmail: 'lakeside@leads.example',
    franchise: 'orangeTheory-0777',
    providerAccountId: lakeside.accountId,
    trackingId: 'OTF0777',
    phoneNumbers: [lakesideNumber],
  },
];

export const webhookSecret = 'webhook-secret';

/** The configured accounts, as SSM would have them. */
export function simulatedAccounts(server: string): Accounts {
  const find = async (id: string) => {
    const known = [riverside, lakeside].find(({ accountId }) => accountId === id);
    return known && { ...known, server, webhookVerificationTokens: [webhookSecret] };
  };
  return { find, refresh: find };
}

export const webhookUrl = 'https://hooks.example/ringcentral';

/** Every account's webhook is as it should be. */
export const activeSubscriptions: Subscriptions = {
  list: async (accountId) => ({
    kind: 'ok',
    value: [
      {
        id: `subscription-${accountId}`,
        status: 'Active',
        eventFilters: ['/restapi/v1.0/account/~/telephony/sessions'],
        expirationTime: '2036-03-01T00:00:00.000Z',
        deliveryMode: { transportType: 'WebHook', address: `${webhookUrl}/${accountId}` },
      },
    ],
  }),
  create: () => Promise.reject(new Error('no subscription is missing')),
  renew: () => Promise.reject(new Error('no subscription runs out')),
  remove: () => Promise.reject(new Error('no subscription is in the way')),
};
