import { sql } from 'drizzle-orm';
import { boolean, index, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { identityColumns, instant } from './columns.ts';

export interface SuggestedAction {
  action: 'call_back';
  priority: 'high';
  text: string;
}

/** What store staff have to do. */
export const tasks = pgTable(
  'tasks',
  {
    taskId: uuid('task_id').primaryKey(),
    contactPhone: text('contact_phone').notNull(),
    ...identityColumns(),
    taskType: text('task_type').notNull(),
    typeCategory: text('type_category').notNull(),
    sourceType: text('source_type').notNull(),
    sourceLeadId: text('source_lead_id'),
    status: text('status').notNull(),
    priority: text('priority').notNull(),
    actionNeeded: boolean('action_needed').notNull(),
    actionNeededReason: text('action_needed_reason'),
    suggestedActions: jsonb('suggested_actions').$type<SuggestedAction[]>().notNull(),
    dueAt: instant('due_at').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (table) => [
    // One lead, one task, however often its event is delivered.
    uniqueIndex('uq_tasks_source_lead').on(table.sourceLeadId),
    // One open call-back per contact. With store_id: one RingCentral account can serve several stores.
    uniqueIndex('uq_tasks_pending_contact_category')
      .on(table.contactPhone, table.franchiseId, table.accountId, table.storeId, table.typeCategory)
      .where(sql`${table.status} = 'pending'`),
    index('ix_tasks_store_due').on(table.storeId, table.dueAt),
  ],
);

export type TaskRow = typeof tasks.$inferSelect;
