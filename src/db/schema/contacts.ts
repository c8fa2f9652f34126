import { jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { identityColumns, instant } from './columns.ts';

/** A person as one store knows them. Phone and store are the identity. */
export const contacts = pgTable(
  'contacts',
  {
    /** E.164. */
    phone: text('phone').notNull(),
    ...identityColumns(),
    lifecycleStage: text('lifecycle_stage').notNull(),
    leadStatus: text('lead_status').notNull(),
    firstName: text('first_name'),
    lastName: text('last_name'),
    lastActivityAt: instant('last_activity_at'),
    // Written by Contact Analysis, never by this app.
    leadStatusReason: text('lead_status_reason'),
    customerSummary: text('customer_summary'),
    purchaseIntent: text('purchase_intent'),
    goals: jsonb('goals').$type<Record<string, unknown>>(),
    // Written by Per-Call Analysis, never by this app.
    firstAttemptedAt: instant('first_attempted_at'),
    firstConnectedAt: instant('first_connected_at'),
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.phone, table.storeId] })],
);

export type ContactRow = typeof contacts.$inferSelect;
