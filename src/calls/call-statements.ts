import { and, eq, sql } from 'drizzle-orm';
import type { Database } from '../db/client.ts';
import { callRecordings, calls, voicemails } from '../db/schema/index.ts';

/** A session's key. Never its sessionId, which is "0" in conferences. */
export interface CallKey {
  accountId: string;
  telephonySessionId: string;
}

type SessionTable = typeof calls | typeof callRecordings | typeof voicemails;

const isSession = (table: SessionTable, { accountId, telephonySessionId }: CallKey) =>
  and(eq(table.accountId, accountId), eq(table.telephonySessionId, telephonySessionId));

/** The condition for a session's row. */
export const isCall = (key: CallKey) => isSession(calls, key);

/** A client that is gone must not hold row locks. Local to the transaction, so it is set in every batch. */
export function limitStatements(db: Database) {
  return db.execute(
    sql`select set_config('statement_timeout', '5s', true), set_config('lock_timeout', '3s', true)`,
  );
}

export const selectCall = (db: Database, key: CallKey) => db.select().from(calls).where(isCall(key));

export const selectRecordings = (db: Database, key: CallKey) =>
  db.select().from(callRecordings).where(isSession(callRecordings, key));

export const selectVoicemails = (db: Database, key: CallKey) =>
  db.select().from(voicemails).where(isSession(voicemails, key));
