import { and, asc, desc, eq, getTableColumns, inArray, or, type SQL } from 'drizzle-orm';
import type { Database } from '../db/client.ts';
import {
  type CallRecordingRow,
  type CallRow,
  callRecordings,
  calls,
  contactTimeline,
  type TimelineRow,
  type TranscriptRow,
  transcripts,
  type VoicemailRow,
  voicemails,
} from '../db/schema/index.ts';
import type { CallQuery } from './call-query.ts';

/** The newest calls that are shown of one number. */
export const shownCalls = 20;

/** A call row without what RingCentral answered. */
export type ShownCall = Omit<CallRow, 'snapshot' | 'untold'>;

/** What the database knows of one call, from its first webhook to its transcripts. */
export interface CallWay {
  call: ShownCall;
  recordings: CallRecordingRow[];
  voicemails: VoicemailRow[];
  transcripts: TranscriptRow[];
  /** Oldest first. */
  timeline: TimelineRow[];
}

/** Newest first, at most `shownCalls`. */
export async function readCallWays(db: Database, query: CallQuery): Promise<CallWay[]> {
  const { snapshot: _, untold: __, ...columns } = getTableColumns(calls);
  const found = await db
    .select(columns)
    .from(calls)
    .where(condition(query))
    .orderBy(desc(calls.startedAt))
    .limit(shownCalls);
  const sessions = found.map(({ telephonySessionId }) => telephonySessionId);
  const [recordings, messages, timeline] = await db.batch([
    db.select().from(callRecordings).where(inArray(callRecordings.telephonySessionId, sessions)),
    db.select().from(voicemails).where(inArray(voicemails.telephonySessionId, sessions)),
    db
      .select()
      .from(contactTimeline)
      .where(and(eq(contactTimeline.entityType, 'call'), inArray(contactTimeline.entityId, sessions)))
      .orderBy(asc(contactTimeline.occurredAt), asc(contactTimeline.createdAt)),
  ]);
  const sourceIds = [
    ...recordings.map(({ recordingId }) => recordingId),
    ...messages.map(({ messageId }) => messageId),
  ];
  const texts = await db.select().from(transcripts).where(inArray(transcripts.sourceId, sourceIds));
  return found.map((call) => {
    const isOwn = (row: { accountId: string; telephonySessionId: string }) =>
      row.accountId === call.accountId && row.telephonySessionId === call.telephonySessionId;
    const own = { recordings: recordings.filter(isOwn), voicemails: messages.filter(isOwn) };
    return {
      call,
      ...own,
      transcripts: texts.filter(({ source, sourceId }) =>
        source === 'recording'
          ? own.recordings.some(({ recordingId }) => recordingId === sourceId)
          : own.voicemails.some(({ messageId }) => messageId === sourceId),
      ),
      timeline: timeline.filter(
        ({ entityId, accountId }) => entityId === call.telephonySessionId && accountId === call.accountId,
      ),
    };
  });
}

function condition(query: CallQuery): SQL | undefined {
  return query.kind === 'phone'
    ? or(
        eq(calls.contactPhone, query.phone),
        eq(calls.fromNumber, query.phone),
        eq(calls.toNumber, query.phone),
      )
    : eq(calls.telephonySessionId, query.telephonySessionId);
}
