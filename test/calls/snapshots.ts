import {
  type CallLogRecord,
  type CallLogSnapshot,
  callLogRecordSchema,
} from '../../src/ringcentral/schemas.ts';

/** A call-log record as the client reads it: three minutes, connected, no recording; changed as a test needs it. */
export function aRecord(changes: Record<string, unknown> = {}): CallLogRecord {
  return callLogRecordSchema.parse({
    id: 'Qx7',
    uri: 'https://platform.ringcentral.com/restapi/v1.0/account/900412/call-log/Qx7',
    sessionId: '31880011005',
    telephonySessionId: 's-77aa',
    startTime: '2026-03-04T15:20:00.000Z',
    duration: 180,
    type: 'Voice',
    direction: 'Inbound',
    action: 'Phone Call',
    result: 'Accepted',
    ...changes,
  });
}

export const aSnapshot = (
  records: CallLogRecord[],
  more: Partial<Omit<CallLogSnapshot, 'records'>> = {},
): CallLogSnapshot => ({
  fetchedAt: '2026-03-04T15:25:00.000Z',
  coverage: 'account',
  records,
  ...more,
});

/** A recording as a record or leg carries it. */
export const aRecording = (id: string) => ({ id, contentUri: `https://media.ringcentral.com/${id}` });

export const aVoicemail = (id: string) => ({
  id,
  type: 'VoiceMail',
  uri: `https://platform.ringcentral.com/restapi/v1.0/account/900412/extension/900412201/message-store/${id}`,
});
