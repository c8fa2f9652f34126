import { afterEach, expect, it } from 'vitest';
import { Schedule } from '../../../src/calls/sweep/schedule.ts';
import { checkSubscription } from '../../../src/calls/sweep/subscription.ts';
import { watchSubscription } from '../../../src/calls/sweep/watch-subscription.ts';
import type { Failure } from '../../../src/ringcentral/errors.ts';
import type { Subscription } from '../../../src/ringcentral/schemas.ts';
import { riverside, webhookSecret } from '../../simulation/call-accounts.ts';
import { startCallWorld, stopCallWorlds } from '../call-world.ts';
import { noPasses, sweepOf } from './sweeping.ts';

afterEach(stopCallWorlds);

const { accountId } = riverside;
const filter = `/restapi/v1.0/account/${accountId}/telephony/sessions`;
const webhookUrl = 'https://calls.example/ringcentral/';
const address = `https://calls.example/ringcentral/${accountId}`;

const subscription = (id: string, more: Partial<Subscription> = {}): Subscription => ({
  id,
  status: 'Active',
  eventFilters: [filter],
  expirationTime: '2036-03-01T00:00:00.000Z',
  deliveryMode: { transportType: 'WebHook', address },
  ...more,
});

/** RingCentral with these subscriptions; notes what was asked of it, in order. */
async function asked(existing: Subscription[], refusals: Failure[] = []) {
  const world = await startCallWorld();
  const asked: string[] = [];
  const deps = sweepOf(world, {
    webhookUrl,
    subscriptions: {
      list: async () => ({ kind: 'ok', value: existing }),
      create: async (_, webhook) => {
        asked.push(`create ${webhook.address} ${webhook.verificationToken}`);
        return refusals.shift() ?? { kind: 'ok', value: subscription('new') };
      },
      renew: async (_, id) => {
        asked.push(`renew ${id}`);
        return { kind: 'ok', value: subscription(id) };
      },
      remove: async (_, id) => {
        asked.push(`remove ${id}`);
        return { kind: 'ok', value: undefined };
      },
    },
  });
  return { check: await checkSubscription(deps, accountId, false), asked };
}

const create = `create ${address} ${webhookSecret}`;

it('one that works is left alone, whether the filter names the account or "~"', async () => {
  const works = { check: { kind: 'active' }, asked: [] };
  expect(await asked([subscription('a')])).toEqual(works);
  const tilde = '/restapi/v1.0/account/~/telephony/sessions';
  expect(await asked([subscription('a', { eventFilters: ['/restapi/v1.0/other', tilde] })])).toEqual(works);
});

it('one that ends within 30 days is renewed', async () => {
  const soon = subscription('a', { expirationTime: '2026-04-02T00:00:00.000Z' });
  expect(await asked([soon])).toEqual({ check: { kind: 'active' }, asked: ['renew a'] });
});

it('of several that work the one that lasts longest stays, and the dead beside it go', async () => {
  const [short, long] = [subscription('a', { expirationTime: '2030-01-01T00:00:00Z' }), subscription('b')];
  const dead = subscription('c', { status: 'Blacklisted' });
  expect(await asked([short, long, dead])).toEqual({
    check: { kind: 'active' },
    asked: ['remove a', 'remove c'],
  });
});

it.each([
  ['blacklisted', { status: 'Blacklisted' }],
  ['filter_disabled', { disabledFilters: [{ filter, reason: 'access' }] }],
  ['filter_missing', { eventFilters: [`/restapi/v1.0/account/${accountId}/extension/1/telephony/sessions`] }],
  ['filter_missing', { eventFilters: [`${filter}?direction=Inbound`] }],
  ['other_address', { deliveryMode: { address: `https://old.example/ringcentral/${accountId}` } }],
] as const)('one with the trouble %s is replaced: the new one first', async (reason, more) => {
  expect(await asked([subscription('a', more as Partial<Subscription>)])).toEqual({
    check: { kind: 'created', reason },
    asked: [create, 'remove a'],
  });
});

it('somebody else`s are not touched', async () => {
  const others = [
    subscription('a', { deliveryMode: { address: 'https://other.example/hook' } }),
    subscription('b', { deliveryMode: {} }),
  ];
  expect(await asked(others)).toEqual({ check: { kind: 'created', reason: 'missing' }, asked: [create] });
});

it('where there are too many, the dead one makes room', async () => {
  const tooMany = {
    kind: 'retry',
    surface: 'subscription',
    reason: 'unexpected_status',
    status: 400,
    errorCode: 'SUB-505',
  } as const;
  const dead = subscription('a', { status: 'Blacklisted' });
  expect(await asked([dead], [tooMany])).toEqual({
    check: { kind: 'created', reason: 'blacklisted' },
    asked: [create, 'remove a', create, 'remove a'],
  });
  expect(await asked([], [tooMany])).toEqual({
    check: { kind: 'not_created', reason: 'missing', failure: 'SUB-505' },
    asked: [create],
  });
});

it('R40 what was missed is looked up at once', async () => {
  const world = await startCallWorld();
  await noPasses(world);
  await world.state.update(`sweep#${accountId}`, { update: 'SET subscribed_at = :at', values: { ':at': 1 } });
  const { subscriptions } = sweepOf(world);
  const dead = subscription('a', { status: 'Blacklisted' });
  const deps = sweepOf(world, {
    webhookUrl,
    subscriptions: {
      ...subscriptions,
      list: async () => ({ kind: 'ok', value: [dead] }),
      create: async () => ({ kind: 'ok', value: subscription('new') }),
      remove: async () => ({ kind: 'ok', value: undefined }),
    },
  });
  const schedule = await Schedule.read(world.state, accountId);
  await watchSubscription(deps, accountId, schedule);
  expect(schedule.due(world.clock.now())).toEqual(new Set(['full_pass_at']));
  expect(world.meter.totals).toEqual({ SubscriptionNotActive: 1 });
});

it('R31 a permission that is missing is said, and asked about in five minutes', async () => {
  const world = await startCallWorld();
  const { subscriptions } = sweepOf(world);
  const failure = { kind: 'forbidden', surface: 'subscription' } as const;
  const deps = sweepOf(world, { subscriptions: { ...subscriptions, list: async () => failure } });
  const schedule = await Schedule.read(world.state, accountId);
  expect(await watchSubscription(deps, accountId, schedule)).toBe('forbidden');
  expect(schedule.at('subscription_at')).toBe(world.now() + 4.5 * 60_000);
  expect(world.meter.totals).toEqual({});
});
