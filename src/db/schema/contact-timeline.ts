import { sql } from 'drizzle-orm';
import { index, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { identityColumns, instant } from './columns.ts';

/** What happened with a contact, in order. No foreign key to contacts: calls come from strangers too. */
export const contactTimeline = pgTable(
  'contact_timeline',
  {
    id: uuid('id').primaryKey().default(sql`gen_random_uuid()`),
    contactPhone: text('contact_phone').notNull(),
    ...identityColumns(),
    eventType: text('event_type').notNull(),
    eventCategory: text('event_category').notNull(),
    entityType: text('entity_type').notNull(),
    entityId: text('entity_id').notNull(),
    /** The time of the source record, never the time of writing. */
    occurredAt: instant('occurred_at').notNull(),
    actorType: text('actor_type').notNull(),
    newValue: jsonb('new_value').$type<Record<string, unknown>>(),
    idempotencyKey: text('idempotency_key').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('uq_contact_timeline_idempotency_key').on(table.idempotencyKey),
    index('ix_contact_timeline_contact').on(table.contactPhone, table.storeId, table.occurredAt),
  ],
);

export type TimelineRow = typeof contactTimeline.$inferSelect;
