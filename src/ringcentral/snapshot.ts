import type { CallLogRecord, CallLogSnapshot } from './schemas.ts';

export interface SessionIds {
  telephonySessionId: string;
  /** The older id, from the webhook; "0" in conferences, where it says nothing. */
  sessionId?: string | undefined;
}

/** A recording of a session, with the address of its content once RingCentral has prepared it. */
export interface SessionRecording {
  id: string;
  contentUri?: string;
  /** ISO 8601 of the first leg that carries it. */
  startTime?: string;
}

/**
 * Whether a record is of the session: the server's filter is not relied on, since a server that doesn't know it
 * answers with everybody's calls. A record that names no telephony session counts by its session id.
 */
export function belongsToSession(
  record: CallLogRecord,
  { telephonySessionId, sessionId }: SessionIds,
): boolean {
  const named = [record, ...(record.legs ?? [])].flatMap((leg) => leg.telephonySessionId ?? []);
  if (named.length > 0) return named.includes(telephonySessionId);
  return sessionId !== undefined && sessionId !== '0' && record.sessionId === sessionId;
}

/** The session's part of a list, as its snapshot; undefined when the list doesn't have it. */
export function sessionSnapshot(list: CallLogSnapshot, ids: SessionIds): CallLogSnapshot | undefined {
  const records = list.records.filter((record) => belongsToSession(record, ids));
  return records.length > 0 ? { ...list, records } : undefined;
}

/**
 * A session's recordings, by their start. The same recording stands on the record and on several legs, a
 * transferred call has several, and one place may lack the contentUri that another has.
 */
export function recordingsOf({ records }: CallLogSnapshot): SessionRecording[] {
  const found = new Map<string, SessionRecording>();
  for (const { recording, startTime } of records.flatMap((record) => [record, ...(record.legs ?? [])])) {
    if (!recording) continue;
    const known = found.get(recording.id);
    const contentUri = known?.contentUri ?? recording.contentUri;
    const start = earlier(known?.startTime, startTime);
    found.set(recording.id, {
      id: recording.id,
      ...(contentUri === undefined ? {} : { contentUri }),
      ...(start === undefined ? {} : { startTime: start }),
    });
  }
  return [...found.values()].sort((a, b) => (a.startTime ?? '').localeCompare(b.startTime ?? ''));
}

const earlier = (a: string | undefined, b: string | undefined) =>
  a === undefined || (b !== undefined && b < a) ? b : a;

/** Milliseconds of the longest leg that carries the recording, which is about what was recorded. */
export function durationOfRecording({ records }: CallLogSnapshot, recordingId: string): number | undefined {
  const durations = records
    .flatMap((record) => [record, ...(record.legs ?? [])])
    .filter(({ recording }) => recording?.id === recordingId)
    .map(({ durationMs, duration }) => durationMs ?? (duration ?? 0) * 1000);
  const longest = Math.max(0, ...durations);
  return longest > 0 ? longest : undefined;
}
