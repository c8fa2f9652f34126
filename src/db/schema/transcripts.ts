import { jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { instant } from './columns.ts';

/** `source_id` is a recording's id or a voicemail's message id. */
export const transcriptSources = ['recording', 'voicemail'] as const;

/** What tells the speakers apart: a stereo recording's channels, labels by voice, or nothing. */
export const speakerBases = ['channel', 'speaker_label', 'none'] as const;

/** What one speaker said in one go. */
export interface TranscriptSegment {
  /** By channel 'contact' or 'agent'; by label, or where the channel is not known, 'unknown'. */
  role: 'contact' | 'agent' | 'unknown';
  /** The transcriber's own label, such as 'ch_0' or 'spk_1'. */
  speaker: string;
  startMs: number;
  endMs: number;
  text: string;
}

export const transcripts = pgTable(
  'transcripts',
  {
    source: text('source', { enum: transcriptSources }).notNull(),
    sourceId: text('source_id').notNull(),
    /** Empty when nobody spoke. */
    text: text('text').notNull(),
    segments: jsonb('segments').$type<TranscriptSegment[]>().notNull(),
    /** BCP 47, such as 'en-US'; null where the provider doesn't say. */
    language: text('language'),
    speakerBasis: text('speaker_basis', { enum: speakerBases }).notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.source, table.sourceId] })],
);

export type TranscriptRow = typeof transcripts.$inferSelect;
