import { customType, text, timestamp, uuid } from 'drizzle-orm/pg-core';

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
