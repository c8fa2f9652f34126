import { type AnyColumn, type SQL, sql } from 'drizzle-orm';

/** The value that an INSERT … ON CONFLICT wanted to insert into this column. */
export function excluded<T>(column: AnyColumn): SQL<T> {
  return sql<T>`excluded.${sql.identifier(column.name)}`;
}
