import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../db/client.ts';
import { callRecordings, calls, voicemails } from '../db/schema/index.ts';

export { limitStatements } from '../db/limits.ts';

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

export const selectCall = (db: Database, key: CallKey) => db.select().from(calls).where(isCall(key));

export const selectRecordings = (db: Database, key: CallKey) =>
  db.select().from(callRecordings).where(isSession(callRecordings, key));

export const selectVoicemails = (db: Database, key: CallKey) =>
  db.select().from(voicemails).where(isSession(voicemails, key));

/** The session has recordings, or voicemails, that are known and neither stored nor gone for ever. */
export const hasOpen = (table: typeof callRecordings | typeof voicemails): SQL =>
  sql`exists (select from ${table}
    where ${table.accountId} = ${calls.accountId} and ${table.telephonySessionId} = ${calls.telephonySessionId}
    and ${table.storedAt} is null and ${table.unavailableReason} is null)`;
