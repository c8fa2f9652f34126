import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate as drizzleMigrate } from 'drizzle-orm/node-postgres/migrator';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrate } from '../../src/db/migrator.ts';
import { emptyDatabase, type SqlDatabase } from '../support/database.ts';

interface File {
  when: number;
  sql: string;
}

let database: SqlDatabase;
let folder: string;
const sessions: pg.Client[] = [];
beforeEach(async () => {
  database = await emptyDatabase();
  folder = await mkdtemp(join(tmpdir(), 'migrations-'));
});
afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.end()));
  await rm(folder, { recursive: true });
});

async function session(): Promise<pg.Client> {
  const client = new pg.Client(database.url);
  sessions.push(client);
  await client.connect();
  return client;
}

/** Files `0000_m.sql`, `0001_m.sql`, … with their journal, as drizzle-kit leaves them. */
async function writeFolder(files: File[]): Promise<void> {
  await mkdir(join(folder, 'meta'), { recursive: true });
  const entries = files.map(({ when }, idx) => ({
    idx,
    version: '7',
    when,
    tag: `000${idx}_m`,
    breakpoints: true,
  }));
  const journal = { version: '7', dialect: 'postgresql', entries };
  await writeFile(join(folder, 'meta', '_journal.json'), JSON.stringify(journal));
  await Promise.all(files.map(({ sql }, index) => writeFile(join(folder, `000${index}_m.sql`), sql)));
}

const run = async () => migrate(await session(), folder);
const tables = async () =>
  (await database.query("select tablename from pg_tables where schemaname = 'public' order by 1")).map(
    (row) => row.tablename,
  );
const recorded = async () =>
  (await database.query('select created_at from drizzle.__drizzle_migrations order by id')).map((row) =>
    Number(row.created_at),
  );

const createA = {
  when: 100,
  sql: 'create table a (id int);--> statement-breakpoint\ncreate index on a (id);',
};
const createB = { when: 200, sql: 'create table b (id int);' };

describe('migrate', () => {
  it('applies what is missing, in order, and nothing the second time', async () => {
    await writeFolder([createA]);
    expect(await run()).toEqual(['0000_m.sql']);
    await writeFolder([createA, createB]);
    expect(await run()).toEqual(['0001_m.sql']);
    expect(await run()).toEqual([]);
    expect(await tables()).toEqual(['a', 'b']);
    expect(await recorded()).toEqual([100, 200]);
  });

  it('agrees with drizzle’s own migrator about what is there', async () => {
    const project = 'drizzle';
    await cp(project, folder, { recursive: true });
    await run();
    const before = await database.query('select hash, created_at from drizzle.__drizzle_migrations');
    await drizzleMigrate(drizzle(await session()), { migrationsFolder: project });
    expect(await database.query('select hash, created_at from drizzle.__drizzle_migrations')).toEqual(before);
  });

  it('refuses a file that was changed after it was applied', async () => {
    await writeFolder([createA]);
    await run();
    await writeFolder([{ ...createA, sql: 'create table a (id bigint);' }, createB]);
    await expect(run()).rejects.toThrow(/0000_m\.sql was changed after it was applied/);
    expect(await tables()).toEqual(['a']);
  });

  it('refuses a database that is ahead of the checkout', async () => {
    await writeFolder([createA, createB]);
    await run();
    await writeFolder([createA]);
    await expect(run()).rejects.toThrow(/that this checkout lacks/);
  });
});

describe('N7 a migration that is older than the one before it', () => {
  it('is refused before anything changes', async () => {
    await writeFolder([
      { ...createA, when: 200 },
      { ...createB, when: 100 },
    ]);
    await expect(run()).rejects.toThrow(/0001_m\.sql is not newer than 0000_m\.sql/);
    expect(await tables()).toEqual([]);
  });

  it('is refused when a newer one is applied already, instead of being skipped', async () => {
    await writeFolder([createB]);
    await run();
    await writeFolder([createA, createB]);
    await expect(run()).rejects.toThrow(
      /0000_m\.sql is older than a migration that the database already has/,
    );
    expect(await tables()).toEqual(['b']);
  });

  it('does not lie in this repository', async () => {
    const { entries } = JSON.parse(await readFile('drizzle/meta/_journal.json', 'utf8'));
    const times: number[] = entries.map(({ when }: { when: number }) => when);
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
  });
});

it('N8 four runs at once: one applies, the others wait and do nothing', async () => {
  await writeFolder([
    { ...createA, sql: `${createA.sql}--> statement-breakpoint\nselect pg_sleep(0.3)` },
    createB,
  ]);
  const results = await Promise.all([run(), run(), run(), run()]);
  expect(results.map((applied) => applied.length).sort()).toEqual([0, 0, 0, 2]);
  expect(await recorded()).toEqual([100, 200]);
});

it('N8 a run that never ends does not hold up the next one for ever', async () => {
  await writeFolder([createA]);
  const other = await session();
  await migrate(other, folder);
  const locked = await database.query("select objid, classid from pg_locks where locktype = 'advisory'");
  expect(locked).toEqual([]);
  await writeFolder([createA, { ...createB, sql: 'select pg_sleep(2)' }]);
  const slow = run();
  await expect
    .poll(async () => (await database.query("select from pg_locks where locktype = 'advisory'")).length)
    .toBe(1);
  await expect(migrate(await session(), folder, { lockTimeoutMs: 300 })).rejects.toThrow(/still running/);
  await slow;
});

it('N9 a failing file leaves nothing half-applied, and the run after the repair succeeds', async () => {
  const broken = {
    ...createB,
    sql: `${createB.sql}--> statement-breakpoint\ninsert into nowhere values (1);`,
  };
  await writeFolder([createA, broken]);
  await expect(run()).rejects.toThrow();
  expect(await tables()).toEqual(['a']);
  expect(await recorded()).toEqual([100]);
  await expect(run()).rejects.toThrow(/nowhere/);
  await writeFolder([createA, createB]);
  expect(await run()).toEqual(['0001_m.sql']);
});

it('N10 a failure names file, statement and SQLSTATE', async () => {
  await writeFolder([
    createA,
    { when: 200, sql: 'create table b (id int);--> statement-breakpoint\ncreate table c (id nonsense);' },
  ]);
  await expect(run()).rejects.toThrow(
    /^0001_m\.sql, statement 2 of 2: SQLSTATE 42704: type "nonsense" does not exist\ncreate table c \(id nonsense\);$/,
  );
});

describe('N10 npm run db:migrate', { timeout: 60_000 }, () => {
  const command = (...args: string[]) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      execFile(process.execPath, ['--import', 'tsx', 'bin/migrate.ts', ...args], (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
      });
    });

  it('applies this repository’s migrations, and says so', async () => {
    expect(await command('--url', database.url)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^applied 0000_/),
    });
    expect(await tables()).toEqual([
      'call_recordings',
      'calls',
      'contact_timeline',
      'contacts',
      'lead_mails',
      'leads',
      'tasks',
      'transcripts',
      'voicemails',
    ]);
  });

  it('ends with exit code 1 and the reason when a statement fails', async () => {
    await database.query('create table tasks (id int)');
    const { code, stderr } = await command('--url', database.url);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /0000_\w+\.sql, statement \d+ of \d+: SQLSTATE 42P07: relation "tasks" already exists/,
    );
    expect(stderr).toMatch(/CREATE TABLE "tasks"/);
  });

  it('refuses wrong arguments before it connects, and shows the right ones', async () => {
    const { code, stderr } = await command('--url');
    expect(code).toBe(1);
    expect(stderr).toMatch(/--url <value>' argument missing[\s\S]*npm run db:migrate -- --stage test\|prod/);
  });
});

describe('N18 CREATE INDEX CONCURRENTLY', () => {
  const marked = (sql: string) => `-- callytics:no-transaction\n${sql}`;
  const index = 'create index concurrently if not exists ix_a on a (id);';

  it('fails in an ordinary file, which blocks nothing that comes before it', async () => {
    await writeFolder([createA, { when: 200, sql: index }]);
    await expect(run()).rejects.toThrow(/SQLSTATE 25001/);
    expect(await recorded()).toEqual([100]);
  });

  it('runs in a marked file, is recorded afterwards, and later files follow', async () => {
    await writeFolder([createA, { when: 200, sql: marked(index) }, { ...createB, when: 300 }]);
    expect(await run()).toEqual(['0000_m.sql', '0001_m.sql', '0002_m.sql']);
    expect(await recorded()).toEqual([100, 200, 300]);
    expect(await database.query("select from pg_indexes where indexname = 'ix_a'")).toHaveLength(1);
  });

  it('is run again after it failed', async () => {
    await writeFolder([createA, { when: 200, sql: marked(`${index}--> statement-breakpoint\nselect 1/0;`) }]);
    await expect(run()).rejects.toThrow(/0001_m\.sql, statement 2 of 2: SQLSTATE 22012/);
    expect(await recorded()).toEqual([100]);
    await writeFolder([createA, { when: 200, sql: marked(index) }]);
    expect(await run()).toEqual(['0001_m.sql']);
  });

  it('does not wait for another run that waits for it', async () => {
    await writeFolder([
      createA,
      { when: 200, sql: marked(`select pg_sleep(0.3);--> statement-breakpoint\n${index}`) },
    ]);
    const results = await Promise.all([run(), run()]);
    expect(results.map((applied) => applied.length).sort()).toEqual([0, 2]);
  });
});
