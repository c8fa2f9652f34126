import type { CallRow } from '../db/schema/index.ts';
import type { StageDatabase } from '../db/stage-database.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/logger.ts';
import type { Meter } from '../platform/metrics.ts';
import type { ObjectHead, ObjectStore } from '../platform/object-store.ts';
import type { Transcriber } from '../platform/transcriber.ts';
import type { AudioContent } from '../ringcentral/audio.ts';
import type { Failure, Outcome, RetryReason } from '../ringcentral/errors.ts';
import type { Media } from '../ringcentral/media.ts';
import type { ApiSurface } from '../ringcentral/surfaces.ts';
import type { MediaRow } from './media-rows.ts';
import type { StoredAudio } from './media-store.ts';

/** What the steps after the call log work with. */
export interface MediaDependencies {
  neon: StageDatabase;
  media: Media;
  objects: ObjectStore;
  transcriber: Transcriber;
  /** In the names of transcription jobs. */
  stage: string;
  clock: Clock;
  log: Log;
  meter: Meter;
}

/** After a download the upload has to end, the row to be written and the transcription to begin. */
const reserveMs = 8_000;
const shortestDownloadMs = 10_000;
/** RingCentral needs about as long as the call was to prepare a recording; this comes on top. */
const graceMs = 15 * 60_000;

/** Whether a download may still begin in this invocation. */
export const hasTimeLeft = (clock: Clock, deadline: Date) =>
  deadline.getTime() - clock.now().getTime() >= reserveMs + shortestDownloadMs;

/** Whether what RingCentral doesn't have by now was deleted: it is past call end + duration + 15 minutes. */
export function isOverdue({ startedAt, endedAt, lastEventAt, durationMs }: CallRow, now: Date): boolean {
  // The last Disconnected may be lost: then the call log knows better how long the call was.
  const end = Math.max((endedAt ?? lastEventAt).getTime(), startedAt.getTime() + (durationMs ?? 0));
  return now.getTime() > end + (durationMs ?? Math.max(0, end - startedAt.getTime())) + graceMs;
}

/** Where the sound lies in the bucket, without its ending: by the UTC month of the call's start. */
export function keyWithoutEnding(
  { source, id }: MediaRow,
  { accountId, startedAt }: Pick<CallRow, 'accountId' | 'startedAt'>,
): string {
  const [year, month] = startedAt.toISOString().split('-');
  return `${source}s/${accountId}/${year}/${month}/${id}`;
}

/**
 * Brings sound from RingCentral into the bucket, unless it is there whole. An upload that fails leaves nothing, so
 * whatever is there was complete once; the metadata tell what size had been announced.
 *
 * @param open asks RingCentral; not called for sound that is there
 * @throws S3's errors
 */
export async function storeAudio(
  { objects, clock }: Pick<MediaDependencies, 'objects' | 'clock'>,
  {
    key,
    surface,
    deadline,
    open,
    onBegin,
  }: {
    key: string;
    surface: ApiSurface;
    deadline: Date;
    open: (options: { deadlineMs: number }) => Promise<Outcome<AudioContent>>;
    /** Called unless there was no slot or no login, so that nothing was begun. */
    onBegin?: () => void;
  },
): Promise<{ kind: 'stored'; audio: StoredAudio } | Failure> {
  const found = await findAudio(objects, key);
  if (found) {
    onBegin?.();
    return { kind: 'stored', audio: found };
  }

  const leftMs = deadline.getTime() - clock.now().getTime() - reserveMs;
  const outcome = await open({ deadlineMs: Math.max(1, leftMs) });
  if (outcome.kind !== 'no_slot' && outcome.kind !== 'login_refused') onBegin?.();
  if (outcome.kind !== 'ok') return outcome;
  const { stream, format, contentType, bytes, channels } = outcome.value;
  try {
    const s3Key = `${key}.${format}`;
    const metadata = {
      channels: String(channels),
      ...(bytes === undefined ? {} : { [announcedBytes]: String(bytes) }),
    };
    const stored = await objects.upload(s3Key, stream, { contentType, metadata });
    return { kind: 'stored', audio: { s3Key, bytes: stored, contentType } };
  } catch (error) {
    if (!stream.errored) throw error;
    return { kind: 'retry', surface, reason: reasonOf(stream.errored) };
  } finally {
    stream.destroy();
  }
}

const announcedBytes = 'announced-bytes';

async function findAudio(objects: ObjectStore, key: string): Promise<StoredAudio | undefined> {
  const keys = [`${key}.mp3`, `${key}.wav`];
  const heads = await Promise.all(keys.map((s3Key) => objects.head(s3Key)));
  for (const [index, head] of heads.entries()) {
    const s3Key = keys[index];
    if (s3Key && head?.contentType && isWhole(head)) {
      return { s3Key, bytes: head.bytes, contentType: head.contentType };
    }
  }
  return undefined;
}

const isWhole = ({ bytes, metadata }: ObjectHead) => metadata[announcedBytes] === String(bytes);

/** AbortSignal.timeout has a name of its own; anything else is a stream that ended too early. */
const reasonOf = (error: Error): RetryReason =>
  error.name === 'TimeoutError' ? 'timeout' : 'incomplete_content';
