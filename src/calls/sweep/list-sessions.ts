import type { CallLogList } from '../../ringcentral/call-log.ts';
import type { CallLogRecord, CallLogSnapshot } from '../../ringcentral/schemas.ts';

/** A stretch of time: a list of it has the records that began in it. */
export interface Window {
  from: Date;
  to: Date;
}

/** What a list says, session by session. */
export interface ListedSessions {
  /** By telephony session id. */
  byTelephonySession: Map<string, CallLogSnapshot>;
  /** Records that name no telephony session, by their session id. */
  bySession: Map<string, CallLogSnapshot>;
}

export function sessionsOf({ records, ...list }: CallLogSnapshot): ListedSessions {
  const byTelephonySession = new Map<string, CallLogSnapshot>();
  const bySession = new Map<string, CallLogSnapshot>();
  const add = (sessions: Map<string, CallLogSnapshot>, id: string, record: CallLogRecord) => {
    const known = sessions.get(id) ?? { ...list, records: [] };
    sessions.set(id, { ...known, records: [...known.records, record] });
  };
  for (const record of records) {
    const named = new Set([record, ...(record.legs ?? [])].flatMap((leg) => leg.telephonySessionId ?? []));
    for (const id of named) add(byTelephonySession, id, record);
    if (named.size === 0 && record.sessionId !== '0') add(bySession, record.sessionId, record);
  }
  return { byTelephonySession, bySession };
}

/**
 * The part of the window that a list has told all of. Lists come newest first, so a list that broke off has all
 * that began after its last record.
 */
export function coverageOf({ snapshot, failure }: CallLogList, { from, to }: Window): Window {
  if (!failure) return { from, to };
  const starts = snapshot.records.flatMap(({ startTime }) => timeOf(startTime) ?? []);
  return { from: starts.length > 0 ? new Date(Math.min(...starts)) : to, to };
}

/** Whether a session that lasted from `startedAt` to `endedAt` would be in a list of the window with all it has. */
export const isWithin = (
  { from, to }: Window,
  { startedAt, endedAt }: { startedAt: Date; endedAt: Date },
): boolean => startedAt >= from && endedAt <= to;

/** First start and last end of a session's records; undefined when none says when it was. */
export function spanOf({ records }: CallLogSnapshot): { startedAt: Date; endedAt: Date } | undefined {
  const spans = records
    .flatMap((record) => [record, ...(record.legs ?? [])])
    .flatMap(({ startTime, durationMs, duration }) => {
      const start = timeOf(startTime);
      return start === undefined ? [] : [{ start, end: start + (durationMs ?? (duration ?? 0) * 1000) }];
    });
  if (spans.length === 0) return undefined;
  return {
    startedAt: new Date(Math.min(...spans.map(({ start }) => start))),
    endedAt: new Date(Math.max(...spans.map(({ end }) => end))),
  };
}

function timeOf(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}
