import { describe, expect, it } from 'vitest';
import { createParameterClient } from '../../src/platform/parameter-client.ts';
import { createParameters, ParameterError } from '../../src/platform/parameters.ts';
import { FakeClock } from '../support/fakes.ts';

/** An SSM whose value can be rotated; counts the fetches that bypass the cache. */
function rotatingParameter(clock = new FakeClock()) {
  const state: { value: string | undefined; fetches: number } = { value: 'old', fetches: 0 };
  let cached: string | undefined;
  const provider = {
    get: async (_name: string, options?: { forceFetch?: boolean }) => {
      if (options?.forceFetch || cached === undefined) {
        state.fetches += 1;
        cached = state.value;
      }
      return cached;
    },
  };
  return { state, clock, parameters: createParameters(provider as never, clock) };
}

class Refused extends Error {}
const client = (parameters: ReturnType<typeof createParameters>) =>
  createParameterClient(
    parameters,
    '/p',
    (password) => ({ password }),
    (error) => error instanceof Refused,
  );
const login = (accepted: string) => async (account: { password: string }) => {
  if (account.password !== accepted) throw new Refused('refused');
  return 'in';
};

describe('a client with a rotated secret', () => {
  it('reads the parameter anew once and goes on', async () => {
    const { state, parameters } = rotatingParameter();
    const database = client(parameters);
    expect(await database.run(login('old'))).toBe('in');
    state.value = 'new';
    expect(await database.run(login('new'))).toBe('in');
    expect(state.fetches).toBe(2);
  });

  it('asks at most once a minute while the secret stays wrong', async () => {
    const { state, clock, parameters } = rotatingParameter();
    const database = client(parameters);
    for (let call = 0; call < 5; call += 1)
      await expect(database.run(login('other'))).rejects.toThrow(Refused);
    expect(state.fetches).toBe(2);
    clock.advance(60_000);
    await expect(database.run(login('other'))).rejects.toThrow(Refused);
    expect(state.fetches).toBe(3);
  });

  it('serves every caller that met the old secret with one read', async () => {
    const { state, parameters } = rotatingParameter();
    const database = client(parameters);
    await database.run(login('old'));
    state.value = 'new';
    const answers = await Promise.all(Array.from({ length: 5 }, () => database.run(login('new'))));
    expect(answers).toEqual(['in', 'in', 'in', 'in', 'in']);
    expect(state.fetches).toBe(2);
  });

  it('does not repeat other failures', async () => {
    const { state, parameters } = rotatingParameter();
    let calls = 0;
    const failing = client(parameters).run(async () => {
      calls += 1;
      throw new Error('down');
    });
    await expect(failing).rejects.toThrow('down');
    expect([calls, state.fetches]).toEqual([1, 1]);
  });

  it('names a parameter that is missing', async () => {
    const { state, parameters } = rotatingParameter();
    state.value = undefined;
    await expect(parameters.get('/lead-tracking/neon-database-url')).rejects.toThrow(
      new ParameterError('SSM parameter /lead-tracking/neon-database-url is missing or empty'),
    );
  });
});
