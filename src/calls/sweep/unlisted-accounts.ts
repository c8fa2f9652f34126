import { and, isNotNull, notInArray } from 'drizzle-orm';
import type { Database } from '../../db/client.ts';
import { calls } from '../../db/schema/index.ts';
import { logEvents } from '../../platform/log-events.ts';
import { readItem, type VersionedItem, writeItem } from '../../ringcentral/versioned-item.ts';
import type { SweepDependencies } from './dependencies.ts';
import { isOpen, startedSince } from './open-calls.ts';

/** No account's id: it has digits only. */
const itemKey = 'sweep#unlisted';
const hourMs = 3600_000;
/** The schedule's own jitter must not turn an hour into an hour and a minute. */
const jitterMs = 30_000;
/** As far back as the full pass looks. */
const openForMs = 26 * hourMs;
/** An account that had work so lately is looked after each minute, since its calls park at any time. */
const rememberedForMs = 24 * hourMs;
const seenPrefix = 'seen_';

/**
 * Accounts that aren't configured for the sweep and have work for it: receiver and processor take the calls of every
 * account that has a parameter, and what they park would lie there for ever. Looked for each hour, in the hour's open
 * database; each is told of then. One without a parameter can't be served, and is only told of.
 *
 * @param listed the configured accounts; without any the database is left alone
 * @returns those that can be served
 * @throws StateUnavailableError, ParameterError, NeonDbError
 */
export async function findUnlisted(
  deps: SweepDependencies,
  listed: readonly string[],
  deadline: Date,
): Promise<string[]> {
  if (listed.length === 0) return [];
  const { state, accounts, log, clock } = deps;
  const now = clock.now().getTime();
  const item = await readItem(state, itemKey);
  const isDue = now >= Number(item.check_at ?? 0);
  const seen = isDue ? await look(deps, listed, item, deadline) : seenOf(item, now);
  const servable: string[] = [];
  for (const accountId of seen.filter((id) => !listed.includes(id))) {
    const account = await accounts.find(accountId);
    if (account) servable.push(accountId);
    if (isDue) {
      log.warn(logEvents.sweepUnlistedAccount, { account_id: accountId, served: account !== undefined });
    }
  }
  return servable;
}

async function look(
  { neon, state, clock }: SweepDependencies,
  listed: readonly string[],
  item: VersionedItem,
  deadline: Date,
): Promise<string[]> {
  const now = clock.now().getTime();
  const found = await neon.run((db) => accountsWithWork(db, listed, new Date(now - openForMs)), deadline);
  const changes: Record<string, number | undefined> = { check_at: now + hourMs - jitterMs };
  const remembered = seenOf(item, now);
  for (const name of Object.keys(item).filter((one) => one.startsWith(seenPrefix))) {
    if (!remembered.includes(name.slice(seenPrefix.length))) changes[name] = undefined;
  }
  for (const accountId of found) changes[`${seenPrefix}${accountId}`] = now;
  await writeItem(state, itemKey, item, changes);
  return [...new Set([...remembered, ...found])];
}

const seenOf = (item: VersionedItem, now: number): string[] =>
  Object.entries(item)
    .filter(([name, at]) => name.startsWith(seenPrefix) && now - Number(at) < rememberedForMs)
    .map(([name]) => name.slice(seenPrefix.length));

/** Each query has a partial index with few rows in it. */
async function accountsWithWork(db: Database, listed: readonly string[], since: Date): Promise<string[]> {
  const isUnlisted = notInArray(calls.accountId, [...listed]);
  const select = () => db.selectDistinct({ accountId: calls.accountId }).from(calls);
  const [parked, open] = await db.batch([
    select().where(and(isUnlisted, isNotNull(calls.nextStep), isNotNull(calls.nextAttemptAt))),
    select().where(and(isUnlisted, isOpen, startedSince(since))),
  ]);
  return [...new Set([...parked, ...open].map(({ accountId }) => accountId))];
}
