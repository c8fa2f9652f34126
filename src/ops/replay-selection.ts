import { type CommandLine, type CommandShape, readCount, UsageError } from './command-line.ts';
import type { ReplaySelection } from './replay-targets.ts';

const defaultMaximum = 100;
const defaultDays = 14;
const dayMs = 24 * 60 * 60_000;

export const selectionHelp = `Which mails:

  MAIL_KEY …     these mails of the ledger
  LEAD_ID …      all mails of these leads (in quotes)
  --quarantined  those that could not be read, once the reader has learnt their layout
  --unmapped     those of leads without a store, once StoresV2 is mended
  --since DATE   with either: received since that day, UTC (default: the last ${defaultDays} days)
  --max N        with either: at most N, oldest first (default ${defaultMaximum})
  --uid N        the mail with this UID, which the ledger need not know
  --mailbox NAME with --uid: the folder (default INBOX)`;

/** Mails of the ledger, or one by its place in the mailbox. */
export type ReplayChoice = ReplaySelection | { kind: 'uid'; mailbox: string; uid: number };

/**
 * Reads which mails the command is about: exactly one of the ways to say it.
 *
 * @throws UsageError
 */
export function readChoice({ args, options }: CommandLine<CommandShape>, now: Date): ReplayChoice {
  const { quarantined, unmapped, mailbox, since, max } = options;
  const uid = readCount(options, 'uid');
  const ways = [args.length > 0, quarantined, unmapped, uid !== undefined].filter(Boolean).length;
  if (ways !== 1) {
    throw new UsageError(
      "'leads replay' needs mail keys or lead ids, or one of --quarantined, --unmapped and --uid.",
    );
  }
  const filtered = quarantined || unmapped;
  if (!filtered && (since ?? max) !== undefined) {
    throw new UsageError('--since and --max go with --quarantined and --unmapped.');
  }
  if (uid !== undefined) return { kind: 'uid', mailbox: mailbox ?? 'INBOX', uid };
  if (mailbox !== undefined) throw new UsageError('--mailbox goes with --uid.');
  if (!filtered) return readNames(args);
  return {
    kind: quarantined ? 'quarantined' : 'unmapped',
    since: since === undefined ? new Date(now.getTime() - defaultDays * dayMs) : readDay(since),
    maximum: readCount(options, 'max') ?? defaultMaximum,
  };
}

function readNames(args: readonly string[]): ReplayChoice {
  const mailKeys = args.filter((name) => /^[0-9a-f]{64}$/.test(name));
  const leadIds = args.filter((name) => name.includes('#'));
  const neither = args.find((name) => !mailKeys.includes(name) && !leadIds.includes(name));
  if (neither !== undefined) throw new UsageError(`'${neither}' is neither a mail key nor a lead id.`);
  return { kind: 'named', mailKeys, leadIds };
}

function readDay(text: string): Date {
  const day = new Date(`${text}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(day.getTime())) {
    throw new UsageError(`--since ${text}: a date such as 2026-11-03 is expected.`);
  }
  return day;
}
