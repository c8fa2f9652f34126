import { SSMProvider } from '@aws-lambda-powertools/parameters/ssm';
import { awsClientConfig } from './aws-client-config.ts';
import { type Clock, systemClock } from './clock.ts';

const cacheSeconds = 300;
const refreshIntervalMs = 60_000;

/** SSM SecureStrings as a port. */
export interface Parameters {
  /** The decrypted value, cached for five minutes. */
  get(name: string): Promise<string>;
  /**
   * The value as it is now, for a caller whose cached one was refused: rotation needs no deploy. Read at most
   * once a minute a parameter; callers in between share that answer.
   */
  refresh(name: string): Promise<string>;
}

/** A parameter is missing, empty or can't be read. The message names it. */
export class ParameterError extends Error {
  override name = 'ParameterError';
}

export function createParameters(
  provider: Pick<SSMProvider, 'get'> = new SSMProvider({ clientConfig: awsClientConfig }),
  clock: Clock = systemClock,
): Parameters {
  const refreshes = new Map<string, { at: number; value: Promise<string> }>();

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
    refresh(name) {
      const now = clock.now().getTime();
      const last = refreshes.get(name);
      if (last && now - last.at < refreshIntervalMs) return last.value;
      const value = read(name, true);
      refreshes.set(name, { at: now, value });
      return value;
    },
  };
}
