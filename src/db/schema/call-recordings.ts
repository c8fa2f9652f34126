import { sql } from 'drizzle-orm';
import { index, pgTable, text } from 'drizzle-orm/pg-core';
import { storedAudioColumns, transcriptionColumns } from './columns.ts';

/** A recording that the call log has shown with the address of its content. A session may have several. */
export const callRecordings = pgTable(
  'call_recordings',
  {
    recordingId: text('recording_id').primaryKey(),
    accountId: text('account_id').notNull(),
    telephonySessionId: text('telephony_session_id').notNull(),
    contentUri: text('content_uri').notNull(),
    ...storedAudioColumns(),
    ...transcriptionColumns(),
  },
  (table) => [
    index('ix_call_recordings_session').on(table.accountId, table.telephonySessionId),
    index('ix_call_recordings_job').on(table.transcriptionJob),
    index('ix_call_recordings_transcribing')
      .on(table.accountId, table.storedAt)
      .where(
        sql`${table.transcriptionStatus} in ('none', 'started') and ${table.transcriptionJob} is not null`,
      ),
  ],
);

export type CallRecordingRow = typeof callRecordings.$inferSelect;
