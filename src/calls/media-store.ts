import { and, eq, inArray, isNotNull, isNull, lt, notInArray, type SQL, sql } from 'drizzle-orm';
import type { TimelineValues } from '../contacts/timeline.ts';
import type { Database } from '../db/client.ts';
import {
  type CallRecordingRow,
  type CallRow,
  callRecordings,
  calls,
  contactTimeline,
  type recordingStatuses,
  transcripts,
  type VoicemailRow,
  voicemails,
} from '../db/schema/index.ts';
import { type CallKey, isCall, limitStatements } from './call-statements.ts';
import { type MediaOfCall, type MediaRow, recordingMedia, voicemailMedia } from './media-rows.ts';

/** Who reads several rows of a session locks its call first, as every writer does, so that all queue up there. */
const lockCall = (db: Database, key: CallKey) =>
  db.select({ status: calls.status }).from(calls).where(isCall(key)).for('update');

/** Sound that is in the bucket. */
export interface StoredAudio {
  s3Key: string;
  bytes: number;
  contentType: string;
}

export type TranscriptValues = Omit<typeof transcripts.$inferInsert, 'source' | 'sourceId' | 'createdAt'>;

/** What becomes of a row together with its sound. */
export interface StoredWith {
  durationMs: number | null;
  storedAt: Date;
  /** The job that will transcribe it; none where `transcript` came along. */
  transcriptionJob?: string;
  transcript?: TranscriptValues;
  timeline?: TimelineValues | undefined;
}

/**
 * A recording or voicemail is in the bucket: its row, its call's status and what came along, in one transaction.
 * `first` is false when another container was faster; nothing is changed then.
 *
 * @throws NeonDbError, here and below; run it in `StageDatabase.run`
 */
export async function markStored(
  db: Database,
  media: MediaRow,
  audio: StoredAudio,
  { transcript, timeline, ...columns }: StoredWith,
): Promise<{ first: boolean }> {
  const [, , changed] = await db.batch([
    limitStatements(db),
    lockCall(db, media),
    updateMedia(
      db,
      media,
      {
        ...audio,
        ...columns,
        unavailableReason: null,
        ...(transcript ? { transcriptionStatus: 'completed' } : {}),
      },
      ({ storedAt }) => isNull(storedAt),
    ),
    settleCall(db, media),
    ...(transcript ? [insertTranscript(db, media, transcript)] : []),
    ...(timeline ? [insertTimeline(db, timeline)] : []),
  ]);
  return { first: changed.length > 0 };
}

/** It will never come. Returns the call as it is then. */
export async function markUnavailable(
  db: Database,
  media: MediaRow,
  reason: string,
): Promise<CallRow | undefined> {
  const [, , , [call]] = await db.batch([
    limitStatements(db),
    lockCall(db, media),
    updateMedia(db, media, { unavailableReason: reason }, ({ storedAt }) => isNull(storedAt)),
    settleCall(db, media),
  ]);
  return call;
}

/** A recording that isn't there yet: the sweep looks again. */
export async function postponeRecording(db: Database, key: CallKey, reason: string): Promise<void> {
  await db
    .update(calls)
    .set({ recordingStatus: 'pending', recordingReason: reason, updatedAt: sql`now()` })
    .where(and(isCall(key), inArray(calls.recordingStatus, ['available', 'expected', 'pending'])));
}

/** Transcribe has the job. What its event has already ended stays ended. */
export async function markTranscriptionStarted(db: Database, media: MediaRow, now: Date): Promise<void> {
  await updateMedia(
    db,
    media,
    { transcriptionStatus: 'started', transcriptionStartedAt: now, transcriptionReason: null },
    ({ transcriptionStatus }) => inArray(transcriptionStatus, ['none', 'started']),
  );
}

/** Whether this was news: a transcription that is complete stays as it is. */
export async function failTranscription(db: Database, media: MediaRow, reason: string): Promise<boolean> {
  const changed = await updateMedia(
    db,
    media,
    { transcriptionStatus: 'failed', transcriptionReason: reason },
    ({ transcriptionStatus }) => notInArray(transcriptionStatus, ['completed', 'no_speech', 'failed']),
  );
  return changed.length > 0;
}

/** Keeps a transcript, in one transaction. Whether this was news: the first one stays. */
export async function completeTranscript(
  db: Database,
  media: MediaRow,
  transcript: TranscriptValues,
  timeline: TimelineValues | undefined,
): Promise<boolean> {
  const [, changed] = await db.batch([
    limitStatements(db),
    updateMedia(
      db,
      media,
      {
        transcriptionStatus: transcript.text === '' ? 'no_speech' : 'completed',
        transcriptionReason: null,
      },
      ({ transcriptionStatus }) => notInArray(transcriptionStatus, ['completed', 'no_speech']),
    ),
    insertTranscript(db, media, transcript),
    ...(timeline ? [insertTimeline(db, timeline)] : []),
  ]);
  return changed.length > 0;
}

type MediaTable = typeof callRecordings | typeof voicemails;
type MediaColumns = Partial<typeof callRecordings.$inferInsert & typeof voicemails.$inferInsert>;

function updateMedia(
  db: Database,
  { source, id, accountId }: MediaRow,
  columns: MediaColumns,
  when: (table: MediaTable) => SQL,
) {
  return source === 'recording'
    ? db
        .update(callRecordings)
        .set(columns)
        .where(
          and(
            eq(callRecordings.recordingId, id),
            eq(callRecordings.accountId, accountId),
            when(callRecordings),
          ),
        )
        .returning({ status: callRecordings.transcriptionStatus })
    : db
        .update(voicemails)
        .set(columns)
        .where(and(eq(voicemails.messageId, id), eq(voicemails.accountId, accountId), when(voicemails)))
        .returning({ status: voicemails.transcriptionStatus });
}

const insertTranscript = (db: Database, { source, id }: MediaRow, transcript: TranscriptValues) =>
  db
    .insert(transcripts)
    .values({ ...transcript, source, sourceId: id })
    .onConflictDoNothing();

const insertTimeline = (db: Database, row: TimelineValues) =>
  db.insert(contactTimeline).values(row).onConflictDoNothing({ target: contactTimeline.idempotencyKey });

/** What the session's recordings, or its voicemails, add up to. An open one leaves the status as it is. */
function settleCall(db: Database, media: MediaRow) {
  const columns = media.source === 'recording' ? settledRecording(media) : settledVoicemail(media);
  return db
    .update(calls)
    .set({ ...columns, updatedAt: sql`now()` })
    .where(isCall(media))
    .returning();
}

function settledRecording(key: CallKey) {
  const { open, stored, gone } = countsOf(callRecordings, key);
  // The stored snapshot may name recordings that have no address yet, and so no row.
  const unprepared = sql`exists (
    select from jsonb_path_query(${calls.snapshot}, 'lax $.**.recording.id') as named (id)
    where not exists (select from ${callRecordings} where ${callRecordings.recordingId} = named.id #>> '{}'))`;
  return {
    recordingStatus: sql<(typeof recordingStatuses)[number]>`case
      when ${open} then ${calls.recordingStatus} when ${unprepared} then 'expected'
      when ${stored} then 'stored' else 'deleted' end`,
    recordingReason: sql<string | null>`case
      when ${open} then ${calls.recordingReason} when ${unprepared} or not ${gone} then null
      when ${stored} then 'some_deleted' else 'content_deleted' end`,
  };
}

function settledVoicemail(key: CallKey) {
  const { open, stored } = countsOf(voicemails, key);
  return {
    voicemailStatus: sql<CallRow['voicemailStatus']>`case
      when ${open} then ${calls.voicemailStatus} when ${stored} then 'stored' else 'deleted' end`,
  };
}

function countsOf(table: MediaTable, { accountId, telephonySessionId }: CallKey) {
  const some = (condition: SQL) => sql`exists (select from ${table}
    where ${table.accountId} = ${accountId} and ${table.telephonySessionId} = ${telephonySessionId} and ${condition})`;
  return {
    open: some(sql`${table.storedAt} is null and ${table.unavailableReason} is null`),
    stored: some(sql`${table.storedAt} is not null`),
    gone: some(sql`${table.unavailableReason} is not null`),
  };
}

/** The recording or voicemail that a job transcribes. */
export async function findByJob(db: Database, jobName: string): Promise<MediaOfCall | undefined> {
  const [recordings, messages] = await db.batch([
    db
      .select()
      .from(callRecordings)
      .innerJoin(calls, isOfCall(callRecordings))
      .where(eq(callRecordings.transcriptionJob, jobName)),
    db
      .select()
      .from(voicemails)
      .innerJoin(calls, isOfCall(voicemails))
      .where(eq(voicemails.transcriptionJob, jobName)),
  ]);
  return toMedia(recordings, messages)[0];
}

/**
 * Transcriptions of an account that were started before `startedBefore` and haven't ended, or should have been since
 * the sound was stored and never were; the oldest first.
 */
export async function openTranscriptions(
  db: Database,
  { accountId, startedBefore, limit }: { accountId: string; startedBefore: Date; limit: number },
): Promise<MediaOfCall[]> {
  const isOpen = (table: MediaTable) =>
    and(
      eq(table.accountId, accountId),
      inArray(table.transcriptionStatus, ['none', 'started']),
      isNotNull(table.transcriptionJob),
      lt(sql`coalesce(${table.transcriptionStartedAt}, ${table.storedAt})`, startedBefore),
    );
  const [recordings, messages] = await db.batch([
    db
      .select()
      .from(callRecordings)
      .innerJoin(calls, isOfCall(callRecordings))
      .where(isOpen(callRecordings))
      .orderBy(callRecordings.storedAt)
      .limit(limit),
    db
      .select()
      .from(voicemails)
      .innerJoin(calls, isOfCall(voicemails))
      .where(isOpen(voicemails))
      .orderBy(voicemails.storedAt)
      .limit(limit),
  ]);
  return toMedia(recordings, messages);
}

const isOfCall = (table: MediaTable) =>
  and(eq(table.accountId, calls.accountId), eq(table.telephonySessionId, calls.telephonySessionId));

function toMedia(
  recordings: { calls: CallRow; call_recordings: CallRecordingRow }[],
  messages: { calls: CallRow; voicemails: VoicemailRow }[],
): MediaOfCall[] {
  return [
    ...recordings.map((row) => ({ call: row.calls, media: recordingMedia(row.call_recordings) })),
    ...messages.map((row) => ({ call: row.calls, media: voicemailMedia(row.voicemails) })),
  ];
}
