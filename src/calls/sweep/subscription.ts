import { logEvents } from '../../platform/log-events.ts';
import type { Failure, Outcome } from '../../ringcentral/errors.ts';
import type { Subscription } from '../../ringcentral/schemas.ts';
import type { SweepDependencies } from './dependencies.ts';

/** What is wrong with a subscription that should bring us the account's calls. */
type Trouble = 'missing' | 'blacklisted' | 'filter_disabled' | 'filter_missing' | 'other_address';

export type SubscriptionCheck =
  | { kind: 'active' }
  /** There was none that works; there is one now. `reason` is missing at an account's first look. */
  | { kind: 'created'; reason?: Trouble }
  /** There is none that works, and it could not be made. */
  | { kind: 'not_created'; reason: Trouble; failure: string }
  /** Nothing is known: RingCentral can't be asked now. */
  | { kind: 'not_checked'; failure: Failure };

/** A renewal is one request in ten years. */
const renewBeforeMs = 30 * 24 * 3600_000;
/** Too many subscriptions of this application and user. */
const tooMany = 'SUB-505';

/**
 * Keeps exactly one subscription for an account's calls: active, with the telephony filter, at our address. One that
 * doesn't work brings nothing, so the new one is made before the old one is removed, and nothing is lost in between
 * that wasn't lost before. Duplicates of a good one are removed; so are ours at an address of old.
 *
 * @param isFirst nobody has looked before: that there is none yet is no alarm
 * @throws SSM's errors
 */
export async function checkSubscription(
  deps: SweepDependencies,
  accountId: string,
  isFirst: boolean,
): Promise<SubscriptionCheck> {
  const { subscriptions, clock } = deps;
  const address = `${deps.webhookUrl.replace(/\/+$/, '')}/${accountId}`;
  const answer = await subscriptions.list(accountId);
  if (answer.kind !== 'ok') return { kind: 'not_checked', failure: answer };
  const ours = answer.value.filter((one) => isOurs(one, address));
  const [active, ...spare] = ours
    .filter((one) => troubleOf(one, address, accountId) === undefined)
    .sort((a, b) => expiryOf(b) - expiryOf(a));
  const dead = ours.filter((one) => troubleOf(one, address, accountId) !== undefined);
  if (active) {
    await removeAll(deps, accountId, [...spare, ...dead]);
    if (expiryOf(active) - clock.now().getTime() < renewBeforeMs) {
      await subscriptions.renew(accountId, active.id);
    }
    return { kind: 'active' };
  }
  const [worst] = dead;
  const reason = worst ? (troubleOf(worst, address, accountId) ?? 'missing') : 'missing';
  const failure = await create(deps, accountId, address, dead);
  if (failure) return { kind: 'not_created', reason, failure };
  deps.log.info(logEvents.subscriptionCreated, { account_id: accountId, reason });
  await removeAll(deps, accountId, dead);
  return isFirst && reason === 'missing' ? { kind: 'created' } : { kind: 'created', reason };
}

/** Undefined when it is made, else why not. */
async function create(
  { accounts, subscriptions, log }: SweepDependencies,
  accountId: string,
  address: string,
  dead: readonly Subscription[],
): Promise<string | undefined> {
  const verificationToken = (await accounts.find(accountId))?.webhookVerificationTokens[0];
  if (!verificationToken) return 'no_verification_token';
  const make = () => subscriptions.create(accountId, { address, verificationToken });
  const first = await make();
  if (first.kind === 'ok') return undefined;
  if (codeOf(first) !== tooMany || dead.length === 0) return codeOf(first);
  await removeAll({ subscriptions, log }, accountId, dead);
  const second = await make();
  return second.kind === 'ok' ? undefined : codeOf(second);
}

/** One that stays is removed with the next check. */
async function removeAll(
  { subscriptions, log }: Pick<SweepDependencies, 'subscriptions' | 'log'>,
  accountId: string,
  some: readonly Subscription[],
): Promise<void> {
  for (const { id } of some) {
    const answer = await subscriptions.remove(accountId, id);
    if (answer.kind !== 'ok') {
      log.warn(logEvents.sweepFailed, {
        account_id: accountId,
        part: 'subscription',
        reason: codeOf(answer),
      });
    }
  }
}

function codeOf(failure: Exclude<Outcome<unknown>, { kind: 'ok' }>): string {
  if ('errorCode' in failure && failure.errorCode) return failure.errorCode;
  return 'reason' in failure ? failure.reason : failure.kind;
}

/** For our calls: at our address, or with its path at another host, which is a deployment of old. */
function isOurs({ deliveryMode }: Subscription, address: string): boolean {
  const theirs = deliveryMode?.address ?? '';
  return URL.canParse(theirs) && new URL(theirs).pathname === new URL(address).pathname;
}

function troubleOf(
  { status, deliveryMode, eventFilters, disabledFilters }: Subscription,
  address: string,
  accountId: string,
): Trouble | undefined {
  if (deliveryMode?.address !== address) return 'other_address';
  if (status?.toLowerCase() !== 'active') return 'blacklisted';
  const isTelephony = (filter: string | undefined) => telephonyFilter(accountId).test(filter ?? '');
  if (!eventFilters?.some(isTelephony)) return 'filter_missing';
  return disabledFilters?.some(({ filter }) => isTelephony(filter)) ? 'filter_disabled' : undefined;
}

/** All calls of the account: not one extension's, and with no condition. RingCentral answers with the id for `~`. */
const telephonyFilter = (accountId: string) =>
  new RegExp(`^/restapi/v1\\.0/account/(?:~|${accountId})/telephony/sessions$`);

/** Without a time it doesn't expire. */
const expiryOf = ({ expirationTime }: Subscription) =>
  expirationTime === undefined ? Number.POSITIVE_INFINITY : Date.parse(expirationTime);
