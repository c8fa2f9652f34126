import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LocalMailbox } from './imap.ts';

const samples = fileURLToPath(new URL('samples', import.meta.url));

/** A mail in the local mailbox and the file that it came from, if any. */
export interface FedMail {
  uid: number;
  file?: string;
  source: Buffer;
}

/** The sample mails, in the order of their names. */
export function sampleMails(): string[] {
  const files = readdirSync(samples).filter((name) => name.endsWith('.eml'));
  return files.sort().map((name) => relative(process.cwd(), join(samples, name)));
}

/** Puts the files into the mailbox, each with its modification time as INTERNALDATE. */
export function feedFiles(mailbox: LocalMailbox, files: readonly string[]): FedMail[] {
  return files.map((file) => {
    const source = readFileSync(file);
    return { uid: mailbox.append(source, statSync(file).mtime), file, source };
  });
}

const watchIntervalMs = 1_000;

/** Calls back with the .eml and .json files that have come into the folder and no longer grow. */
export function watchFolder(folder: string, feed: (files: string[]) => void): void {
  const sizes = new Map<string, number>();
  const fed = new Set<string>();
  setInterval(() => {
    const complete: string[] = [];
    for (const name of readdirSync(folder).filter(
      (entry) => /\.(eml|json)$/.test(entry) && !fed.has(entry),
    )) {
      const { size } = statSync(join(folder, name));
      if (sizes.get(name) === size) complete.push(name);
      sizes.set(name, size);
    }
    for (const name of complete) fed.add(name);
    if (complete.length > 0) feed(complete.map((name) => join(folder, name)));
  }, watchIntervalMs);
}
