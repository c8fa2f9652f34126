import { parseArgs } from 'node:util';

/** Which database to migrate: a stage's, or the one of a connection string. */
export type MigrationTarget<Stage> = { stage: Stage } | { url: string };

/** Wrong arguments. Nothing was touched. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/**
 * Reads `--stage NAME` or `--url postgres://…`, exactly one of them.
 *
 * @throws UsageError saying what is wrong
 */
export function parseMigrationTarget<Stage extends { name: string }>(
  args: string[],
  stages: readonly Stage[],
): MigrationTarget<Stage> {
  const { stage, url } = parseOptions(args);
  if (stage !== undefined && url === undefined) {
    const found = stages.find(({ name }) => name === stage);
    if (!found) throw new UsageError(`There is no stage '${stage}'.`);
    return { stage: found };
  }
  if (url !== undefined && stage === undefined) {
    if (!/^postgres(ql)?:\/\/[^/]+\/./.test(url) || !URL.canParse(url)) {
      throw new UsageError('--url needs host and database: postgres://user:password@host/database');
    }
    return { url };
  }
  throw new UsageError('Give either --stage or --url.');
}

function parseOptions(args: string[]): { stage?: string | undefined; url?: string | undefined } {
  try {
    return parseArgs({ args, options: { stage: { type: 'string' }, url: { type: 'string' } } }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
