import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { stages } from '../lib/config.ts';
import { type Store, storeSchema } from '../src/leads/store.ts';
import { type CallFile, CallFileError, readCallFile } from './calls/call-files.ts';

export const passwordVariable = 'IMAP_PASSWORD';

const sampleStores = fileURLToPath(new URL('samples/stores.json', import.meta.url));

export const help = `Usage: npm start -- [options] [FILE.eml | FILE.json ...]

Runs one stage of the product on this machine, from mail to task and from call to transcript, and shows what
becomes of each. Without files and without --imap the sample mails and calls are fed.
FILE.eml is a mail; its modification time counts as its arrival. FILE.json holds RingCentral webhook bodies: one,
an array, or {notifications, callLog, recordings, voicemails, accountId}; README says more.

  --imap URL       reads a real mailbox instead, as imaps://user@host or imaps://user@host:993/Folder.
                   Read-only: nothing is flagged, moved or deleted there. The password comes from the
                   variable ${passwordVariable}, or is asked for.
  --stores FILE    these stores (a JSON array of StoresV2 items) instead of the sample stores
  --stage NAME     whose templates to run: ${stages.map(({ name }) => name).join(' or ')} (default prod)
  --once           ends when nothing is left to do; exit code 0 only if nothing failed
  --json           with --once: one JSON object on standard output, logs on standard error
  --help           this text
`;

/** A real mailbox to read from. */
export interface RemoteMailbox {
  host: string;
  port: number;
  secure: boolean;
  user: string;
  folder: string;
}

export interface RunOptions {
  stage: string;
  /** Paths of mails to feed. Neither mails nor calls means the samples, unless `imap` is given. */
  files: string[];
  callFiles: CallFile[];
  imap?: RemoteMailbox;
  /** StoresV2 items, as they are in the file. */
  stores: Store[];
  once: boolean;
  json: boolean;
}

/** The command can't be run as it was typed. The message says what to change. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/**
 * Reads the command line, and the files that it names, before anything is started.
 *
 * @throws UsageError
 */
export function parseOptions(argv: readonly string[]): RunOptions | 'help' {
  const { values, positionals } = parseArguments(argv);
  if (values.help) return 'help';
  if (values.json && !values.once) throw new UsageError('--json needs --once');
  const [callFiles, files] = [
    positionals.filter(isCallFile),
    positionals.filter((file) => !isCallFile(file)),
  ];
  if (values.imap !== undefined && files.length > 0) {
    throw new UsageError('Feed either mails or --imap, not both');
  }
  if (!stages.some(({ name }) => name === values.stage)) {
    throw new UsageError(
      `--stage ${values.stage}: there are ${stages.map(({ name }) => name).join(' and ')} only`,
    );
  }
  files.forEach(checkMailFile);
  return {
    stage: values.stage,
    files,
    callFiles: callFiles.map(readCalls),
    ...(values.imap === undefined ? {} : { imap: parseMailboxUrl(values.imap) }),
    stores: readStores(values.stores ?? sampleStores),
    once: values.once,
    json: values.json,
  };
}

function parseArguments(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        imap: { type: 'string' },
        stores: { type: 'string' },
        stage: { type: 'string', default: 'prod' },
        once: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false, short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function checkMailFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) throw new UsageError(`${file}: there is no such file`);
  if (!found.isFile()) throw new UsageError(`${file} is not a file`);
}

export const isCallFile = (file: string) => file.endsWith('.json');

/** @throws UsageError naming file and field */
export function readCalls(file: string): CallFile {
  try {
    return readCallFile(file, readJson(file));
  } catch (error) {
    if (error instanceof CallFileError) throw new UsageError(error.message);
    throw error;
  }
}

function parseMailboxUrl(text: string): RemoteMailbox {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const secure = url?.protocol === 'imaps:';
  if (!url?.hostname || !url.username || !(secure || url.protocol === 'imap:')) {
    throw new UsageError(`--imap ${withoutPassword(text)}: imaps://user@host is expected`);
  }
  if (url.password)
    throw new UsageError(`--imap: the password belongs into the variable ${passwordVariable}`);
  return {
    host: url.hostname,
    port: Number(url.port) || (secure ? 993 : 143),
    secure,
    user: decodeURIComponent(url.username),
    folder: decodeURIComponent(url.pathname.slice(1)) || 'INBOX',
  };
}

function withoutPassword(url: string): string {
  return url.replace(/:[^/@]*@/, ':…@');
}

/**
 * Reads a file of StoresV2 items.
 *
 * @throws UsageError naming the item and the field
 */
function readStores(file: string): Store[] {
  const items = readJson(file);
  if (!Array.isArray(items)) throw new UsageError(`${file}: an array of StoresV2 items is expected`);
  const seen = new Set<string>();
  return items.map((item, index) => {
    const checked = storeSchema.safeParse(item);
    if (!checked.success) {
      const [issue] = checked.error.issues;
      throw new UsageError(
        `${file}: item ${index}, ${issue?.path.join('.') || 'as a whole'}: ${issue?.message}`,
      );
    }
    const { storeId } = checked.data;
    if (seen.has(storeId)) throw new UsageError(`${file}: item ${index} has the storeId of another one`);
    seen.add(storeId);
    return item;
  });
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const why = isMissing ? 'there is no such file' : error instanceof Error ? error.message : String(error);
    throw new UsageError(`${file}: ${why}`);
  }
}
