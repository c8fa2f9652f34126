import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hydrateLinks, nativeDirectory } from './postgres-binaries.ts';

/** A running PostgreSQL server on 127.0.0.1, whose data is gone after `stop`. */
export interface PostgresServer {
  host: string;
  port: number;
  user: string;
  password: string;
  directory: string;
  /** The connection string of one database of the server. */
  url(database: string): string;
  stop(): Promise<void>;
}

/** PostgreSQL could not be started. The message says what to do about it. */
class PostgresStartError extends Error {
  override name = 'PostgresStartError';
}

interface Identity {
  uid: number;
  gid: number;
}

const prefix = 'callytics-postgres-';
const host = '127.0.0.1';
const user = 'postgres';
const startAttempts = 3;

/** Nothing here has to survive a power cut, so nothing waits for the disk. */
const serverSettings = {
  listen_addresses: host,
  unix_socket_directories: '',
  max_connections: '200',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  deadlock_timeout: '100ms',
  timezone: 'GMT',
  lc_messages: 'C',
};

/**
 * Starts PostgreSQL 18 from npm's binaries with an empty cluster in a temporary folder, in about a second.
 * Works as root (the server then runs as `nobody`, since PostgreSQL refuses root) and as anybody else.
 *
 * @param parent where the temporary folder is made; what killed runs left there is removed first
 * @param binaries the folder with PostgreSQL's bin, lib and share
 * @throws PostgresStartError with the server's own last words
 */
export async function startPostgres(
  parent = tmpdir(),
  binaries = nativeDirectory(),
): Promise<PostgresServer> {
  await sweepOrphans(parent);
  const directory = await mkdtemp(join(parent, `${prefix}${process.pid}-`));
  const identity = process.getuid?.() === 0 ? unprivilegedUser() : undefined;
  try {
    if (identity) await chown(directory, identity.uid, identity.gid);
    const native = await runnableBinaries(binaries, directory, identity);
    const password = randomBytes(12).toString('hex');
    await initialise(native, directory, password, identity);
    const { port, stop } = await startServer(native, directory, identity);
    const url = (database: string) => `postgres://${user}:${password}@${host}:${port}/${database}`;
    return { host, port, user, password, directory, url, stop };
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

/** PostgreSQL refuses to run as root; `nobody` exists everywhere, so no account has to be made. */
function unprivilegedUser(): Identity {
  const id = (flag: string) =>
    Number.parseInt(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }), 10);
  return { uid: id('-u'), gid: id('-g') };
}

/** The binaries as the server's user can run them: copied when the checkout is closed to others, as /root is. */
async function runnableBinaries(native: string, directory: string, identity?: Identity): Promise<string> {
  await hydrateLinks(native);
  const first = tryBinaries(native, identity);
  if (first === undefined) return native;
  const broken = identity ? tryBinaries(native) : first;
  if (broken !== undefined)
    throw new PostgresStartError(`PostgreSQL's binaries in ${native} don't run: ${broken}`);

  const copy = join(directory, 'native');
  await cp(native, copy, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith('.a') });
  const second = tryBinaries(copy, identity);
  if (second === undefined) return copy;
  throw new PostgresStartError(
    `PostgreSQL must run as the user nobody, who can't run it from ${native} (${first}) nor from ${copy} (${second}). ` +
      'Make one of these folders readable for other users, or run as an ordinary user.',
  );
}

/** What is wrong with the binaries for this user, or undefined. */
function tryBinaries(native: string, identity?: Identity): string | undefined {
  const { status, error, stderr } = spawnSync(join(native, 'bin', 'initdb'), ['--version'], {
    ...identity,
    encoding: 'utf8',
  });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
}

async function initialise(native: string, directory: string, password: string, identity?: Identity) {
  const passwordFile = join(directory, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (identity) await chown(passwordFile, identity.uid, identity.gid);
  const flags = [
    `--pgdata=${join(directory, 'data')}`,
    `--username=${user}`,
    `--pwfile=${passwordFile}`,
    '--auth=password',
    '--encoding=UTF8',
    // The built-in provider is the same on every machine: a C.UTF-8 of the system may be missing.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-sync',
  ];
  const child = spawn(join(native, 'bin', 'initdb'), flags, { ...identity, cwd: directory, stdio: 'pipe' });
  const output = lastLines(child.stderr);
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  await rm(passwordFile);
  if (code !== 0) throw new PostgresStartError(`initdb failed (exit code ${code}): ${output()}`);
}

async function startServer(native: string, directory: string, identity?: Identity) {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const server = await launch(native, directory, port, identity);
    if ('stop' in server) return { port, stop: server.stop };
    // The port was free a moment ago: somebody else may have taken it since.
    if (attempt === startAttempts) throw new PostgresStartError(`PostgreSQL doesn't start: ${server.output}`);
  }
}

async function launch(native: string, directory: string, port: number, identity?: Identity) {
  const settings = Object.entries(serverSettings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(
    join(native, 'bin', 'postgres'),
    ['-D', join(directory, 'data'), '-p', String(port), ...settings],
    { ...identity, cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const output = lastLines(child.stderr);
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const ready = new Promise<true>((resolve) => {
    child.stderr.on('data', () => output().includes('ready to accept connections') && resolve(true));
  });
  if ((await Promise.race([ready, exited])) !== true) return { output: output() };

  const kill = () => child.kill('SIGQUIT');
  process.once('exit', kill);
  const stop = async () => {
    process.removeListener('exit', kill);
    // Immediate shutdown: the data is thrown away anyhow.
    kill();
    await exited;
    await rm(directory, { recursive: true, force: true });
  };
  return { stop };
}

/** Keeps the end of a stream, which says why a program stopped. */
function lastLines(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.on('data', (chunk) => {
    text = `${text}${chunk}`.slice(-2000);
  });
  return () => text.trim();
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => probe.once('error', reject).listen(0, host, resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new PostgresStartError('No free port');
  return address.port;
}

/** Stops the servers of runs that were killed, and removes their folders; see the folder's name for the owner. */
export async function sweepOrphans(parent: string): Promise<void> {
  await mkdir(parent, { recursive: true });
  for (const name of await readdir(parent)) {
    const owner = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
    if (owner === undefined || isAlive(Number(owner))) continue;
    const directory = join(parent, name);
    const [pid] = (await readFile(join(directory, 'data', 'postmaster.pid'), 'utf8').catch(() => '')).split(
      '\n',
    );
    if (pid && (await commandLine(Number(pid))).includes(directory)) process.kill(Number(pid), 'SIGQUIT');
    await rm(directory, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives and is somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Guards against a process id that was given to another program meanwhile. */
async function commandLine(pid: number): Promise<string> {
  const fromProc = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
  return fromProc ?? spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
}
