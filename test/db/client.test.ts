import { sql } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase } from '../../src/db/client.ts';
import { toDatabaseError } from '../../src/db/errors.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(() => {
  database.endpoint.onRequest = undefined;
});

/** How long `work` takes to reject, and as what. */
async function failureOf(work: () => Promise<unknown>) {
  const started = Date.now();
  const error = await work().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { ms: Date.now() - started, code: toDatabaseError(error)?.code };
}

describe('createDatabase', () => {
  it('sends a batch as one request, in one transaction', async () => {
    const seen: number[] = [];
    database.endpoint.onRequest = ({ queries }) => void seen.push(queries.length);
    const { db } = database;
    const id = () => db.execute<{ id: string }>(sql`select pg_current_xact_id()::text as id`);
    const [first, second] = await db.batch([id(), id()]);
    expect(first.rows).toEqual(second.rows);
    expect(seen).toEqual([2]);
  });

  it('ends a single query and a batch at the time limit', async () => {
    database.endpoint.onRequest = () => ({ kind: 'hang' });
    const db = database.connect({ timeoutMs: 200 });
    const query = () => db.execute(sql`select 1`);
    for (const work of [async () => query(), () => db.batch([query(), query()])]) {
      const { ms, code } = await failureOf(work);
      expect(code).toBe('timeout');
      expect(ms).toBeGreaterThanOrEqual(190);
      expect(ms).toBeLessThan(2_000);
    }
  });

  it('measures the limit anew for each request', async () => {
    const db = database.connect({ timeoutMs: 1_500 });
    for (let round = 0; round < 3; round++) {
      await db.execute(sql`select pg_sleep(0.6)`);
    }
  });

  it('a near deadline shortens the limit', async () => {
    database.endpoint.onRequest = () => ({ kind: 'hang' });
    const db = database.connect({ timeoutMs: 8_000, deadline: new Date(Date.now() + 300) });
    const { ms, code } = await failureOf(async () => db.execute(sql`select 1`));
    expect(code).toBe('timeout');
    expect(ms).toBeLessThan(3_000);
  });

  it('after the deadline nothing is sent for long', async () => {
    database.endpoint.onRequest = () => ({ kind: 'hang' });
    const db = database.connect({ deadline: new Date(Date.now() - 1_000) });
    const { ms, code } = await failureOf(async () => db.execute(sql`select 1`));
    expect(code).toBe('timeout');
    expect(ms).toBeLessThan(1_000);
  });

  it('tells a refused password from other refusals', async () => {
    const wrongPassword = createDatabase(database.url.replace(/:[0-9a-f]+@/, ':wrong@'));
    expect(await failureOf(async () => wrongPassword.execute(sql`select 1`))).toMatchObject({
      code: 'authentication',
    });
    const wrongDatabase = createDatabase(database.url.replace(/test_\w+$/, 'nowhere'));
    expect(await failureOf(async () => wrongDatabase.execute(sql`select 1`))).toMatchObject({
      code: '3D000',
    });
  });
});
