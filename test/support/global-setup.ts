import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { type PostgresServer, startPostgres } from '../../local/postgres.ts';
import { migrate } from '../../src/db/migrator.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers a GET with the test server's `TestServer` as JSON; the first one starts PostgreSQL. */
    testServerUrl: string;
    /** A folder that is removed when all tests are over. */
    scratch: string;
  }
}

/** The run's PostgreSQL server, as tests reach it. */
export type TestServer = Pick<PostgresServer, 'host' | 'port' | 'user' | 'password'>;

export const templateDatabase = 'template_callytics';
const migrations = fileURLToPath(new URL('../../drizzle', import.meta.url));

/** One PostgreSQL server for the whole run, started when the first test file asks for a database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let started: Promise<PostgresServer> | undefined;
  const starter = createServer((_request, response) => {
    started ??= startWithTemplate();
    started.then(
      ({ host, port, user, password }) => response.end(JSON.stringify({ host, port, user, password })),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => starter.listen(0, '127.0.0.1', resolve));
  const address = starter.address();
  if (address === null || typeof address === 'string') throw new Error('No port for the test server');
  project.provide('testServerUrl', `http://127.0.0.1:${address.port}/`);

  const scratch = mkdtempSync(path.join(tmpdir(), 'callytics-tests-'));
  project.provide('scratch', scratch);

  return async () => {
    rmSync(scratch, { recursive: true, force: true });
    starter.closeAllConnections();
    starter.close();
    const server = await started?.catch(() => undefined);
    await server?.stop();
  };
}

async function startWithTemplate(): Promise<PostgresServer> {
  const server = await startPostgres();
  const admin = new pg.Client(server.url('postgres'));
  await admin.connect();
  await admin.query(`create database ${templateDatabase}`);
  await admin.end();
  const template = new pg.Client(server.url(templateDatabase));
  await template.connect();
  await migrate(template, migrations);
  await template.end();
  return server;
}
