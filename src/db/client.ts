import { neon, neonConfig } from '@neondatabase/serverless';
import { drizzle, type NeonHttpDatabase } from 'drizzle-orm/neon-http';

/** Drizzle over Neon's HTTP driver. `batch` is one request and one transaction. */
export type Database = NeonHttpDatabase;

export interface DatabaseOptions {
  /** Limit of one request in milliseconds, connection included. */
  timeoutMs?: number;
  /** The instant after which no answer is of use: it shortens the limit of a request that begins late. */
  deadline?: Date;
}

/** A scaled-to-zero Neon wakes within seconds; longer means that something is wrong. */
const defaultTimeoutMs = 8_000;

/**
 * A database client. It holds no connection, so it is cheap: one an invocation, with that invocation's deadline.
 * `NEON_HTTP_ENDPOINT` sends the driver to another address than Neon's (local and test runs).
 */
export function createDatabase(
  url: string,
  { timeoutMs = defaultTimeoutMs, deadline }: DatabaseOptions = {},
): Database {
  const endpoint = process.env.NEON_HTTP_ENDPOINT;
  if (endpoint) neonConfig.fetchEndpoint = endpoint;
  const fetchOptions = {
    // The driver has no limit of its own. It reads this getter at each request, batches included.
    get signal() {
      const leftMs = deadline ? deadline.getTime() - Date.now() : timeoutMs;
      return AbortSignal.timeout(Math.max(0, Math.min(timeoutMs, leftMs)));
    },
  };
  return drizzle(neon(url, { fetchOptions }));
}
