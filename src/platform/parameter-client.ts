import type { Parameters } from './parameters.ts';

/** A client whose credentials come from an SSM parameter. */
export interface ParameterClient<T> {
  /**
   * Runs `use` with the client. When it fails as an authentication failure, the parameter is read anew and
   * `use` runs once more, so that a rotated secret needs no deploy. (At most once a minute a parameter.)
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
      try {
        return await use(clientOf(await parameters.get(name)));
      } catch (error) {
        if (!isAuthenticationFailure(error)) throw error;
        const fresh = await parameters.refresh(name);
        if (fresh === undefined) throw error;
        return use(clientOf(fresh));
      }
    },
  };
}
