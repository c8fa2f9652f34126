import { logEvents } from '../../platform/log-events.ts';
import type { Failure } from '../../ringcentral/errors.ts';
import type { SweepDependencies } from './dependencies.ts';
import type { Schedule } from './schedule.ts';
import { checkSubscription } from './subscription.ts';

const againMs = 5 * 60_000;
const hourMs = 3600_000;
/** The schedule's own jitter must not turn an hour into an hour and a minute. */
const jitterMs = 30_000;

/**
 * Sees to an account's subscription each hour, and to the alarm when there was none that worked; every five minutes
 * while there is none. What it has missed is looked up at once, by the full pass.
 *
 * @returns why RingCentral couldn't be asked, where only a person can help
 * @throws errors of SSM and of the state table
 */
export async function watchSubscription(
  deps: SweepDependencies,
  accountId: string,
  schedule: Schedule,
): Promise<string | undefined> {
  const isFirst = schedule.at('subscribed_at') === undefined;
  const check = await checkSubscription(deps, accountId, isFirst);
  const now = deps.clock.now().getTime();
  if (check.kind === 'not_checked') {
    await schedule.set({ subscription_at: now + againMs - jitterMs });
    return needsPerson(check.failure);
  }
  const reason = check.kind === 'active' ? undefined : check.reason;
  deps.meter.count('SubscriptionNotActive', reason === undefined ? 0 : 1);
  if (reason !== undefined) {
    deps.log.error(logEvents.subscriptionNotActive, {
      account_id: accountId,
      reason,
      created: check.kind === 'created',
      failure: check.kind === 'not_created' ? check.failure : undefined,
    });
  }
  if (check.kind === 'not_created') await schedule.set({ subscription_at: now + againMs - jitterMs });
  else {
    await schedule.set({
      subscription_at: now + hourMs - jitterMs,
      subscribed_at: now,
      ...(check.kind === 'created' ? { full_pass_at: now } : {}),
    });
  }
  return undefined;
}

/** No permission, or no such thing: another try doesn't help. A refused login has an alarm of its own. */
function needsPerson(failure: Failure): string | undefined {
  if (failure.kind === 'configuration') return failure.reason;
  return failure.kind === 'forbidden' || failure.kind === 'not_found' ? failure.kind : undefined;
}
