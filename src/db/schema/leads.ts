import { boolean, index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { calendarDate, instant } from './columns.ts';

export const parseStatuses = ['parsed', 'partial', 'unmapped'] as const;

/** One person's interest in one store on one day, as the first mail told it and later ones completed it. */
export const leads = pgTable(
  'leads',
  {
    /** `{email}#{phone}#{UTC date}`, or `{email}#{receivedAt}` without a phone; see src/leads/lead-id.ts. */
    id: text('id').primaryKey(),
    leadEmail: text('lead_email').notNull(),
    leadType: text('lead_type').notNull().default('Unknown'),
    firstName: text('first_name'),
    lastName: text('last_name'),
    /** E.164. */
    phone: text('phone'),
    bookedDate: calendarDate('booked_date'),
    /** 'HH:mm', the store's local time. */
    bookedTime: text('booked_time'),
    /** INTERNALDATE of the newest mail that named a booking, so that mails may arrive in any order. */
    bookedMailAt: instant('booked_mail_at'),
    emailSubject: text('email_subject'),
    emailFrom: text('email_from'),
    emailRecipient: text('email_recipient'),
    extractedTrackingId: text('extracted_tracking_id'),
    franchiseId: text('franchise_id'),
    /** RingCentral's providerAccountId. */
    accountId: text('account_id'),
    storeId: uuid('store_id'),
    /** The mail's text, at most 256 KiB; the mailbox is the archive. */
    rawBody: text('raw_body').notNull(),
    rawBodyTruncated: boolean('raw_body_truncated').notNull().default(false),
    isForwarded: boolean('is_forwarded').notNull().default(false),
    forwardedOriginalFrom: text('forwarded_original_from'),
    forwardedOriginalTo: text('forwarded_original_to'),
    /** As written in the forwarded block: localized, without a sure zone. */
    forwardedOriginalDate: text('forwarded_original_date'),
    processedBy: text('processed_by').notNull().default('imap-poller'),
    receivedAt: instant('received_at').notNull(),
    /** INTERNALDATE of the newest mail that changed this row: an older one never overwrites. */
    lastMailAt: instant('last_mail_at').notNull(),
    parseStatus: text('parse_status', { enum: parseStatuses }).notNull(),
    syncedAt: instant('synced_at').notNull().defaultNow(),
  },
  (table) => [
    index('ix_leads_store_received').on(table.storeId, table.receivedAt),
    index('ix_leads_phone').on(table.phone),
    index('ix_leads_email').on(table.leadEmail),
  ],
);

export type LeadRow = typeof leads.$inferSelect;
