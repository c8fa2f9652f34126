import type { CallRecordingRow, VoicemailRow } from '../db/schema/index.ts';
import type { CallWay } from './call-ways.ts';
import { localTime } from './local-time.ts';
import { field, list } from './terminal.ts';

/**
 * A call's way as text, step by step; where it stands, and why.
 *
 * @param store what the store calls itself, if it is known
 */
export function callWayText(way: CallWay, timeZone: string, store: string | undefined): string {
  const { call, recordings, voicemails, transcripts, timeline } = way;
  const at = (instant: Date) => localTime(instant, timeZone);
  return [
    `Call ${call.telephonySessionId} of account ${call.accountId}`,
    field('store', call.storeId ? list(store, call.storeId) : 'none: no store lists the number'),
    field(
      'call',
      list(
        call.direction,
        `from ${call.fromNumber ?? 'unknown'} to ${call.toNumber ?? 'unknown'}`,
        `began ${at(call.startedAt)}`,
        call.endedAt && `ended ${at(call.endedAt)}`,
        call.status,
        call.lastSequence < 0 && 'no webhook told of it',
      ),
    ),
    field(
      'call log',
      list(
        call.callLogStatus,
        call.result,
        call.durationMs !== null && `${Math.round(call.durationMs / 1000)} s`,
        call.snapshotAt && `as of ${at(call.snapshotAt)}`,
      ),
    ),
    field('recording', list(call.recordingStatus, call.recordingReason)),
    ...recordings.map((recording) => field('', `${recording.recordingId}: ${audioText(recording)}`)),
    field('voicemail', call.voicemailStatus),
    ...voicemails.map((voicemail) => field('', `${voicemail.messageId}: ${audioText(voicemail)}`)),
    ...transcripts.map(({ source, sourceId, text, language, speakerBasis }) =>
      field(
        'transcript',
        `${source} ${sourceId}: ${list(language, speakerBasis, `${text.length} characters`)}`,
      ),
    ),
    field(
      'next',
      call.nextAttemptAt
        ? `parked for ${call.nextStep ?? 'nothing'}, due ${at(call.nextAttemptAt)}`
        : 'not parked',
    ),
    ...(timeline.length === 0 ? [field('timeline', 'nothing')] : []),
    ...timeline.map(({ eventType, occurredAt }) => field('timeline', `${eventType}, ${at(occurredAt)}`)),
  ].join('\n');
}

function audioText(audio: CallRecordingRow | VoicemailRow): string {
  const where = audio.storedAt
    ? `${audio.s3Key} (${audio.bytes ?? '?'} bytes)`
    : `not stored${audio.unavailableReason ? ` (${audio.unavailableReason})` : ''}`;
  return list(where, `transcription ${audio.transcriptionStatus}`, audio.transcriptionReason);
}
