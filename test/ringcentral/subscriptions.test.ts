import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Container, createWorld } from './client-under-test.ts';
import { account, startTestSimulator, type TestSimulator } from './simulated-account.ts';

const { accountId } = account;
let simulator: TestSimulator;
let container: Container;
let receiver: Server;
let address: string;

beforeEach(async () => {
  simulator = await startTestSimulator();
  container = createWorld(simulator).container();
  receiver = createServer((incoming, response) => {
    response.writeHead(200, { 'validation-token': incoming.headers['validation-token'] ?? '' }).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const bound = receiver.address();
  address = `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}/ringcentral/${accountId}`;
});
afterEach(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await simulator.stop();
});

const create = async () => {
  const created = await container.subscriptions.create(accountId, { address, verificationToken: 'v' });
  if (created.kind !== 'ok') throw new Error(created.kind);
  return created.value;
};

describe('subscriptions', () => {
  it('are created for ten years with the telephony filter, and listed', async () => {
    const created = await create();
    expect(created).toMatchObject({
      status: 'Active',
      eventFilters: ['/restapi/v1.0/account/~/telephony/sessions'],
      deliveryMode: { transportType: 'WebHook', address },
      expirationTime: '2036-03-01T15:00:00.000Z',
    });
    const list = await container.subscriptions.list(accountId);
    expect(list).toMatchObject({ kind: 'ok', value: [{ id: created.id }] });
  });

  it('take their slots from Medium and Light, never from Heavy', async () => {
    const { id } = await create();
    await container.subscriptions.list(accountId);
    await container.subscriptions.renew(accountId, id);
    await container.subscriptions.remove(accountId, id);
    const groups = simulator.journal.map(({ surface, group }) => `${surface} ${group}`);
    expect(groups).toEqual([
      'oauth_token auth',
      'subscription medium',
      'subscription light',
      'subscription light',
      'subscription medium',
    ]);
    const left = async (group: 'light' | 'medium' | 'heavy') =>
      (await container.gate.status({ owner: accountId, group })).slotsNow;
    expect([await left('light'), await left('medium'), await left('heavy')]).toEqual([8, 6, 2]);
  });

  it('are renewed, and removed also when they are gone already', async () => {
    const { id } = await create();
    simulator.clock.advance(60_000);
    expect(await container.subscriptions.renew(accountId, id)).toMatchObject({
      kind: 'ok',
      value: { expirationTime: '2036-03-01T15:01:00.000Z' },
    });
    expect(await container.subscriptions.remove(accountId, id)).toEqual({ kind: 'ok', value: undefined });
    expect(await container.subscriptions.remove(accountId, id)).toEqual({ kind: 'ok', value: undefined });
    expect(await container.subscriptions.renew(accountId, id)).toMatchObject({ kind: 'not_found' });
  });

  it('whose address answers the handshake wrongly are not made, with the reason', async () => {
    receiver.removeAllListeners('request');
    receiver.on('request', (_, response) => response.writeHead(404).end());
    expect(
      await container.subscriptions.create(accountId, { address, verificationToken: 'v' }),
    ).toMatchObject({
      kind: 'retry',
      reason: 'unexpected_status',
      errorCode: 'SUB-521',
    });
  });
});
