import { createParameterClient } from '../platform/parameter-client.ts';
import type { Parameters } from '../platform/parameters.ts';
import { createDatabase, type Database } from './client.ts';
import { isAuthenticationFailure } from './errors.ts';
import { retryTransient } from './retry.ts';

/** A stage's Neon. */
export interface StageDatabase {
  /**
   * Runs idempotent work, again where the error says that it may help, until `deadline`.
   *
   * @throws DatabaseError, ParameterError
   */
  run<T>(work: (db: Database) => Promise<T>, deadline: Date): Promise<T>;
}

/** The Neon whose connection string the SSM parameter holds; a rotated password is taken up by itself. */
export function createStageDatabase(parameters: Parameters, parameterName: string): StageDatabase {
  const url = createParameterClient(parameters, parameterName, (value) => value, isAuthenticationFailure);
  return {
    run: (work, deadline) =>
      url.run((value) => {
        const db = createDatabase(value, { deadline });
        return retryTransient(() => work(db), { deadline });
      }),
  };
}
