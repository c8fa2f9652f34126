import type { CallRecordingRow } from '../db/schema/index.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Failure } from '../ringcentral/errors.ts';
import type { CallLogSnapshot } from '../ringcentral/schemas.ts';
import { durationOfRecording, recordingsOf } from '../ringcentral/snapshot.ts';
import { mediaFields, recordingMedia } from './media-rows.ts';
import { markStored, markUnavailable, postponeRecording } from './media-store.ts';
import { jobNameOf, startTranscription } from './start-transcription.ts';
import { inTurn, resultOfFailure, type StepResult, type StoredSession } from './step.ts';
import {
  hasTimeLeft,
  isOverdue,
  keyWithoutEnding,
  type MediaDependencies,
  storeAudio,
} from './store-audio.ts';

export type { MediaDependencies } from './store-audio.ts';

const done: StepResult = { kind: 'done' };

/**
 * Brings a session's recordings into the bucket and has them transcribed, by the addresses that the call log gave:
 * it never asks the call log itself. One that can't be had doesn't hold up the others; what is stored stays.
 *
 * @param snapshot the session's stored one
 * @param deadline of the invocation
 * @throws errors of database, S3, SSM and Transcribe: keep the message
 */
export async function processRecording(
  deps: MediaDependencies,
  snapshot: CallLogSnapshot,
  session: StoredSession,
  deadline: Date,
): Promise<StepResult> {
  return inTurn(inOrder(snapshot, session.recordings), (row) =>
    processOne(deps, snapshot, session, row, deadline),
  );
}

/** By their start; those that this snapshot doesn't name come last. */
function inOrder(snapshot: CallLogSnapshot, rows: readonly CallRecordingRow[]): CallRecordingRow[] {
  const ids = recordingsOf(snapshot).map(({ id }) => id);
  const placeOf = ({ recordingId }: CallRecordingRow) =>
    ids.includes(recordingId) ? ids.indexOf(recordingId) : ids.length;
  return [...rows].sort((a, b) => placeOf(a) - placeOf(b));
}

async function processOne(
  deps: MediaDependencies,
  snapshot: CallLogSnapshot,
  { call }: StoredSession,
  row: CallRecordingRow,
  deadline: Date,
): Promise<StepResult> {
  const { neon, clock, log, meter, stage } = deps;
  const media = recordingMedia(row);
  if (media.unavailableReason) return done;
  if (media.storedAt) return startTranscription(deps, media, deadline);
  if (!hasTimeLeft(clock, deadline)) return { kind: 'park', step: 'recording', waitSeconds: 0 };

  const fields = mediaFields(media);
  const { accountId, telephonySessionId } = media;
  const outcome = await storeAudio(deps, {
    key: keyWithoutEnding(media, call),
    surface: 'recording_content',
    deadline,
    open: (options) => deps.media.openRecording(row.contentUri, { accountId, telephonySessionId }, options),
    onBegin: () =>
      log.info(logEvents.recordingProcessingStarted, { ...fields, call_log_input: 'prefetched' }),
  });
  if (outcome.kind !== 'stored') return notStored(deps, { call, row }, outcome, deadline);

  const { audio } = outcome;
  const transcriptionJob = jobNameOf(stage, media);
  const columns = {
    durationMs: row.durationMs ?? durationOfRecording(snapshot, row.recordingId) ?? null,
    storedAt: clock.now(),
    transcriptionJob,
  };
  const { first } = await neon.run((db) => markStored(db, media, audio, columns), deadline);
  if (first) {
    meter.count('RecordingStored');
    log.info(logEvents.recordingStored, { ...fields, bytes: audio.bytes, content_type: audio.contentType });
  }
  return startTranscription(deps, { ...media, s3Key: audio.s3Key, transcriptionJob }, deadline);
}

async function notStored(
  deps: MediaDependencies,
  { call, row }: { call: StoredSession['call']; row: CallRecordingRow },
  failure: Failure,
  deadline: Date,
): Promise<StepResult> {
  const fields = mediaFields(recordingMedia(row));
  // That it waits is told by whoever parks it.
  if (failure.kind !== 'no_slot') {
    deps.log.warn(logEvents.recordingNotStored, { ...fields, reason: reasonOf(failure) });
  }
  if (failure.kind === 'forbidden') return { kind: 'failed', reason: 'recording_forbidden' };
  if (failure.kind !== 'not_found') return resultOfFailure(failure, 'recording');
  if (!isOverdue(call, deps.clock.now())) {
    await deps.neon.run((db) => postponeRecording(db, call, 'content_not_found'), deadline);
    return done;
  }
  const settled = await deps.neon.run((db) => markUnavailable(db, recordingMedia(row), 'deleted'), deadline);
  if (settled?.recordingStatus === 'deleted' && call.recordingStatus !== 'deleted') {
    deps.meter.count('CallsWithoutRecording');
    deps.log.warn(logEvents.callWithoutRecording, {
      account_id: call.accountId,
      telephony_session_id: call.telephonySessionId,
      recording_status: settled.recordingStatus,
      reason: settled.recordingReason,
    });
  }
  return done;
}

/** The failure's code in a log line. */
export const reasonOf = (failure: Failure) => ('reason' in failure ? failure.reason : failure.kind);
