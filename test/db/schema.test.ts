import { readdir, readFile } from 'node:fs/promises';
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api';
import { expect, it } from 'vitest';
import * as schema from '../../src/db/schema/index.ts';

it('drizzle/ holds what src/db/schema says: npm run db:generate would write nothing', async () => {
  const snapshots = (await readdir('drizzle/meta')).filter((name) => name.endsWith('_snapshot.json')).sort();
  const newest = JSON.parse(await readFile(`drizzle/meta/${snapshots.at(-1)}`, 'utf8'));
  expect(await generateMigration(newest, generateDrizzleJson(schema))).toEqual([]);
});
