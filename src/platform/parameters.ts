import { SSMProvider } from '@aws-lambda-powertools/parameters/ssm';
import { type Clock, systemClock } from './clock.ts';

const cacheSeconds = 300;
const refreshIntervalMs = 60_000;

/** SSM SecureStrings as a port. */
export interface Parameters {
  /** The decrypted value, cached for five minutes. */
  get(name: string): Promise<string>;
  /**
   * Reads the value anew after an authentication failure, so that rotation needs no deploy.
   * At most once a minute a parameter: `undefined` when it was refreshed less than a minute ago.
   */
  refresh(name: string): Promise<string | undefined>;
}

/** A parameter is missing, empty or can't be read. The message names it. */
export class ParameterError extends Error {
  override name = 'ParameterError';
}

export function createParameters(
  provider: Pick<SSMProvider, 'get'> = new SSMProvider(),
  clock: Clock = systemClock,
): Parameters {
  const refreshedAt = new Map<string, number>();

  async function read(name: string, forceFetch: boolean): Promise<string> {
    const value = await provider
      .get(name, { decrypt: true, maxAge: cacheSeconds, forceFetch })
      .catch((error) => {
        throw new ParameterError(`SSM parameter ${name} can't be read: ${error.cause?.name ?? error.name}`, {
          cause: error,
        });
      });
    if (!value) throw new ParameterError(`SSM parameter ${name} is missing or empty`);
    return value;
  }

  return {
    get: (name) => read(name, false),
    async refresh(name) {
      const now = clock.now().getTime();
      if (now - (refreshedAt.get(name) ?? Number.NEGATIVE_INFINITY) < refreshIntervalMs) return undefined;
      refreshedAt.set(name, now);
      return read(name, true);
    },
  };
}
