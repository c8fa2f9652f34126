import { bigint, customType, integer, text, timestamp, uuid } from 'drizzle-orm/pg-core';

/** An instant. Three digits, since a JavaScript Date holds no more: a row read back compares equal. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 });

/** A calendar date without zone, 'YYYY-MM-DD'. */
export const calendarDate = customType<{ data: string; driverData: string }>({ dataType: () => 'date' });

/** Who a row belongs to. store_id alone isolates stores; account_id is audit only. */
export const identityColumns = () => ({
  franchiseId: text('franchise_id').notNull(),
  accountId: text('account_id').notNull(),
  storeId: uuid('store_id').notNull(),
});

/** Sound that is, or will be, in the recordings bucket. `stored_at` is null until it is there whole. */
export const storedAudioColumns = () => ({
  contentType: text('content_type'),
  durationMs: integer('duration_ms'),
  s3Key: text('s3_key'),
  bytes: bigint('bytes', { mode: 'number' }),
  storedAt: instant('stored_at'),
  /** Why it will never be stored, such as 'deleted'. */
  unavailableReason: text('unavailable_reason'),
});

/** `none`: not begun. `no_speech` is a normal end; `failed` has its reason beside it. */
const transcriptionStatuses = ['none', 'started', 'completed', 'no_speech', 'failed'] as const;

export const transcriptionColumns = () => ({
  transcriptionJob: text('transcription_job'),
  transcriptionStatus: text('transcription_status', { enum: transcriptionStatuses })
    .notNull()
    .default('none'),
  transcriptionReason: text('transcription_reason'),
  transcriptionStartedAt: instant('transcription_started_at'),
});
