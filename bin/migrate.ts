import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SSMProvider } from '@aws-lambda-powertools/parameters/ssm';
import pg from 'pg';
import { regions, stages } from '../lib/config.ts';
import { directUrl } from '../src/db/direct-url.ts';
import { migrate } from '../src/db/migrator.ts';
import { errorCode } from '../src/platform/errors.ts';
import { createParameters } from '../src/platform/parameters.ts';

const usage = `Applies the SQL files of drizzle/ that a database doesn't have yet.

  npm run db:migrate -- --stage ${stages.map(({ name }) => name).join('|')}    the stage's Neon (connection string from SSM)
  npm run db:migrate -- --url postgres://…     any PostgreSQL`;

const migrations = fileURLToPath(new URL('../drizzle', import.meta.url));

/** Wrong arguments: nothing was touched. */
class UsageError extends Error {}

async function connectionString(args: string[]): Promise<string> {
  const { stage, url } = parseArguments(args);
  if ((stage === undefined) === (url === undefined)) throw new UsageError('Give either --stage or --url.');
  if (url !== undefined) {
    if (!/^postgres(ql)?:\/\/[^/]+\/./.test(url) || !URL.canParse(url)) {
      throw new UsageError('--url needs host and database: postgres://user:password@host/database');
    }
    return url;
  }
  const config = stages.find(({ name }) => name === stage);
  if (!config) throw new UsageError(`There is no stage '${stage}'.`);
  const provider = new SSMProvider({ clientConfig: { region: regions.leads } });
  return createParameters(provider).get(config.neonUrlParameter);
}

function parseArguments(args: string[]) {
  try {
    return parseArgs({ args, options: { stage: { type: 'string' }, url: { type: 'string' } } }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

async function main(args: string[]): Promise<void> {
  const client = new pg.Client({
    connectionString: directUrl(await connectionString(args)),
    connectionTimeoutMillis: 30_000,
  });
  await client.connect();
  try {
    const applied = await migrate(client, migrations, { report: console.log });
    console.log(applied.length === 0 ? 'nothing to apply' : `${applied.length} applied`);
  } finally {
    await client.end();
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.exitCode = 1;
  // Some network errors have a code and no message.
  console.error(error instanceof Error && error.message !== '' ? error.message : errorCode(error));
  if (error instanceof UsageError) console.error(`\n${usage}`);
});
