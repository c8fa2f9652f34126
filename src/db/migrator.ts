import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '../platform/errors.ts';
import { type MigrationFile, readMigrationFiles } from './migration-files.ts';

/** One PostgreSQL session (not a pool: the lock belongs to the session). node-postgres' Client is one. */
export interface MigrationSession {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/** Nothing was applied, or a file failed as a whole. The message is meant for the person at the terminal. */
class MigrationError extends Error {
  override name = 'MigrationError';
}

export interface MigrateOptions {
  /** How long to wait for another run to end. */
  lockTimeoutMs?: number;
  report?: (line: string) => void;
}

/** Any constant: the advisory lock that all runs of this migrator share. */
const lockKey = 7_225_598;
const lockPollMs = 200;

/**
 * Applies the files of `folder` that the database doesn't have yet, each as one transaction with its journal
 * row, and returns their names. drizzle's own journal table is used, so drizzle-kit agrees about what is there.
 * Runs that overlap wait for each other; a run after a failure starts again at the file that failed.
 *
 * @throws MigrationError naming file, statement and SQLSTATE.
 */
export async function migrate(
  session: MigrationSession,
  folder: string,
  { lockTimeoutMs = 300_000, report = () => undefined }: MigrateOptions = {},
): Promise<string[]> {
  const files = await readMigrationFiles(folder);
  refuseWrongOrder(files);
  await lock(session, lockTimeoutMs);
  try {
    await createJournal(session);
    const pending = pendingFiles(files, await readJournal(session));
    for (const file of pending) {
      await apply(session, file);
      report(`applied ${file.name}`);
    }
    const recorded = (await readJournal(session)).length;
    if (recorded !== files.length) {
      throw new MigrationError(
        `The database records ${recorded} migrations, the journal has ${files.length}`,
      );
    }
    return pending.map(({ name }) => name);
  } finally {
    // A broken session has lost the lock already; its error must not hide the first one.
    await session.query('select pg_advisory_unlock($1)', [lockKey]).catch(() => undefined);
  }
}

/** drizzle's migrators skip a file that is older than the newest applied one, silently (drizzle-orm#5769). */
function refuseWrongOrder(files: MigrationFile[]): void {
  for (const [index, file] of files.entries()) {
    const before = files[index - 1];
    if (before && file.when <= before.when) {
      throw new MigrationError(
        `${file.name} is not newer than ${before.name} before it: regenerate it (npm run db:generate)`,
      );
    }
  }
}

/**
 * Polls instead of waiting in the database: a session that waits there holds a snapshot, for which the other
 * run's CREATE INDEX CONCURRENTLY would wait in turn.
 */
async function lock(session: MigrationSession, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const { rows } = await session.query('select pg_try_advisory_lock($1) as locked', [lockKey]);
    if (rows[0]?.locked === true) return;
    if (Date.now() >= deadline)
      throw new MigrationError('Another migration is still running: try again later');
    await sleep(lockPollMs);
  }
}

async function createJournal(session: MigrationSession): Promise<void> {
  await session.query('create schema if not exists drizzle');
  await session.query(
    'create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)',
  );
}

interface JournalRow {
  when: number;
  hash: string;
}

async function readJournal(session: MigrationSession): Promise<JournalRow[]> {
  const { rows } = await session.query(
    'select created_at, hash from drizzle.__drizzle_migrations order by created_at',
  );
  return rows.map((row) => ({ when: Number(row.created_at), hash: String(row.hash) }));
}

/** What the database has must be the beginning of what the folder has; the rest is pending. */
function pendingFiles(files: MigrationFile[], journal: JournalRow[]): MigrationFile[] {
  for (const [index, { when, hash }] of journal.entries()) {
    const file = files[index];
    if (file?.when !== when) {
      const known = files.some((candidate) => candidate.when === when);
      throw new MigrationError(
        known
          ? `${file?.name} is older than a migration that the database already has: regenerate it (npm run db:generate)`
          : `The database has a migration (${new Date(when).toISOString()}) that this checkout lacks: update the checkout`,
      );
    }
    if (file.hash !== hash) {
      throw new MigrationError(
        `${file.name} was changed after it was applied: undo that and add a new migration`,
      );
    }
  }
  return files.slice(journal.length);
}

async function apply(session: MigrationSession, file: MigrationFile): Promise<void> {
  if (!file.transaction) {
    await runStatements(session, file);
    await record(session, file);
    return;
  }
  await session.query('begin');
  try {
    // DDL that queues behind a long query blocks everybody behind it: rather fail, and be run again.
    await session.query("select set_config('lock_timeout', '10s', true)");
    await record(session, file);
    await runStatements(session, file);
    await session.query('commit');
  } catch (error) {
    await session.query('rollback').catch(() => undefined);
    throw error;
  }
}

async function record(session: MigrationSession, { when, hash }: MigrationFile): Promise<void> {
  await session.query('insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)', [
    hash,
    when,
  ]);
}

async function runStatements(session: MigrationSession, file: MigrationFile): Promise<void> {
  for (const [index, statement] of file.statements.entries()) {
    try {
      await session.query(statement);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new MigrationError(
        `${file.name}, statement ${index + 1} of ${file.statements.length}: SQLSTATE ${errorCode(error)}: ${message}\n${statement.trim()}`,
        { cause: error },
      );
    }
  }
}
