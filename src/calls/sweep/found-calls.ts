import { calls } from '../../db/schema/index.ts';
import { logEvents } from '../../platform/log-events.ts';
import type { CallLogRecord, CallLogSnapshot } from '../../ringcentral/schemas.ts';
import type { TelephonyEvent } from '../../ringcentral/telephony-event.ts';
import { keepSnapshot } from '../call-log-step.ts';
import { limitStatements } from '../call-statements.ts';
import { buildCall } from '../lifecycle.ts';
import { placeEvent } from '../place-event.ts';
import { readSnapshot } from '../read-snapshot.ts';
import { ownMessagesMs } from './close-call.ts';
import type { SweepDependencies } from './dependencies.ts';
import { type Done, forEachSession } from './each-session.ts';
import { spanOf } from './list-sessions.ts';
import { insertTimeline, loggedTimeline } from './logged-call.ts';
import { parkNext } from './take-list.ts';

/** A session that the call log has, and no row of ours. */
export interface UnknownSession {
  accountId: string;
  telephonySessionId: string;
  snapshot: CallLogSnapshot;
}

export interface FoundCalls extends Done {
  /** Calls that no webhook told of. */
  found: number;
  parked: number;
}

/**
 * Makes rows of calls that no webhook has told of, as far as the call log knows them, and parks what is to be
 * fetched. Faxes and calls that go on are left out, and so is what ended a moment ago: its webhook may be on its way.
 * One that comes later is newer than the row (`last_sequence` -1).
 *
 * @throws errors of the state table; of the database and of StoresV2 when it isn't one session's fault
 */
export async function takeUnknown(
  deps: SweepDependencies,
  sessions: readonly UnknownSession[],
  deadline: Date,
): Promise<FoundCalls> {
  const counts = { found: 0, parked: 0 };
  const done = await forEachSession(
    deps,
    sessions,
    async (session) => {
      const result = await takeOne(deps, session, deadline);
      if (result !== 'left') counts.found += 1;
      if (result === 'parked') counts.parked += 1;
    },
    deadline,
  );
  return { ...counts, ...done };
}

async function takeOne(
  deps: SweepDependencies,
  session: UnknownSession,
  deadline: Date,
): Promise<'left' | 'found' | 'parked'> {
  const { neon, clock, log } = deps;
  const { snapshot } = session;
  const span = spanOf(snapshot);
  if (!span || clock.now().getTime() - span.endedAt.getTime() < ownMessagesMs) return 'left';
  if (readSnapshot(snapshot, false).inProgress) return 'left';
  const row = await rowOf(deps, session, span);
  if (!row) return 'left';
  const [, [call]] = await neon.run(
    (db) =>
      db.batch([
        limitStatements(db),
        db.insert(calls).values(row).onConflictDoNothing().returning(),
        ...insertTimeline(db, loggedTimeline(row, snapshot, span.endedAt)),
      ]),
    deadline,
  );
  // Its webhook was faster.
  if (!call) return 'left';
  log.info(logEvents.callWithoutWebhook, {
    account_id: call.accountId,
    telephony_session_id: call.telephonySessionId,
    store_id: call.storeId,
  });
  const stored = await keepSnapshot(deps, call, snapshot, deadline);
  return stored && (await parkNext(deps, call, stored, deadline)) ? 'parked' : 'found';
}

/** The row that a Disconnected of each record would have made; undefined for a mere fax. */
async function rowOf(
  { stores }: Pick<SweepDependencies, 'stores'>,
  { accountId, telephonySessionId, snapshot }: UnknownSession,
  { startedAt, endedAt }: { startedAt: Date; endedAt: Date },
): Promise<typeof calls.$inferInsert | undefined> {
  const records = snapshot.records.filter(({ type }) => type?.toLowerCase() !== 'fax');
  if (records.length === 0) return undefined;
  const legs = records.flatMap((record) => [record, ...(record.legs ?? [])]);
  const event: TelephonyEvent = {
    event: `/restapi/v1.0/account/${accountId}/telephony/sessions`,
    body: {
      sequence: -1,
      sessionId: records.find(({ sessionId }) => sessionId !== '0')?.sessionId,
      telephonySessionId,
      eventTime: endedAt.toISOString(),
      parties: records.map(partyOf),
    },
  };
  const placed = await placeEvent(stores, accountId, event);
  if (!placed) return undefined;
  const row = buildCall(placed);
  const extensionIds = [...(row.extensionIds ?? []), ...legs.flatMap(({ extension }) => extension?.id ?? [])];
  // No party and no rank: any webhook that tells of contact or store is better.
  const party = { partyId: '', partyRank: 0, partySequence: 0, lastPartyId: '' };
  return { ...row, ...party, startedAt, extensionIds: [...new Set(extensionIds)].sort() };
}

const partyOf = ({ id, direction, from, to, extension }: CallLogRecord) => ({
  id,
  direction,
  from,
  to,
  extensionId: extension?.id,
  status: { code: 'Disconnected' },
});
