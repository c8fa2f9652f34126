import { describe, expect, it } from 'vitest';
import { ParameterError, type Parameters } from '../../src/platform/parameters.ts';
import { createAccounts } from '../../src/ringcentral/account.ts';
import { FakeClock } from '../support/fakes.ts';

const parameter = { clientId: 'a', clientSecret: 'b', jwt: 'c', webhookVerificationTokens: ['old', 'new'] };

function accountsWith(read: (name: string) => Promise<string>) {
  const clock = new FakeClock();
  const names: string[] = [];
  const get = (name: string) => {
    names.push(name);
    return read(name);
  };
  const parameters: Parameters = { get, refresh: get };
  return { accounts: createAccounts(parameters, '/calls/ringcentral', clock), clock, names };
}

const missing = () =>
  Promise.reject(
    new ParameterError('missing', {
      cause: new Error('wrapped', { cause: Object.assign(new Error(), { name: 'ParameterNotFound' }) }),
    }),
  );

describe('an account', () => {
  it('is the parameter {prefix}/{accountId}, on the production server unless it names another', async () => {
    const { accounts, names } = accountsWith(async () => JSON.stringify(parameter));
    expect(await accounts.find('900100')).toEqual({
      accountId: '900100',
      server: 'https://platform.ringcentral.com',
      ...parameter,
    });
    expect(names).toEqual(['/calls/ringcentral/900100']);
  });

  it.each(['', '12a', '../secrets', '1/2'])(
    'has digits as its id, not %j: SSM is not even asked',
    async (id) => {
      const { accounts, names } = accountsWith(async () => JSON.stringify(parameter));
      expect(await accounts.find(id)).toBeUndefined();
      expect(names).toEqual([]);
    },
  );

  it('that has no parameter is unknown, and not looked for again within five minutes', async () => {
    const { accounts, clock, names } = accountsWith(missing);
    expect(await accounts.find('900999')).toBeUndefined();
    clock.advance(299_000);
    expect(await accounts.find('900999')).toBeUndefined();
    expect(names).toHaveLength(1);
    clock.advance(1000);
    await accounts.find('900999');
    expect(names).toHaveLength(2);
  });

  it('whose parameter cannot be read is an error, not unknown', async () => {
    const { accounts } = accountsWith(() => Promise.reject(new ParameterError('throttled')));
    await expect(accounts.find('900100')).rejects.toThrow(ParameterError);
  });

  it.each([
    ['not JSON', 'jwt-secret'],
    ['a missing field', JSON.stringify({ ...parameter, jwt: undefined })],
    [
      'plain http to the network',
      JSON.stringify({ ...parameter, server: 'http://platform.ringcentral.com' }),
    ],
    ['tokens that are no list', JSON.stringify({ ...parameter, webhookVerificationTokens: 'secret' })],
  ])('with %s is an error that names the parameter and no value', async (_, value) => {
    const { accounts } = accountsWith(async () => value);
    const error = await accounts.find('900100').catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ParameterError);
    expect(String(error)).toContain('/calls/ringcentral/900100');
    expect(String(error)).not.toContain('secret');
  });
});
