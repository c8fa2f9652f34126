import { parseMail } from '../mail/parse.ts';
import type { ParsedMail } from '../mail/parsed-mail.ts';
import type { MailArchive } from './mail-archive.ts';
import type { LedgerEntry } from './replay-targets.ts';
import { storedMailSource } from './stored-mail.ts';

/** Where the mail was read from. */
export type ReadFrom = 'mailbox' | 'mailbox, by Message-ID' | 'stored text';

export interface Reading {
  from: ReadFrom;
  parsed: ParsedMail;
}

/**
 * Reads a mail of the ledger again: by its UID, else by its Message-ID, else from the text that its lead holds.
 *
 * @param archive absent: from the stored text alone
 * @returns `undefined` when there is nothing left to read
 * @throws MailboxError; a mailbox that can't be reached is not a mail that is gone
 */
export async function readAgain(
  archive: MailArchive | undefined,
  { line, lead }: LedgerEntry,
): Promise<Reading | undefined> {
  const mail = await archive?.at(line);
  if (mail) return { from: 'mailbox', parsed: await parseMail(mail.source) };
  const found = archive && (await byMessageId(archive, line));
  if (found) return { from: 'mailbox, by Message-ID', parsed: found };
  const source = storedMailSource(line, lead);
  return source && { from: 'stored text', parsed: await parseMail(source) };
}

/** A Message-ID may be used again: the mail with the same key counts, else the only one that came at that second. */
async function byMessageId(
  archive: MailArchive,
  { mailKey, mailbox, receivedAt, parsed }: LedgerEntry['line'],
): Promise<ParsedMail | undefined> {
  const { messageId } = parsed;
  if (typeof messageId !== 'string' || !/^[\x21-\x7e]+$/.test(messageId)) return undefined;
  const candidates = await Promise.all(
    (await archive.withMessageId(messageId, mailbox)).map(async (mail) => ({
      receivedAt: mail.receivedAt,
      parsed: await parseMail(mail.source),
    })),
  );
  const same = candidates.find((candidate) => candidate.parsed.mailKey === mailKey);
  if (same) return same.parsed;
  const ofThatSecond = candidates.filter((candidate) => sameSecond(candidate.receivedAt, receivedAt));
  return ofThatSecond.length === 1 ? ofThatSecond[0]?.parsed : undefined;
}

function sameSecond(a: Date, b: Date): boolean {
  return Math.floor(a.getTime() / 1000) === Math.floor(b.getTime() / 1000);
}
