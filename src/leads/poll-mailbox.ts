import { type FetchedMail, type Mailbox, MailboxError, type MailEnvelope } from '../mail/mailbox.ts';
import type { ParsedMail } from '../mail/parsed-mail.ts';
import { attemptsExhausted } from '../mail/progress.ts';
import { beginTick, type TickProgress, unseenOnly } from '../mail/progress-tick.ts';
import type { Clock } from '../platform/clock.ts';
import { errorCode } from '../platform/errors.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Log } from '../platform/logger.ts';
import type { Meter } from '../platform/metrics.ts';
import type { StateTable } from '../platform/state-table.ts';
import type { MailPosition, TakeMailResult } from './take-mail.ts';

/** No new mail is begun with less time left than one mail may need. */
const reserveMs = 20_000;

export interface PollDependencies {
  state: StateTable;
  parse(source: Buffer): Promise<ParsedMail>;
  /** What is known of a mail that can't be read, from its envelope and recipient headers: a quarantined ParsedMail. */
  quarantine(envelope: MailEnvelope, headers?: Buffer): Promise<ParsedMail>;
  take(parsed: ParsedMail, position: MailPosition): Promise<TakeMailResult>;
  /** Whether the folder can be opened, asked when the link broke while a mail was fetched. Never rejects. */
  canReopen(): Promise<boolean>;
  remainingMs(): number;
  clock: Clock;
  log: Log;
  meter: Meter;
}

export interface PollReport {
  candidates: number;
  settled: number;
  /** Left UNSEEN and pending. */
  kept: number;
  /** Why the tick ended before its last candidate, if it did. */
  stopped?: string;
  /** Age in seconds of the oldest candidate that has no outcome yet; 0 when there is none. */
  oldestUnprocessedAge: number;
}

/** What became of one mail: `stop` ends the tick, since the next mail would meet the same. */
type MailEnd = 'settled' | 'kept' | { stop: string; settled: boolean };

/**
 * One tick over one folder. For each mail: count the attempt -> fetch -> parse -> take (store, publish) ->
 * SEEN -> settle. A mail's own trouble leaves it for the next tick and never stops those behind it.
 *
 * @throws MailboxError when the folder can't be searched: that is a failed run, not "no mail".
 */
export async function pollMailbox(deps: PollDependencies, mailbox: Mailbox): Promise<PollReport> {
  const { clock, log } = deps;
  const progress = await beginTick(deps.state, mailbox, clock.now()).catch((error: unknown) => {
    if (error instanceof MailboxError) throw error;
    log.warn(logEvents.stateUnreadable, {
      state: 'mail',
      mailbox: mailbox.name,
      error_code: errorCode(error),
    });
    return unseenOnly(mailbox);
  });
  const envelopes = progress.candidates.length > 0 ? await mailbox.envelopes(progress.candidates) : new Map();
  const report: PollReport = {
    candidates: progress.candidates.length,
    settled: 0,
    kept: 0,
    oldestUnprocessedAge: 0,
  };
  const waiting = new Set(progress.candidates);

  for (const uid of progress.candidates) {
    if (deps.remainingMs() < reserveMs) {
      report.stopped = 'deadline';
      break;
    }
    const end = await pollMail(deps, mailbox, progress, uid, envelopes.get(uid));
    const settled = end === 'settled' || (typeof end === 'object' && end.settled);
    if (settled) waiting.delete(uid);
    report[settled ? 'settled' : 'kept'] += 1;
    if (typeof end === 'object') {
      report.stopped = end.stop;
      break;
    }
  }

  const now = clock.now().getTime();
  for (const uid of waiting) {
    const receivedAt = envelopes.get(uid)?.receivedAt.getTime() ?? now;
    report.oldestUnprocessedAge = Math.max(report.oldestUnprocessedAge, (now - receivedAt) / 1000);
  }
  return report;
}

async function pollMail(
  deps: PollDependencies,
  mailbox: Mailbox,
  progress: TickProgress,
  uid: number,
  envelope: MailEnvelope | undefined,
): Promise<MailEnd> {
  const { log } = deps;
  const where = { mailbox: mailbox.name, uid_validity: mailbox.uidValidity, uid };
  try {
    if (!envelope) {
      // Moved or deleted between search and fetch: nothing is left to do.
      await bookkeeping(deps, () => progress.settle(uid), undefined);
      return 'settled';
    }
    const attempt = await bookkeeping(deps, () => progress.countAttempt(uid), 1);
    const parsed = attemptsExhausted(attempt)
      ? await quarantine(deps, mailbox, envelope, attempt)
      : await fetchAndParse(deps, mailbox, uid);
    if (parsed === undefined) {
      await bookkeeping(deps, () => progress.settle(uid), undefined);
      return 'settled';
    }

    const { receivedAt } = envelope;
    const position = { mailbox: mailbox.name, uidValidity: mailbox.uidValidity, uid, receivedAt };
    const result = await deps.take(parsed, position);
    if (result.kind === 'kept') {
      // Stores, table or queue are down: not the mail's fault, so it must not count towards its quarantine.
      await bookkeeping(deps, () => progress.takeBackAttempt(uid), undefined);
      return result.reason === 'stores_unavailable' ? { stop: result.reason, settled: false } : 'kept';
    }
  } catch (error) {
    const code = errorCode(error);
    log.error(logEvents.mailFailed, { ...where, stage: 'fetch', error_code: code });
    if (!(error instanceof MailboxError) || error.code === 'fetch_refused') return 'kept';
    if (error.code === 'throttled') await bookkeeping(deps, () => progress.takeBackAttempt(uid), undefined);
    else if (await isUnreachable(deps)) await bookkeeping(deps, () => progress.excuseAttempt(uid), undefined);
    return { stop: code, settled: false };
  }

  // Stored or queued: from here on a failure costs a repeat at most, which the keys make harmless.
  const seen = await mailbox.markSeen(uid).catch(errorCode);
  if (seen !== true) {
    deps.meter.count('MailNotMarkedSeen');
    log.warn(logEvents.mailNotMarkedSeen, { ...where, error_code: seen === false ? 'not_kept' : seen });
  }
  await bookkeeping(deps, () => progress.settle(uid), undefined);
  // The connection is gone: the next mail must not pay for it with an attempt.
  return typeof seen === 'string' ? { stop: seen, settled: true } : 'settled';
}

/** A server that can't be reached at once after a broken link says that this mail didn't break it. */
async function isUnreachable(deps: PollDependencies): Promise<boolean> {
  return deps.remainingMs() >= reserveMs && !(await deps.canReopen());
}

/** Whose mail it is may stand in its headers alone; if asking for them ends the process too, nobody asks again. */
async function quarantine(
  deps: PollDependencies,
  mailbox: Mailbox,
  envelope: MailEnvelope,
  attempt: number,
): Promise<ParsedMail> {
  const isFirstTime = !attemptsExhausted(attempt - 1);
  const headers = isFirstTime
    ? await mailbox.recipientHeaders(envelope.uid).catch(() => undefined)
    : undefined;
  return deps.quarantine(envelope, headers);
}

async function fetchAndParse(
  deps: PollDependencies,
  mailbox: Mailbox,
  uid: number,
): Promise<ParsedMail | undefined> {
  const fetched: FetchedMail | undefined = await mailbox.fetch(uid);
  return fetched && deps.parse(fetched.source);
}

/** The state table makes ticks cheaper and crashes visible; without it the mail's way goes on all the same. */
async function bookkeeping<T>({ log }: PollDependencies, write: () => Promise<T>, without: T): Promise<T> {
  try {
    return await write();
  } catch (error) {
    log.warn(logEvents.stateUnreadable, { state: 'mail', error_code: errorCode(error) });
    return without;
  }
}
