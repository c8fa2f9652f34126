import { errorCode } from '../../platform/errors.ts';
import { logEvents } from '../../platform/log-events.ts';
import { type AccountReport, sweepAccount } from './account-sweep.ts';
import type { SweepDependencies } from './dependencies.ts';
import { findUnlisted } from './unlisted-accounts.ts';

export type { SweepDependencies } from './dependencies.ts';

/** A sweep that could not do all it had to. `code` names each account's trouble. */
export class SweepFailedError extends Error {
  override name = 'SweepFailedError';
  readonly code: string;
  constructor(failures: readonly string[]) {
    super(`the sweep has failed in part: ${failures.join('; ')}`);
    this.code = failures.join(',');
  }
}

/** They share nothing but the database; the others go on while one waits for RingCentral. */
const accountsAtOnce = 4;
const minuteMs = 60_000;

/**
 * One minute's sweep over the accounts. What one of them fails at stops neither its other parts nor the other
 * accounts. Each minute begins with another account, since time may not be enough for all.
 *
 * @param listed the configured accounts; others that have work are served as well, but for their subscription
 * @param deadline of the invocation
 * @throws SweepFailedError after all that could be done is done, so that Lambda counts an error
 */
export async function runSweep(
  deps: SweepDependencies,
  listed: readonly string[],
  deadline: Date,
): Promise<void> {
  const { log, meter, clock } = deps;
  const failures: string[] = [];
  const unlisted = await findUnlisted(deps, listed, deadline).catch((error: unknown) => {
    const code = errorCode(error);
    failures.push(`unlisted accounts ${code}`);
    log.error(logEvents.sweepFailed, { part: 'unlisted_accounts', error_code: code });
    return [];
  });
  const accountIds = [...listed, ...unlisted];
  const reports = await sweepAll(accountIds, Math.floor(clock.now().getTime() / minuteMs), (accountId) =>
    sweepAccount(deps, { accountId, isListed: listed.includes(accountId) }, deadline),
  );
  const sum = (number: (report: AccountReport) => number) =>
    reports.reduce((total, report) => total + number(report), 0);
  failures.push(...reports.flatMap((report) => report.failures));
  const fields = {
    accounts: accountIds.length,
    gates_closed: sum(({ gateClosed }) => Number(gateClosed)),
    parked: sum(({ parked }) => parked),
    without_webhook: sum(({ withoutWebhook }) => withoutWebhook),
    failures: failures.length,
  };
  meter.count('SweepRuns');
  meter.count('GateClosed', fields.gates_closed);
  meter.count('ParkedCalls', fields.parked);
  meter.count('CallsWithoutWebhook', fields.without_webhook);
  log.info(logEvents.sweepFinished, fields);
  if (failures.length > 0) throw new SweepFailedError(failures);
}

/** A few at a time, each place free for the next account as soon as it is done. Reports in the accounts' order. */
async function sweepAll(
  accountIds: readonly string[],
  turn: number,
  sweep: (accountId: string) => Promise<AccountReport>,
): Promise<AccountReport[]> {
  const first = turn % Math.max(1, accountIds.length);
  const waiting = [...accountIds.slice(first), ...accountIds.slice(0, first)];
  const reports = new Map<string, AccountReport>();
  const workOff = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      reports.set(next, await sweep(next));
    }
  };
  await Promise.all(Array.from({ length: accountsAtOnce }, workOff));
  return accountIds.flatMap((accountId) => reports.get(accountId) ?? []);
}
