import { sql } from 'drizzle-orm';
import type { Database } from './client.ts';

/**
 * The first statement of every batch that writes: no statement runs longer than 5 seconds, none waits longer
 * than 3 for a lock, so that a client that is gone holds nobody up. Local to the transaction.
 */
export function limitStatements(db: Database) {
  return db.execute(
    sql`select set_config('statement_timeout', '5s', true), set_config('lock_timeout', '3s', true)`,
  );
}
