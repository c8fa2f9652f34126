import type { Parameters } from './parameters.ts';

/** A client whose credentials come from an SSM parameter. */
export interface ParameterClient<T> {
  /**
   * Runs `use` with the client. When it fails as an authentication failure, the parameter is read anew, and
   * with another value `use` runs once more: a rotated secret needs no deploy. (At most one read a minute.)
   */
  run<R>(use: (client: T) => Promise<R>): Promise<R>;
}

/**
 * @param build makes the client from the parameter's value; called again only when the value has changed
 */
export function createParameterClient<T>(
  parameters: Parameters,
  name: string,
  build: (value: string) => T,
  isAuthenticationFailure: (error: unknown) => boolean,
): ParameterClient<T> {
  let built: { value: string; client: T } | undefined;
  const clientOf = (value: string): T => {
    if (built?.value !== value) built = { value, client: build(value) };
    return built.client;
  };
  return {
    async run(use) {
      const value = await parameters.get(name);
      try {
        return await use(clientOf(value));
      } catch (error) {
        if (!isAuthenticationFailure(error)) throw error;
        const fresh = await parameters.refresh(name);
        if (fresh === value) throw error;
        return use(clientOf(fresh));
      }
    },
  };
}
