import { errorCode } from '../../platform/errors.ts';
import { logEvents } from '../../platform/log-events.ts';
import { announceParked, parkedItemKey } from '../parking.ts';
import type { SweepDependencies } from './dependencies.ts';
import type { MadeList } from './list-parked.ts';
import { runPass } from './pass.ts';
import { pump } from './pump.ts';
import { Schedule, type Task } from './schedule.ts';
import { chunksOf } from './session-rows.ts';
import { checkSubscription } from './subscription.ts';

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
/** Less is not enough for a request and what follows from it. */
const shortestPartMs = 20_000;
const fiveMinutesMs = 5 * 60_000;
const hourMs = 3600_000;
/** The schedule's own jitter must not turn five minutes into six. */
const jitterMs = 30_000;

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
  const fail = (part: string, code: string) => {
    report.failures.push(`${accountId}: ${part} ${code}`);
    log.error(logEvents.sweepFailed, { account_id: accountId, part, error_code: code });
  };
  const attempt = async (part: string, work: () => Promise<void>) => {
    if (deadline.getTime() - clock.now().getTime() < shortestPartMs) return;
    await work().catch((error: unknown) => fail(part, errorCode(error)));
  };

  await attempt('state', async () => {
    const schedule = await Schedule.read(state, accountId);
    const isDue = (task: Task) => schedule.due(clock.now()).has(task);
    const { closedUntil } = await gate.status({ owner: accountId, group: 'heavy' });
    report.gateClosed = closedUntil !== undefined;
    let list: MadeList | undefined;

    // First, since a subscription that was lost makes the full pass due.
    if (isDue('subscription_at')) {
      await attempt('subscription', async () => {
        const failure = await watchSubscription(deps, accountId, schedule);
        if (failure) fail('subscription', failure);
      });
    }
    if (isDue('full_pass_at') || isDue('pass_at')) {
      await attempt('pass', async () => {
        // Before anything is parked: a sign without work is taken down, work without a sign would lie there.
        await announceParked(state, accountId, clock.now());
        const passed = await runPass(deps, accountId, schedule, deadline);
        list = passed.list;
        report.withoutWebhook = passed.withoutWebhook;
        if (passed.failed > 0) fail('pass', 'sessions_failed');
        if (passed.failure?.kind === 'configuration') fail('pass', passed.failure.reason);
      });
    }
    await attempt('pump', async () => {
      const sign = await state.get(parkedItemKey(accountId));
      if (sign?.parked_at === undefined) return;
      const pumped = await pump(deps, accountId, list, deadline);
      report.parked = pumped.parked;
      if (pumped.failure?.kind === 'configuration') fail('pump', pumped.failure.reason);
      if (pumped.left === 0) await takeDownSign(deps, accountId, sign.announcements);
    });
    if (isDue('transcriptions_at')) {
      await attempt('transcriptions', async () => {
        await deps.checkTranscriptions(accountId, deadline);
        await schedule.set({ transcriptions_at: clock.now().getTime() + fiveMinutesMs - jitterMs });
      });
    }
  });
  return report;
}

/**
 * Sees to the subscription, and to the alarm when there was none that worked. What it missed is looked up at once.
 *
 * @returns why RingCentral couldn't be asked, where only a person can help
 */
async function watchSubscription(
  deps: SweepDependencies,
  accountId: string,
  schedule: Schedule,
): Promise<string | undefined> {
  const { clock, log, meter } = deps;
  const check = await checkSubscription(deps, accountId, schedule.at('subscribed_at') === undefined);
  const now = clock.now().getTime();
  const soon = now + fiveMinutesMs - jitterMs;
  if (check.kind === 'not_checked') {
    await schedule.set({ subscription_at: soon });
    return check.failure.kind === 'configuration' ? check.failure.reason : undefined;
  }
  const { reason } = { reason: undefined, ...check };
  meter.count('SubscriptionNotActive', reason === undefined ? 0 : 1);
  if (reason !== undefined) {
    log.error(logEvents.subscriptionNotActive, {
      account_id: accountId,
      reason,
      created: check.kind === 'created',
      failure: check.kind === 'not_created' ? check.failure : undefined,
    });
  }
  await schedule.set({
    ...(check.kind === 'not_created'
      ? { subscription_at: soon }
      : { subscription_at: now + hourMs - jitterMs, subscribed_at: now }),
    ...(check.kind === 'created' ? { full_pass_at: now } : {}),
  });
  return undefined;
}

/** Unless somebody has parked more since it was read. */
async function takeDownSign(
  { state }: Pick<SweepDependencies, 'state'>,
  accountId: string,
  announcements: unknown,
): Promise<void> {
  await state.update(parkedItemKey(accountId), {
    update: 'REMOVE parked_at',
    condition: 'announcements = :announcements',
    values: { ':announcements': announcements },
  });
}
