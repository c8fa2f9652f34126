import { sql } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { freshDatabase } from '../support/database.ts';

it('a batch is one request', async () => {
  const { db, endpoint } = await freshDatabase();
  const seen: number[] = [];
  endpoint.onRequest = ({ queries }) => void seen.push(queries.length);
  const [first, second] = await db.batch([
    db.execute(sql`select 1 as one`),
    db.execute(sql`select ${'x'} as x`),
  ]);
  expect(first.rows).toEqual([{ one: 1 }]);
  expect(second.rows).toEqual([{ x: 'x' }]);
  expect(seen).toEqual([2]);
});
