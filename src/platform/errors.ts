/**
 * What may be said of an error in a log line: its own code or class, never its message (a database error's
 * message holds the parameters, an HTTP client's may hold a URL with a token).
 */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code = 'code' in error ? error.code : undefined;
  if (typeof code === 'string' && code !== '') return code;
  return error.name === 'Error' && error.cause instanceof Error ? errorCode(error.cause) : error.name;
}
