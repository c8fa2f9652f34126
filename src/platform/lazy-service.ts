/**
 * A service that is built at the first call and kept while it works: a failed start is forgotten, so a bad
 * cold start (SSM down, a parameter not yet there) heals at the next invocation.
 */
export function lazyService<T>(build: () => Promise<T>): () => Promise<T> {
  let service: Promise<T> | undefined;
  return () => {
    service ??= build().catch((error: unknown) => {
      service = undefined;
      throw error;
    });
    return service;
  };
}
