import { neon, neonConfig } from '@neondatabase/serverless';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freshDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(() => {
  database.endpoint.onRequest = undefined;
});

/** A request past the driver, to see the answer as it is. */
async function post(body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(database.endpoint.url, {
    method: 'POST',
    headers: { 'Neon-Connection-String': database.url, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const answer: unknown = await response.json();
  return { status: response.status, headers: response.headers, answer };
}

describe('a single query', () => {
  it('takes text and gives text, with the field descriptions that the driver parses by', async () => {
    const { status, headers, answer } = await post({
      query: 'select $1::int as n, $2::text as nothing, $3::timestamptz as at',
      params: ['42', null, '2026-11-03T14:15:00Z'],
    });
    expect(status).toBe(200);
    expect(headers.get('neon-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer).toMatchObject({
      command: 'SELECT',
      rowCount: 1,
      rowAsArray: true,
      rows: [['42', null, '2026-11-03 14:15:00+00']],
      fields: [
        { name: 'n', dataTypeID: 23, format: 'text' },
        { name: 'nothing', dataTypeID: 25, format: 'text' },
        { name: 'at', dataTypeID: 1184, format: 'text' },
      ],
    });
  });

  it('command without rows: rowCount is null, as Neon has it', async () => {
    const { answer } = await post({ query: 'create table t (id int)' });
    expect(answer).toMatchObject({ command: 'CREATE', rowCount: null, rows: [] });
  });

  it('two statements in one text are refused', async () => {
    const { status, answer } = await post({ query: 'select 1; select 2' });
    expect(status).toBe(400);
    expect(answer).toMatchObject({ code: '42601' });
  });

  it('leaves no session setting to the next request', async () => {
    await post({ query: "set application_name = 'left behind'" });
    for (let round = 0; round < 3; round++) {
      const { answer } = await post({ query: 'show application_name' });
      expect(answer).not.toMatchObject({ rows: [['left behind']] });
    }
  });
});

describe('errors', () => {
  it('of PostgreSQL come with all their fields, unset ones as null', async () => {
    await post({ query: 'create table unique_t (id int primary key)' });
    await post({ query: 'insert into unique_t values (1)' });
    const { status, answer } = await post({ query: 'insert into unique_t values (1)' });
    expect(status).toBe(400);
    expect(answer).toMatchObject({
      message: 'duplicate key value violates unique constraint "unique_t_pkey"',
      code: '23505',
      detail: 'Key (id)=(1) already exists.',
      severity: 'ERROR',
      schema: 'public',
      table: 'unique_t',
      constraint: 'unique_t_pkey',
      hint: null,
      where: null,
      column: null,
      position: null,
    });
  });

  it.each([
    ['no connection string', { query: 'select 1' }, { 'Neon-Connection-String': '' }, /connection string/],
    [
      'a wrong password',
      { query: 'select 1' },
      { 'Neon-Connection-String': 'postgres://postgres:x@h/d' },
      /password authentication failed/,
    ],
    ['no JSON', '{', {}, /JSON/],
    ['a body of another form', { sql: 'select 1' }, {}, /did not match/],
    [
      'an unknown isolation level',
      { queries: [] },
      { 'Neon-Batch-Isolation-Level': 'Chaos' },
      /invalid isolation level/,
    ],
  ])('%s: 400 without SQLSTATE', async (_what, body, headers, message) => {
    const { status, answer } = await post(body, headers);
    expect(status).toBe(400);
    expect(answer).toMatchObject({ code: '', severity: '', message: expect.stringMatching(message) });
  });

  it('another path is not supported', async () => {
    const response = await fetch(database.endpoint.url.replace('/sql', '/other'), {
      method: 'POST',
      body: '{}',
    });
    expect(response.status).toBe(400);
  });
});

describe('a batch', () => {
  it('is one transaction: an error in its middle leaves nothing', async () => {
    await post({ query: 'create table batch_t (id int)' });
    const { status, answer } = await post({
      queries: [
        { query: 'insert into batch_t values (1)' },
        { query: 'select 1/0' },
        { query: 'insert into batch_t values (2)' },
      ],
    });
    expect(status).toBe(400);
    expect(answer).toMatchObject({ code: '22012' });
    expect((await post({ query: 'select * from batch_t' })).answer).toMatchObject({ rows: [] });
  });

  it('without queries answers no results', async () => {
    expect((await post({ queries: [] })).answer).toEqual({ results: [] });
  });

  it('runs with the isolation level and access mode that the driver asks for', async () => {
    const sql = neon(database.url);
    const [level, mode] = await sql.transaction(
      [sql`show transaction_isolation`, sql`show transaction_read_only`],
      {
        isolationLevel: 'RepeatableRead',
        readOnly: true,
      },
    );
    expect([level, mode]).toEqual([
      [{ transaction_isolation: 'repeatable read' }],
      [{ transaction_read_only: 'on' }],
    ]);
  });

  it('settings of the transaction reach its statements and end with it', async () => {
    const { answer } = await post({
      queries: [
        { query: "select set_config('statement_timeout', '100', true)" },
        { query: 'select pg_sleep(5)' },
      ],
    });
    expect(answer).toMatchObject({ code: '57014' });
    expect((await post({ query: 'show statement_timeout' })).answer).toMatchObject({ rows: [['0']] });
  });
});

describe('the fault hook', () => {
  it('sees database and texts', async () => {
    const seen: unknown[] = [];
    database.endpoint.onRequest = (request) => void seen.push(request);
    await post({ queries: [{ query: 'select 1' }, { query: 'select 2' }] });
    expect(seen).toEqual([{ database: database.url.split('/').at(-1), queries: ['select 1', 'select 2'] }]);
  });

  it('fails with a status, before or after the work was done', async () => {
    await post({ query: 'create table fault_t (id int)' });
    const rows = async () => (await database.query('select from fault_t')).length;
    const insert = () => post({ query: 'insert into fault_t values (1)' });
    database.endpoint.onRequest = () => ({ kind: 'fail', status: 503, message: 'shutting down' });
    expect(await insert()).toMatchObject({ status: 503, answer: { message: 'shutting down', code: '' } });
    database.endpoint.onRequest = () => ({ kind: 'drop', when: 'before' });
    await expect(insert()).rejects.toThrow('fetch failed');
    expect(await rows()).toBe(0);
    database.endpoint.onRequest = () => ({ kind: 'drop', when: 'after' });
    await expect(insert()).rejects.toThrow('fetch failed');
    expect(await rows()).toBe(1);
  });
});

it('serves each database by the name in its connection string', async () => {
  const mirror = await freshDatabase();
  await mirror.query(
    "insert into lead_mails (mail_key, mailbox, uid_validity, uid, outcome, parsed, received_at) values ('m', 'INBOX', 1, 1, 'skipped', '{}', now())",
  );
  const count = async (url: string) => (await neon(url)`select count(*)::int as n from lead_mails`)[0];
  expect(neonConfig.fetchEndpoint).toBe(database.endpoint.url);
  expect([await count(database.url), await count(mirror.url)]).toEqual([{ n: 0 }, { n: 1 }]);
});
