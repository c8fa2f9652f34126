import type { recordingStatuses } from '../db/schema/index.ts';
import type { CallLogRecord, CallLogSnapshot } from '../ringcentral/schemas.ts';
import { recordingsOf } from '../ringcentral/snapshot.ts';

/** What a snapshot says of a session, without what is known already. */
export interface SnapshotFindings {
  /** A record of it is still in progress: the call log hasn't closed the session. */
  inProgress: boolean;
  /** The call log's word for the call, of the record that connected longest. */
  result: string | null;
  durationMs: number | null;
  /** Those whose content can be fetched. */
  recordings: { recordingId: string; contentUri: string }[];
  /** Recordings that the log names and has no address of yet. */
  unprepared: number;
  voicemails: { messageId: string; messageUri: string }[];
  recordingStatus: Extract<
    (typeof recordingStatuses)[number],
    'available' | 'pending' | 'none' | 'too_short' | 'deleted'
  >;
  recordingReason: string | null;
}

/** RingCentral keeps no recording under 30 s (developer guide, call recordings). */
const shortestRecordingMs = 30_000;

/** Results without a conversation. A word that isn't here may be one: then the recording is waited for. */
const notConnected = new Set(
  [
    'Abandoned',
    'Blocked',
    'Busy',
    'Call Failed',
    'Call Failure',
    'Callback requested',
    'Carrier is not active',
    'Declined',
    'Hang Up',
    'International Disabled',
    'International Restricted',
    'IP Phone Offline',
    'Missed',
    'No Answer',
    'No Calling Credit',
    'Not Allowed',
    'Rejected',
    'Reply',
    'Restricted Number',
    'Sent to Voicemail',
    'Stopped',
    'Suspended account',
    'Voicemail',
    'Wrong Number',
  ].map((result) => result.toLowerCase()),
);

const wordOf = (text: string | undefined) => text?.toLowerCase() ?? '';
const isFax = ({ type }: CallLogRecord) => wordOf(type) === 'fax';
const durationOf = ({
  durationMs,
  duration,
}: {
  durationMs?: number | undefined;
  duration?: number | undefined;
}) => durationMs ?? (duration ?? 0) * 1000;

/**
 * Reads a session's snapshot.
 *
 * @param recordingExpected a webhook named a recording of this session
 */
export function readSnapshot(snapshot: CallLogSnapshot, recordingExpected: boolean): SnapshotFindings {
  const records = snapshot.records.filter((record) => !isFax(record));
  const calls = { ...snapshot, records };
  const all = recordingsOf(calls);
  const recordings = all.flatMap(({ id, contentUri }) =>
    contentUri === undefined ? [] : [{ recordingId: id, contentUri }],
  );
  const main = mainRecord(records);
  const unprepared = all.length - recordings.length;
  return {
    inProgress: records.some(({ result }) => wordOf(result) === 'in progress'),
    result: main?.result ?? null,
    durationMs: main === undefined ? null : durationOf(main),
    recordings,
    unprepared,
    voicemails: voicemailsOf(records),
    ...(recordings.length > 0
      ? { recordingStatus: 'available', recordingReason: null }
      : withoutRecording(calls, recordingExpected || unprepared > 0)),
  };
}

/** The record that stands for the call: of those that connected the longest, else the first. */
function mainRecord(records: readonly CallLogRecord[]): CallLogRecord | undefined {
  const connected = records.filter(isConnected);
  const [first, ...rest] = connected.length > 0 ? connected : records;
  return rest.reduce((best, record) => {
    if (!best) return record;
    if (connected.length === 0) return (record.startTime ?? '') < (best.startTime ?? '') ? record : best;
    return durationOf(record) > durationOf(best) ? record : best;
  }, first);
}

const isConnected = ({ result }: Pick<CallLogRecord, 'result'>) => !notConnected.has(wordOf(result));

type WithoutRecording = Pick<SnapshotFindings, 'recordingStatus' | 'recordingReason'>;

const pending: WithoutRecording = { recordingStatus: 'pending', recordingReason: null };

function withoutRecording({ records, coverage }: CallLogSnapshot, expected: boolean): WithoutRecording {
  const parts = records.flatMap((record) => [record, ...(record.legs ?? [])]);
  if (records.length === 0) return { recordingStatus: 'none', recordingReason: 'fax' };
  if (parts.some(({ shortRecording }) => shortRecording) && !records.some(hasLongTalk)) {
    return { recordingStatus: 'too_short', recordingReason: 'short_recording' };
  }
  if (records.every(({ deleted }) => deleted)) {
    return { recordingStatus: 'deleted', recordingReason: 'call_deleted' };
  }
  // What another extension saw of the session may be a conversation with a recording.
  if (expected || coverage === 'extension') return pending;
  // A queue's or menu's own legs connect as well, so the records say whether people did.
  const connected = records.filter(isConnected);
  if (connected.length === 0) return { recordingStatus: 'none', recordingReason: 'not_connected' };
  const isShort = connected.every(
    (record) =>
      (record.durationMs ?? record.duration) !== undefined && durationOf(record) < shortestRecordingMs,
  );
  return isShort ? { recordingStatus: 'none', recordingReason: 'short_call' } : pending;
}

/** Beside a part that was too short to keep, such as the first leg of a transfer, another one may have a recording. */
function hasLongTalk(record: CallLogRecord): boolean {
  const { shortRecording, legs = [] } = record;
  if (shortRecording && !legs.some((leg) => leg.shortRecording)) return false;
  return (legs.length > 0 ? legs : [record]).some(
    (part) => isConnected(part) && !part.shortRecording && durationOf(part) >= shortestRecordingMs,
  );
}

/** By the records' own message ids, never by time: two callers may leave one in the same minute. */
function voicemailsOf(records: readonly CallLogRecord[]): SnapshotFindings['voicemails'] {
  const found = new Map<string, string>();
  for (const { message } of records.flatMap((record) => [record, ...(record.legs ?? [])])) {
    if (message?.uri !== undefined && wordOf(message.type ?? 'voicemail') === 'voicemail') {
      found.set(message.id, message.uri);
    }
  }
  return [...found].map(([messageId, messageUri]) => ({ messageId, messageUri }));
}
