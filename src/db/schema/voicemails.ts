import { sql } from 'drizzle-orm';
import { index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { storedAudioColumns, transcriptionColumns } from './columns.ts';

/** A voicemail that a call-log record of the session names. */
export const voicemails = pgTable(
  'voicemails',
  {
    accountId: text('account_id').notNull(),
    messageId: text('message_id').notNull(),
    telephonySessionId: text('telephony_session_id').notNull(),
    /** The record's own address of the message: it may belong to another extension. */
    messageUri: text('message_uri').notNull(),
    ...storedAudioColumns(),
    ...transcriptionColumns(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.messageId] }),
    index('ix_voicemails_session').on(table.accountId, table.telephonySessionId),
    index('ix_voicemails_job').on(table.transcriptionJob),
    index('ix_voicemails_transcribing')
      .on(table.accountId, table.storedAt)
      .where(
        sql`${table.transcriptionStatus} in ('none', 'started') and ${table.transcriptionJob} is not null`,
      ),
  ],
);

export type VoicemailRow = typeof voicemails.$inferSelect;
