import { sql } from 'drizzle-orm';
import { bigint, boolean, index, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { instant } from './columns.ts';

export const mailOutcomes = ['lead', 'skipped', 'cancellation', 'quarantined'] as const;

/** The ledger of every mail: what became of it, and whether its event is out. */
export const leadMails = pgTable(
  'lead_mails',
  {
    /** SHA-256 in hex, from the mail alone; see src/mail/mail-key.ts. */
    mailKey: text('mail_key').primaryKey(),
    mailbox: text('mailbox').notNull(),
    uidValidity: bigint('uid_validity', { mode: 'number' }).notNull(),
    uid: bigint('uid', { mode: 'number' }).notNull(),
    outcome: text('outcome', { enum: mailOutcomes }).notNull(),
    /** A code, such as `no_contact` or `auto_reply`. */
    reason: text('reason'),
    leadId: text('lead_id'),
    /** The fields that were found, an object. */
    parsed: jsonb('parsed').$type<Record<string, unknown>>().notNull(),
    /** Another mail of the same lead was there before. */
    repeat: boolean('repeat').notNull().default(false),
    /** Copied here from another stage, which is the one that publishes it. */
    mirrored: boolean('mirrored').notNull().default(false),
    receivedAt: instant('received_at').notNull(),
    recordedAt: instant('recorded_at').notNull().defaultNow(),
    publishedAt: instant('published_at'),
  },
  (table) => [
    index('ix_lead_mails_lead').on(table.leadId),
    index('ix_lead_mails_position').on(table.mailbox, table.uidValidity, table.uid),
    index('ix_lead_mails_unpublished')
      .on(table.recordedAt)
      .where(sql`${table.publishedAt} is null and ${table.outcome} = 'lead' and not ${table.mirrored}`),
    index('ix_lead_mails_published').on(table.publishedAt),
  ],
);

export type LeadMailRow = typeof leadMails.$inferSelect;
