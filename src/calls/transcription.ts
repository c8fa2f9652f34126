import type { CallRow } from '../db/schema/index.ts';
import { errorCode } from '../platform/errors.ts';
import { logEvents } from '../platform/log-events.ts';
import type { TranscriptionJob } from '../platform/transcriber.ts';
import { type MediaOfCall, type MediaRow, mediaFields } from './media-rows.ts';
import { completeTranscript, failTranscription, findByJob, openTranscriptions } from './media-store.ts';
import { buildMediaTimeline } from './media-timeline.ts';
import type { TranscriptionWork } from './message.ts';
import { isJobOf, startJob } from './start-transcription.ts';
import type { StepResult } from './step.ts';
import { hasTimeLeft, type MediaDependencies } from './store-audio.ts';
import { type ChannelRole, readTranscript } from './transcript.ts';

const done: StepResult = { kind: 'done' };

/**
 * Amazon Transcribe has told that a job ended: its transcript is kept, or why there is none. Duplicates and late
 * events change nothing.
 *
 * @throws errors of database, S3 and Transcribe: keep the message
 */
export async function completeTranscription(
  deps: MediaDependencies,
  { jobName, jobStatus }: TranscriptionWork,
  deadline: Date,
): Promise<StepResult> {
  const { neon, transcriber, log, stage } = deps;
  if (!isJobOf(stage, jobName)) {
    log.warn(logEvents.transcriptionIgnored, { job_name: jobName, reason: 'other_stage' });
    return done;
  }
  const found = await neon.run((db) => findByJob(db, jobName), deadline);
  if (!found) return { kind: 'failed', reason: 'unknown_transcription_job' };
  if (isComplete(found.media)) return done;
  const job = await transcriber.describe(jobName);
  if (!job) return { kind: 'retry', reason: 'transcription_job_not_found' };
  // The event says that it ended; what we are told here may lag behind.
  if (job.status === 'in_progress') {
    return { kind: 'retry', reason: `transcription_job_not_${jobStatus.toLowerCase()}` };
  }
  return endTranscription(deps, found, job, deadline);
}

const isComplete = ({ transcriptionStatus }: MediaRow) =>
  transcriptionStatus === 'completed' || transcriptionStatus === 'no_speech';

const lookAfterMs = 2 * 3600_000;
const giveUpAfterMs = 24 * 3600_000;

/**
 * For the sweep: looks up an account's jobs that were started over 2 h ago and whose end nobody told. Those that
 * Transcribe doesn't know are started again; those that run for over 24 h end as failed. One that can't be looked
 * up doesn't stop the others.
 *
 * @param limit of each, recordings and voicemails
 * @throws errors of the database's list
 */
export async function checkOpenTranscriptions(
  deps: MediaDependencies,
  { accountId, limit }: { accountId: string; limit: number },
  deadline: Date,
): Promise<{ checked: number; unresolved: number }> {
  const startedBefore = new Date(deps.clock.now().getTime() - lookAfterMs);
  const open = await deps.neon.run(
    (db) => openTranscriptions(db, { accountId, startedBefore, limit }),
    deadline,
  );
  let unresolved = 0;
  for (const found of open) {
    if (!hasTimeLeft(deps.clock, deadline)) break;
    const result = await checkOne(deps, found, deadline).catch(
      (error: unknown): StepResult => ({ kind: 'retry', reason: errorCode(error) }),
    );
    if (result.kind === 'done') continue;
    unresolved += 1;
    const reason = 'reason' in result ? result.reason : result.kind;
    deps.log.warn(logEvents.transcriptionNotChecked, { ...mediaFields(found.media), reason });
  }
  return { checked: open.length, unresolved };
}

async function checkOne(deps: MediaDependencies, found: MediaOfCall, deadline: Date): Promise<StepResult> {
  const { media } = found;
  const job = media.transcriptionJob ? await deps.transcriber.describe(media.transcriptionJob) : undefined;
  const result = await bringOn(deps, found, job, deadline);
  const startedAt = (media.transcriptionStartedAt ?? media.storedAt)?.getTime() ?? 0;
  const isOld = deps.clock.now().getTime() - startedAt >= giveUpAfterMs;
  if (!isOld || (result.kind === 'done' && job?.status !== 'in_progress')) return result;
  if (job?.status === 'in_progress') {
    return fail(deps, media, { reason: 'timed_out', code: 'timed_out' }, deadline);
  }
  if (!('reason' in result)) return result;
  return fail(deps, media, { reason: result.reason, code: result.reason }, deadline);
}

/** What its event would have done; or a new start, where Transcribe knows nothing of it. */
function bringOn(
  deps: MediaDependencies,
  found: MediaOfCall,
  job: TranscriptionJob | undefined,
  deadline: Date,
): Promise<StepResult> | StepResult {
  if (!job) return startJob(deps, found.media, deadline);
  return job.status === 'in_progress' ? done : endTranscription(deps, found, job, deadline);
}

async function endTranscription(
  deps: MediaDependencies,
  { media, call }: MediaOfCall,
  job: TranscriptionJob,
  deadline: Date,
): Promise<StepResult> {
  const { neon, objects, meter, log } = deps;
  if (job.status === 'failed') {
    return fail(deps, media, { reason: job.failureReason ?? 'unknown', code: 'job_failed' }, deadline);
  }
  if (!job.resultKey) return { kind: 'failed', reason: 'transcript_not_in_bucket' };
  const json = await objects.getText(job.resultKey);
  if (json === undefined) return { kind: 'retry', reason: 'transcript_not_found' };
  const transcript = readTranscript(json, channelRoles(media, call));
  if (!transcript) return { kind: 'failed', reason: 'transcript_unreadable' };

  const values = { ...transcript, language: job.languageCode ?? null };
  const timeline = transcript.text === '' ? undefined : transcribedTimeline(call, media, job);
  const isNews = await neon.run((db) => completeTranscript(db, media, values, timeline), deadline);
  if (!isNews) return done;
  meter.count('TranscriptStored');
  log.info(logEvents.transcriptionCompleted, {
    ...mediaFields(media),
    job_name: media.transcriptionJob,
    segments: transcript.segments.length,
    speaker_basis: transcript.speakerBasis,
  });
  return done;
}

/**
 * Left is the side that made the call, by convention and not by any promise of RingCentral's: see
 * docs/adr/0018-channels-of-a-stereo-recording.md.
 */
export function channelRoles(
  { source }: Pick<MediaRow, 'source'>,
  { direction }: Pick<CallRow, 'direction'>,
): [ChannelRole, ChannelRole] {
  if (source === 'voicemail') return ['unknown', 'unknown'];
  if (direction === 'inbound') return ['contact', 'agent'];
  if (direction === 'outbound') return ['agent', 'contact'];
  return ['unknown', 'unknown'];
}

function transcribedTimeline(call: CallRow, { source, id }: MediaRow, { completedAt }: TranscriptionJob) {
  return buildMediaTimeline(call, {
    eventType: 'call.transcribed',
    occurredAt: completedAt ?? call.endedAt ?? call.lastEventAt,
    newValue: { source, sourceId: id },
    occurrence: `${source}:${id}`,
  });
}

/** The row has the provider's own words, the log only a code. */
async function fail(
  { neon, meter, log }: MediaDependencies,
  media: MediaRow,
  { reason, code }: { reason: string; code: string },
  deadline: Date,
): Promise<StepResult> {
  if (await neon.run((db) => failTranscription(db, media, reason), deadline)) {
    meter.count('TranscriptionFailed');
    log.error(logEvents.transcriptionFailed, {
      ...mediaFields(media),
      job_name: media.transcriptionJob,
      reason: code,
    });
  }
  return done;
}
