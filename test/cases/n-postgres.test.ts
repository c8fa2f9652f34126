import { spawn, spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startPostgres, sweepOrphans } from '../../local/postgres.ts';
import { hydrateLinks, nativeDirectory } from '../../local/postgres-binaries.ts';

const isRoot = process.getuid?.() === 0;

/** As root the server runs as another user, who must be able to get here. */
async function openFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'n20-'));
  await chmod(folder, 0o755);
  return folder;
}

let parent: string;
beforeEach(async () => {
  parent = await openFolder();
});
afterEach(async () => {
  await rm(parent, { recursive: true, force: true });
});

describe('N20 npm ci --ignore-scripts: the libraries’ links are missing', { timeout: 60_000 }, () => {
  let checkout: string;
  let native: string;
  let links: string[];
  beforeAll(async () => {
    checkout = await openFolder();
    native = join(checkout, 'native');
    await cp(nativeDirectory(), native, { recursive: true, filter: (path) => !path.endsWith('.a') });
    const listed: { target: string }[] = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'));
    links = listed.map(({ target }) => join(checkout, target));
  }, 60_000);
  beforeEach(async () => {
    await Promise.all(links.map((link) => rm(link, { force: true })));
  });
  afterAll(async () => {
    await rm(checkout, { recursive: true, force: true });
  });

  it('they are made, and making them again changes nothing', async () => {
    const version = () => spawnSync(join(native, 'bin', 'initdb'), ['--version'], { encoding: 'utf8' });
    expect(version().status).not.toBe(0);
    await hydrateLinks(native);
    await hydrateLinks(native);
    expect(version()).toMatchObject({ status: 0, stdout: expect.stringMatching(/PostgreSQL\) 18\./) });
  });

  it('the server starts on 127.0.0.1 only, also as root in a checkout that is closed to other users', async () => {
    if (isRoot) await chmod(checkout, 0o700);
    const server = await startPostgres(parent, native);
    const { rows } = await query(
      server.url('postgres'),
      `select current_setting('server_version_num')::int / 10000 as version,
         current_setting('listen_addresses') as tcp, current_setting('unix_socket_directories') as unix`,
    );
    await server.stop();
    expect(rows).toEqual([{ version: 18, tcp: '127.0.0.1', unix: '' }]);
    expect(await readdir(parent)).toEqual([]);
  });

  it('a library that is missing altogether is named', async () => {
    const libraries = await readdir(join(native, 'lib'));
    const library = libraries.find((name) => /^libicuuc\.(so\.\d+\.\d+|\d+\.\d+\.dylib)$/.test(name));
    await rm(join(native, 'lib', library ?? 'none'));
    await expect(startPostgres(parent, native)).rejects.toThrow(/libicuuc/);
    expect(await readdir(parent)).toEqual([]);
  });
});

describe('sweepOrphans', { timeout: 60_000 }, () => {
  it('ends the server of a killed run and removes its folder; a living run’s is left', async () => {
    const living = `callytics-postgres-${process.pid}-living`;
    await mkdir(join(parent, living));
    const script = `const { startPostgres } = await import('./local/postgres.ts');
      const server = await startPostgres(${JSON.stringify(parent)});
      console.log(server.url('postgres'));
      setInterval(() => undefined, 1000);`;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script]);
    const url = await new Promise<string>((resolve) =>
      child.stdout.once('data', (line) => resolve(String(line).trim())),
    );
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
    await query(url, 'select');
    expect(await readdir(parent)).toHaveLength(2);

    await sweepOrphans(parent);

    expect(await readdir(parent)).toEqual([living]);
    await expect
      .poll(() =>
        query(url, 'select').then(
          () => 'up',
          () => 'down',
        ),
      )
      .toBe('down');
  });
});

async function query(url: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}
