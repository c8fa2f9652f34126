import { type Mailbox, MailboxError } from '../mail/mailbox.ts';
import { errorCode } from '../platform/errors.ts';
import { acquireLease, type Lease } from '../platform/lease.ts';
import { logEvents } from '../platform/log-events.ts';
import { type PollDependencies, type PollReport, pollMailbox } from './poll-mailbox.ts';

export interface TickDependencies extends Omit<PollDependencies, 'canReopen'> {
  openMailbox(name: string): Promise<Mailbox>;
  /** Unique to this invocation: the owner of its leases. */
  invocationId: string;
  /** Outbox and gauges, once a tick, after the mail. Its failure is logged and fails nothing. */
  housekeeping(): Promise<void>;
}

/** A tick that could not read a mailbox to its end. `code` names each mailbox's trouble. */
export class TickFailedError extends Error {
  override name = 'TickFailedError';
  readonly code: string;
  constructor(failures: readonly { mailbox: string; code: string }[]) {
    const code = failures.map((failure) => failure.code).join(',');
    super(
      `the poller could not read ${failures.map(({ mailbox, code }) => `${mailbox}: ${code}`).join('; ')}`,
    );
    this.code = code;
  }
}

/** What a folder's tick came to: its report, the code of what stopped it, or that another run has it. */
type FolderEnd = PollReport | { failed: string } | 'leased';

/**
 * One tick: every folder in turn, each under its lease, then the housekeeping. One folder's trouble doesn't
 * stop the next.
 *
 * @throws TickFailedError after all that could be done is done, so that Lambda counts an error
 */
export async function runTick(
  deps: TickDependencies,
  mailboxes: readonly string[],
): Promise<Record<string, FolderEnd>> {
  const { log, meter } = deps;
  const ends: Record<string, FolderEnd> = {};
  const failures: { mailbox: string; code: string }[] = [];
  for (const mailbox of mailboxes) {
    const end = await tickFolder(deps, mailbox);
    ends[mailbox] = end;
    const failure = failureOf(end);
    if (failure) failures.push({ mailbox, code: failure });
  }

  await deps.housekeeping().catch((error: unknown) => {
    log.warn(logEvents.housekeepingFailed, { error_code: errorCode(error) });
  });

  const reports = Object.values(ends).filter(
    (end): end is PollReport => typeof end === 'object' && 'candidates' in end,
  );
  if (reports.length > 0) {
    meter.count(
      'OldestUnprocessedMailAge',
      Math.max(...reports.map((report) => report.oldestUnprocessedAge)),
    );
  }
  if (failures.length === 0) {
    meter.count('PollerRuns');
    meter.count('PollerFailures', 0);
    return ends;
  }
  meter.count('PollerFailures', failures.length);
  throw new TickFailedError(failures);
}

function failureOf(end: FolderEnd): string | undefined {
  if (end === 'leased') return undefined;
  if ('failed' in end) return end.failed;
  return end.stopped === 'deadline' ? undefined : end.stopped;
}

async function tickFolder(deps: TickDependencies, name: string): Promise<FolderEnd> {
  const { log } = deps;
  const lease = await takeLease(deps, name);
  if (lease === 'held') {
    log.info(logEvents.pollerSkipped, { mailbox: name });
    return 'leased';
  }
  let mailbox: Mailbox | undefined;
  try {
    const opened = await deps.openMailbox(name);
    mailbox = opened;
    const report = await pollMailbox({ ...deps, canReopen: () => canReopen(deps, name, opened) }, opened);
    log.info(logEvents.pollerFinished, {
      mailbox: name,
      candidates: report.candidates,
      settled: report.settled,
      kept: report.kept,
      stopped: report.stopped,
      oldest_unprocessed_seconds: Math.round(report.oldestUnprocessedAge),
    });
    return report;
  } catch (error) {
    const failed = errorCode(error);
    log.error(logEvents.pollerFailed, {
      mailbox: name,
      error_code: failed,
      // Its messages are ours and name the refusal ("login_refused: AUTHENTICATIONFAILED"), nothing personal.
      detail: error instanceof MailboxError ? error.message : undefined,
    });
    return { failed };
  } finally {
    await mailbox?.close();
    await lease?.release().catch(() => undefined);
  }
}

async function canReopen(deps: TickDependencies, name: string, before: Mailbox): Promise<boolean> {
  // First: a server may allow one connection only.
  await before.close();
  try {
    const again = await deps.openMailbox(name);
    await again.close();
    return true;
  } catch {
    return false;
  }
}

/** Without the state table there is no lease; the keys make an overlapping run harmless. */
async function takeLease(deps: TickDependencies, name: string): Promise<Lease | undefined | 'held'> {
  const now = deps.clock.now();
  const until = new Date(now.getTime() + deps.remainingMs());
  try {
    const lease = await acquireLease(deps.state, `poller#${name}`, { owner: deps.invocationId, until, now });
    return lease ?? 'held';
  } catch (error) {
    deps.log.warn(logEvents.stateUnreadable, { state: 'lease', error_code: errorCode(error) });
    return undefined;
  }
}
