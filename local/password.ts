import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { passwordVariable, type RemoteMailbox, UsageError } from './options.ts';

/**
 * The mailbox's password: from the environment, else typed in (unseen).
 *
 * @throws UsageError when there is neither the variable nor a terminal
 */
export async function askPassword({ user, host }: RemoteMailbox): Promise<string> {
  const given = process.env[passwordVariable];
  if (given) return given;
  if (!process.stdin.isTTY)
    throw new UsageError(`--imap: set ${passwordVariable} to the password of ${user}`);
  process.stderr.write(`Password of ${user} at ${host}: `);
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: unseen, terminal: true });
  try {
    return await terminal.question('');
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}
