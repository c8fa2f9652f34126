import { and, eq, inArray, lte, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { ContactIdentity } from '../contacts/identity.ts';
import type { TimelineValues } from '../contacts/timeline.ts';
import type { Database } from '../db/client.ts';
import { excluded } from '../db/excluded.ts';
import { type CallRow, calls, contactTimeline, type StateChange } from '../db/schema/index.ts';
import {
  type CallKey,
  isCall,
  limitStatements,
  selectCall,
  selectRecordings,
  selectVoicemails,
} from './call-statements.ts';
import { buildCall, buildCallTimeline, type CallEvent, identityOf, stateChangeOf } from './lifecycle.ts';
import type { StoredSession } from './step.ts';

/** What was written, and what else the writer has to know. */
export interface RecordedEvent extends StoredSession {
  timelineRows: number;
  /** Sessions of this account wait for a Heavy slot, and are due: busy mode. */
  busy: boolean;
}

/** Not due for so long: it waits for the call log or a login, not for a slot. */
const dueWithinMs = 60_000;

/**
 * Writes one event: the session's row and a timeline row for each party, in one batch, which is one request and
 * one transaction (and one more for parties that show no contact or store themselves). Idempotent, and right in
 * any order of events beside any other writer: the row's lock queues them up, and no column moves back. Returns
 * the session as it is then.
 *
 * @throws NeonDbError; run it in `StageDatabase.run`
 */
export async function recordCallEvent(db: Database, callEvent: CallEvent, now: Date): Promise<RecordedEvent> {
  const { accountId, event, parties } = callEvent;
  const { telephonySessionId } = event.body;
  const key = { accountId, telephonySessionId };
  const told: TimelineValues[] = [];
  const untold: Record<string, StateChange> = {};
  for (const party of parties) {
    const change = stateChangeOf(event, party);
    const identity = identityOf(accountId, party);
    if (identity) told.push(buildCallTimeline(telephonySessionId, change, identity));
    else untold[`${change.partyId}:${change.sequence}`] = change;
  }
  const [, [call], recordings, voicemails, parked, ...timeline] = await db.batch([
    limitStatements(db),
    upsertCall(db, { ...buildCall(callEvent), untold }),
    selectRecordings(db, key),
    selectVoicemails(db, key),
    selectHeavyWork(db, accountId, now),
    ...(told.length > 0 ? [insertTimeline(db, told)] : []),
  ]);
  if (!call) throw new Error('The call that was just written is not there');
  const late = await tellUntold(db, call);
  return {
    ...late,
    recordings,
    voicemails,
    busy: parked.length > 0,
    timelineRows: late.timelineRows + (timeline[0]?.rowCount ?? 0),
  };
}

/**
 * A leg between a queue and an agent may show no number of the store: once another event has named the session's
 * contact and store, its state changes go to that timeline, whichever came first.
 */
async function tellUntold(db: Database, call: CallRow): Promise<{ call: CallRow; timelineRows: number }> {
  const identity = identityOfCall(call);
  const changes = Object.entries(call.untold);
  if (!identity || changes.length === 0) return { call, timelineRows: 0 };
  const rows = changes.map(([, change]) => buildCallTimeline(call.telephonySessionId, change, identity));
  const rest = sql.join([calls.untold, ...changes.map(([name]) => sql`${name}::text`)], sql` - `);
  // The row first, as every writer does: two that lock in different order would wait for each other.
  const [, [updated], timeline] = await db.batch([
    limitStatements(db),
    db.update(calls).set({ untold: rest }).where(isCall(call)).returning(),
    insertTimeline(db, rows),
  ]);
  return { call: updated ?? call, timelineRows: timeline.rowCount ?? 0 };
}

/** One row if sessions of the account wait for a Heavy slot and are due. */
function selectHeavyWork(db: Database, accountId: string, now: Date) {
  return db
    .select({ one: sql<number>`1` })
    .from(calls)
    .where(
      and(
        eq(calls.accountId, accountId),
        inArray(calls.nextStep, ['call_log', 'extension_call_log', 'recording']),
        lte(calls.nextAttemptAt, new Date(now.getTime() + dueWithinMs)),
      ),
    )
    .limit(1);
}

/** The session, or undefined when neither webhook nor sweep has told of it. */
export async function loadSession(db: Database, key: CallKey): Promise<StoredSession | undefined> {
  const [[call], recordings, voicemails] = await db.batch([
    selectCall(db, key),
    selectRecordings(db, key),
    selectVoicemails(db, key),
  ]);
  return call && { call, recordings, voicemails };
}

function insertTimeline(db: Database, rows: TimelineValues[]) {
  return db
    .insert(contactTimeline)
    .values(rows)
    .onConflictDoNothing({ target: contactTimeline.idempotencyKey });
}

/** The contact and store of a session, once an event has told both. */
export function identityOfCall({
  contactPhone,
  franchiseId,
  accountId,
  storeId,
}: CallRow): ContactIdentity | undefined {
  return contactPhone && franchiseId && storeId
    ? { contactPhone, franchiseId, accountId, storeId }
    : undefined;
}

/** The party that tells most of the call, and of equals the first; only ever replaced by a better one. */
const partyColumns = [
  'partyId',
  'partyRank',
  'partySequence',
  'extensionId',
  'direction',
  'fromNumber',
  'toNumber',
  'contactPhone',
  'storeId',
  'franchiseId',
] as const;

/** What the newest event says. Two parties may share a sequence: the later party's is the newer one. */
const newestColumns = ['status', 'endedAt', 'lastSequence', 'lastPartyId', 'lastEventAt'] as const;

/** Joins the event with the row that is there, so that any order and repetition of events ends in one row. */
function upsertCall(db: Database, row: typeof calls.$inferInsert) {
  const isNewer = sql`(${excluded(calls.lastSequence)}, ${excluded(calls.lastPartyId)}) > (${calls.lastSequence}, ${calls.lastPartyId})`;
  const isBetterParty = sql`(${excluded(calls.partyRank)}, -${excluded(calls.partySequence)}, ${excluded(calls.partyId)}) > (${calls.partyRank}, -${calls.partySequence}, ${calls.partyId})`;
  // A webhook names a recording: so there is one, whatever an earlier snapshot didn't show.
  const gainsRecording = sql`${excluded(calls.recordingStatus)} = 'expected' and (${calls.recordingStatus} = 'pending' or ${calls.recordingStatus} = 'none' and ${isNewer})`;
  // Somebody else has hung up since the call log was given up.
  const looksAgain = sql`${excluded(calls.callLogStatus)} = 'pending' and (${calls.callLogStatus} = 'none' or ${calls.callLogStatus} = 'failed' and ${isNewer})`;
  return db
    .insert(calls)
    .values(row)
    .onConflictDoUpdate({
      target: [calls.accountId, calls.telephonySessionId],
      set: {
        ...takeWhen(isBetterParty, partyColumns),
        ...takeWhen(isNewer, newestColumns),
        // "0" in conferences: the real id is the greater text.
        sessionId: sql`greatest(${calls.sessionId}, ${excluded(calls.sessionId)})`,
        startedAt: sql`least(${calls.startedAt}, ${excluded(calls.startedAt)})`,
        extensionIds: sql`array(select distinct unnest(${calls.extensionIds} || ${excluded(calls.extensionIds)}) order by 1)`,
        untold: sql`${calls.untold} || ${excluded(calls.untold)}`,
        callLogStatus: sql`case when ${looksAgain} then 'pending' else ${calls.callLogStatus} end`,
        recordingStatus: sql`case when ${gainsRecording} then 'expected' else ${calls.recordingStatus} end`,
        recordingReason: sql`case when ${gainsRecording} then null else ${calls.recordingReason} end`,
        updatedAt: sql`now()`,
      },
    })
    .returning();
}

function takeWhen<Name extends keyof CallRow>(condition: SQL, names: readonly Name[]): Record<Name, SQL> {
  return Object.fromEntries(
    names.map((name) => {
      const column: PgColumn = calls[name];
      return [name, sql`case when ${condition} then ${excluded(column)} else ${column} end`];
    }),
  ) as Record<Name, SQL>;
}
