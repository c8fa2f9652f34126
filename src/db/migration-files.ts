import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';

/** One SQL file of `drizzle/`, as its journal lists it. */
export interface MigrationFile {
  /** File name without folder, such as `0000_lead_flow.sql`. */
  name: string;
  /** Milliseconds: drizzle-kit's time of generation, which orders and identifies the file. */
  when: number;
  /** SHA-256 of the file in hex, as drizzle's own migrators record it. */
  hash: string;
  statements: string[];
  /** False for files that can't run in a transaction (CREATE INDEX CONCURRENTLY): these must be re-runnable. */
  transaction: boolean;
}

const journalSchema = z.object({
  entries: z.array(z.object({ when: z.number().int(), tag: z.string() })),
});
const noTransactionMark = '-- callytics:no-transaction';
const statementBreak = '--> statement-breakpoint';

/** Reads drizzle-kit's journal and its files, in order. */
export async function readMigrationFiles(folder: string): Promise<MigrationFile[]> {
  const journal = journalSchema.parse(
    JSON.parse(await readFile(join(folder, 'meta', '_journal.json'), 'utf8')),
  );
  return Promise.all(
    journal.entries.map(async ({ when, tag }) => {
      const name = `${tag}.sql`;
      const text = await readFile(join(folder, name), 'utf8');
      return {
        name,
        when,
        hash: createHash('sha256').update(text).digest('hex'),
        statements: text.split(statementBreak).filter((statement) => statement.trim() !== ''),
        transaction: text.split('\n', 1)[0]?.trim() !== noTransactionMark,
      };
    }),
  );
}
