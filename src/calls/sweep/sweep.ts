import { errorCode } from '../../platform/errors.ts';
import { logEvents } from '../../platform/log-events.ts';
import { conditionFailed } from '../../platform/state-table.ts';
import { parkedItemKey } from '../parking.ts';
import type { SweepDependencies } from './dependencies.ts';
import { type PumpReport, pump } from './pump.ts';
import { Schedule } from './schedule.ts';
import { chunksOf } from './session-rows.ts';

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

interface AccountReport {
  gateClosed: boolean;
  parked: number;
  withoutWebhook: number;
  failures: string[];
}

/** They share nothing but the database; the others go on while one waits for RingCentral. */
const accountsAtOnce = 4;

/**
 * One minute's sweep over the accounts. What one of them fails at stops neither its other parts nor the other
 * accounts.
 *
 * @param deadline of the invocation
 * @throws SweepFailedError after all that could be done is done, so that Lambda counts an error
 */
export async function runSweep(
  deps: SweepDependencies,
  accountIds: readonly string[],
  deadline: Date,
): Promise<void> {
  const { log, meter } = deps;
  const reports: AccountReport[] = [];
  for (const some of chunksOf(accountIds, accountsAtOnce)) {
    reports.push(...(await Promise.all(some.map((accountId) => sweepAccount(deps, accountId, deadline)))));
  }
  const sum = (number: (report: AccountReport) => number) =>
    reports.reduce((total, report) => total + number(report), 0);
  const failures = reports.flatMap((report) => report.failures);
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

/** Never rejects. */
async function sweepAccount(
  deps: SweepDependencies,
  accountId: string,
  deadline: Date,
): Promise<AccountReport> {
  const { state, gate, clock, log } = deps;
  const report: AccountReport = { gateClosed: false, parked: 0, withoutWebhook: 0, failures: [] };
  const attempt = async (part: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      const code = errorCode(error);
      report.failures.push(`${accountId}: ${part} ${code}`);
      log.error(logEvents.sweepFailed, { account_id: accountId, part, error_code: code });
    }
  };

  await attempt('state', async () => {
    const sign = await state.get(parkedItemKey(accountId));
    const schedule = await Schedule.read(state, accountId);
    const due = schedule.due(clock.now());
    const { closedUntil } = await gate.status({ owner: accountId, group: 'heavy' });
    report.gateClosed = closedUntil !== undefined;
    if (sign?.parked_at !== undefined) {
      await attempt('pump', async () => {
        const pumped: PumpReport = await pump(deps, accountId, undefined, deadline);
        report.parked = pumped.parked;
        if (pumped.left === 0) await takeDownSign(deps, accountId, sign.announcements);
      });
    }
    void due;
  });
  return report;
}

/** Unless somebody has parked more since it was read. */
async function takeDownSign(
  { state }: Pick<SweepDependencies, 'state'>,
  accountId: string,
  announcements: unknown,
): Promise<boolean> {
  const answer = await state.update(parkedItemKey(accountId), {
    update: 'REMOVE parked_at',
    condition: 'announcements = :announcements',
    values: { ':announcements': announcements },
  });
  return answer !== conditionFailed;
}
