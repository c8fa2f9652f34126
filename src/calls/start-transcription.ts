import { createHash } from 'node:crypto';
import { logEvents } from '../platform/log-events.ts';
import { type MediaRow, mediaFields } from './media-rows.ts';
import { markTranscriptionStarted } from './media-store.ts';
import type { StepResult } from './step.ts';
import type { MediaDependencies } from './store-audio.ts';

const jobKinds = { recording: 'rec', voicemail: 'vm' } as const;
const longestName = 200;
const busySeconds = 60;

/** The job's name, and so the way back from Transcribe's event to the row. Its prefix is the stage's event rule. */
export function jobNameOf(stage: string, { source, id }: Pick<MediaRow, 'source' | 'id'>): string {
  const prefix = `${stage}-${jobKinds[source]}-`;
  const name = `${prefix}${id}`;
  if (name.length <= longestName && /^[0-9a-zA-Z._-]+$/.test(name)) return name;
  // RingCentral's ids are digits. Should that change, two of them must not fall together.
  return `${prefix}${createHash('sha256').update(id).digest('hex')}`;
}

/** Whether the job is one of this stage's: stages may share an AWS account and so hear of each other's jobs. */
export const isJobOf = (stage: string, jobName: string) =>
  Object.values(jobKinds).some((kind) => jobName.startsWith(`${stage}-${kind}-`));

/**
 * Has stored sound transcribed, if that hasn't begun.
 *
 * @throws errors of database, S3 and Transcribe: keep the message
 */
export async function startTranscription(
  deps: MediaDependencies,
  media: MediaRow,
  deadline: Date,
): Promise<StepResult> {
  return media.transcriptionStatus === 'none' ? startJob(deps, media, deadline) : { kind: 'done' };
}

/**
 * Starts the row's job. The row says so only afterwards: should we die between, a repetition finds the job there,
 * which counts as started, and the job's event finds the row by the name that it was stored with.
 */
export async function startJob(
  deps: MediaDependencies,
  media: MediaRow,
  deadline: Date,
): Promise<StepResult> {
  const { neon, objects, transcriber, clock, log } = deps;
  const { s3Key, transcriptionJob: jobName } = media;
  if (!s3Key || !jobName) return { kind: 'failed', reason: 'nothing_to_transcribe' };
  const head = await objects.head(s3Key);
  if (!head) return { kind: 'failed', reason: 'stored_audio_missing' };
  const outcome = await transcriber.start({
    jobName,
    mediaKey: s3Key,
    outputKey: `transcripts/${s3Key.replace(/\.\w+$/, '')}.json`,
    mediaFormat: s3Key.endsWith('.wav') ? 'wav' : 'mp3',
    stereo: head.metadata.channels === '2',
  });
  if (outcome === 'busy') return { kind: 'park', step: 'transcription', waitSeconds: busySeconds };
  if (outcome !== 'started') return { kind: 'failed', reason: `transcription_${outcome}` };
  await neon.run((db) => markTranscriptionStarted(db, media, clock.now()), deadline);
  log.info(logEvents.transcriptionStarted, { ...mediaFields(media), job_name: jobName });
  return { kind: 'done' };
}
