import type { VoicemailRow } from '../db/schema/index.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Failure } from '../ringcentral/errors.ts';
import type { VoicemailMessage } from '../ringcentral/schemas.ts';
import { mediaFields, voicemailMedia } from './media-rows.ts';
import { markStored, markUnavailable, type TranscriptValues } from './media-store.ts';
import { buildMediaTimeline } from './media-timeline.ts';
import { reasonOf } from './recording.ts';
import { jobNameOf, startTranscription } from './start-transcription.ts';
import { inTurn, resultOfFailure, type StepResult, type StoredSession } from './step.ts';
import {
  hasTimeLeft,
  isOverdue,
  keyWithoutEnding,
  type MediaDependencies,
  storeAudio,
} from './store-audio.ts';

const done: StepResult = { kind: 'done' };

/**
 * Brings a session's voicemails into the bucket, with RingCentral's transcript or else one of our own. A voicemail
 * never holds up its message: but for a 429, a missing slot or login, what fails stays pending and the sweep tries
 * again.
 *
 * @param deadline of the invocation
 * @throws errors of database, S3, SSM and Transcribe: keep the message
 */
export async function processVoicemail(
  deps: MediaDependencies,
  session: StoredSession,
  deadline: Date,
): Promise<StepResult> {
  return inTurn(session.voicemails, (row) => processOne(deps, session, row, deadline));
}

async function processOne(
  deps: MediaDependencies,
  { call }: StoredSession,
  row: VoicemailRow,
  deadline: Date,
): Promise<StepResult> {
  const media = voicemailMedia(row);
  if (media.unavailableReason) return done;
  if (media.storedAt) return startTranscription(deps, media, deadline);
  if (!hasTimeLeft(deps.clock, deadline)) return { kind: 'park', step: 'voicemail', waitSeconds: 0 };

  const work = { deps, call, row, deadline };
  const detail = await deps.media.fetchVoicemail(row.messageUri, contextOf(row));
  if (detail.kind !== 'ok') return notStored(work, detail);
  if (isGone(detail.value)) return gone(work);
  const transcript = await fetchTranscript(work, detail.value);
  if (transcript && 'kind' in transcript) return transcript;
  return storeMessage(work, detail.value, transcript);
}

/** What every step of one voicemail needs. */
interface Work {
  deps: MediaDependencies;
  call: StoredSession['call'];
  row: VoicemailRow;
  deadline: Date;
}

const contextOf = ({ accountId, telephonySessionId }: VoicemailRow) => ({ accountId, telephonySessionId });

const is = (text: string | undefined, ...words: string[]) => words.includes(text?.toLowerCase() ?? '');

/** Deleted by its owner; purged some five days later, when its attachments go. */
const isGone = ({ availability }: VoicemailMessage) => is(availability, 'deleted', 'purged');

const attachmentOf = ({ attachments }: VoicemailMessage, type: string) =>
  attachments?.find((attachment) => is(attachment.type, type));

/** RingCentral's transcript; undefined when it has none, or won't give it: then we make our own, without waiting. */
async function fetchTranscript(
  { deps, row }: Work,
  message: VoicemailMessage,
): Promise<TranscriptValues | StepResult | undefined> {
  const attachment = attachmentOf(message, 'audiotranscription');
  if (!attachment || !is(message.vmTranscriptionStatus, 'completed', 'completedpartially')) return undefined;
  const outcome = await deps.media.fetchTranscript(attachment.uri, contextOf(row));
  if (outcome.kind !== 'ok') return blocking(outcome);
  return { text: outcome.value.trim(), segments: [], language: null, speakerBasis: 'none' };
}

async function storeMessage(
  work: Work,
  message: VoicemailMessage,
  transcript: TranscriptValues | undefined,
): Promise<StepResult> {
  const { deps, call, row, deadline } = work;
  const media = voicemailMedia(row);
  const attachment = attachmentOf(message, 'audiorecording');
  if (!attachment) return stayPending(work, 'no_audio');
  const outcome = await storeAudio(deps, {
    key: keyWithoutEnding(media, call),
    surface: 'voicemail_transcript_content',
    deadline,
    open: (options) => deps.media.openVoicemailAudio(attachment.uri, contextOf(row), options),
  });
  if (outcome.kind !== 'stored') return notStored(work, outcome);

  const { audio } = outcome;
  const transcriptionJob = jobNameOf(deps.stage, media);
  const columns = {
    durationMs: attachment.vmDuration === undefined ? row.durationMs : attachment.vmDuration * 1000,
    storedAt: deps.clock.now(),
    timeline: receivedTimeline(work, message),
    ...(transcript ? { transcript } : { transcriptionJob }),
  };
  const { first } = await deps.neon.run((db) => markStored(db, media, audio, columns), deadline);
  if (first) {
    deps.log.info(logEvents.voicemailStored, {
      ...mediaFields(media),
      bytes: audio.bytes,
      transcript: transcript ? 'ringcentral' : 'own',
    });
    if (transcript) deps.meter.count('TranscriptStored');
  }
  if (transcript) return done;
  return startTranscription(deps, { ...media, s3Key: audio.s3Key, transcriptionJob }, deadline);
}

function receivedTimeline({ call, row }: Work, { creationTime }: VoicemailMessage) {
  const created = new Date(creationTime ?? '');
  return buildMediaTimeline(call, {
    eventType: 'call.voicemail_received',
    occurredAt: Number.isNaN(created.getTime()) ? (call.endedAt ?? call.lastEventAt) : created,
    newValue: { messageId: row.messageId },
    occurrence: row.messageId,
  });
}

/** RingCentral's refusals that stop the message; the others don't. */
function blocking(failure: Failure): StepResult | undefined {
  switch (failure.kind) {
    case 'rate_limited':
    case 'no_slot':
    case 'login_refused':
      return resultOfFailure(failure, 'voicemail');
    default:
      return undefined;
  }
}

async function notStored(work: Work, failure: Failure): Promise<StepResult> {
  const blocked = blocking(failure);
  if (blocked) return blocked;
  if (failure.kind === 'not_found' && isOverdue(work.call, work.deps.clock.now())) return gone(work);
  return stayPending(work, reasonOf(failure));
}

function stayPending({ deps, row }: Work, reason: string): StepResult {
  deps.log.warn(logEvents.voicemailNotStored, { ...mediaFields(voicemailMedia(row)), reason });
  return done;
}

async function gone({ deps, row, deadline }: Work): Promise<StepResult> {
  const media = voicemailMedia(row);
  await deps.neon.run((db) => markUnavailable(db, media, 'deleted'), deadline);
  deps.log.warn(logEvents.voicemailNotStored, { ...mediaFields(media), reason: 'deleted' });
  return done;
}
