import type { CallRecordingRow, CallRow, VoicemailRow } from '../db/schema/index.ts';

/** A recording or a voicemail, as far as storing and transcribing it is the same. */
export interface MediaRow
  extends Pick<
    CallRecordingRow,
    | 'accountId'
    | 'telephonySessionId'
    | 'durationMs'
    | 's3Key'
    | 'storedAt'
    | 'unavailableReason'
    | 'transcriptionJob'
    | 'transcriptionStatus'
    | 'transcriptionStartedAt'
  > {
  source: 'recording' | 'voicemail';
  /** The recording's id, or the voicemail's message id. */
  id: string;
}

/** With the call that it belongs to. */
export interface MediaOfCall {
  media: MediaRow;
  call: CallRow;
}

export const recordingMedia = (row: CallRecordingRow): MediaRow => ({
  ...row,
  source: 'recording',
  id: row.recordingId,
});

export const voicemailMedia = (row: VoicemailRow): MediaRow => ({
  ...row,
  source: 'voicemail',
  id: row.messageId,
});

/** What log lines say of it. */
export const mediaFields = ({ accountId, telephonySessionId, source, id }: MediaRow) => ({
  account_id: accountId,
  telephony_session_id: telephonySessionId,
  [source === 'recording' ? 'api_recording_id' : 'message_id']: id,
});
