import { fileURLToPath } from 'node:url';
import { SSMProvider } from '@aws-lambda-powertools/parameters/ssm';
import pg from 'pg';
import { regions, stages } from '../lib/config.ts';
import { directUrl } from '../src/db/direct-url.ts';
import { parseMigrationTarget, UsageError } from '../src/db/migration-target.ts';
import { migrate } from '../src/db/migrator.ts';
import { errorCode } from '../src/platform/errors.ts';
import { createParameters } from '../src/platform/parameters.ts';

const migrations = fileURLToPath(new URL('../drizzle', import.meta.url));
const usage = `Applies the SQL files of drizzle/ that a database doesn't have yet.

  npm run db:migrate -- --stage ${stages.map(({ name }) => name).join('|')}    the stage's Neon (connection string from SSM)
  npm run db:migrate -- --url postgres://…     any PostgreSQL`;

async function connectionString(args: string[]): Promise<string> {
  const target = parseMigrationTarget(args, stages);
  if ('url' in target) return target.url;
  const provider = new SSMProvider({ clientConfig: { region: regions.leads } });
  return createParameters(provider).get(target.stage.neonUrlParameter);
}

async function main(args: string[]): Promise<void> {
  const url = await connectionString(args);
  const client = new pg.Client({ connectionString: directUrl(url), connectionTimeoutMillis: 30_000 });
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
