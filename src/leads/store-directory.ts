import type { Recipient } from '../mail/parsed-mail.ts';
import type { Clock } from '../platform/clock.ts';
import { errorCode } from '../platform/errors.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Log } from '../platform/logger.ts';
import { type Store, storeSchema } from './store.ts';

const maximumAgeMs = 15 * 60_000;
const missRefreshAgeMs = 60_000;

/** StoresV2 as a port: all items, or a rejection. The adapter is stores-table.ts. */
export type ScanStores = () => Promise<unknown[]>;

/** The scan failed and there is no cache to fall back on: nothing is known, which is not "no such store". */
export class StoresUnavailableError extends Error {
  override name = 'StoresUnavailableError';
}

export interface StoreMatch {
  store: Store;
  /** The address that chose the store. */
  recipient: Recipient;
  /** A second, different store is named in the header that chose the first. */
  ambiguous: boolean;
}

/** Who a mail or an event belongs to. */
export interface StoreDirectory {
  findByRecipients(recipients: readonly Recipient[]): Promise<StoreMatch | undefined>;
  findById(storeId: string): Promise<Store | undefined>;
  /** The store that `choose` finds among all. */
  find(choose: (stores: readonly Store[]) => Store | undefined): Promise<Store | undefined>;
  all(): Promise<Store[]>;
}

interface Index {
  byLeadEmail: Map<string, Store>;
  byTrackingId: Map<string, Store>;
  byId: Map<string, Store>;
}

/**
 * StoresV2, scanned on the first use and cached while warm; read again after 15 minutes, and once more on a
 * miss when the cache is older than a minute (a store that was just added). A failed scan is never a miss:
 * the stale cache answers, and without one the call rejects.
 *
 * @throws StoresUnavailableError when nothing could ever be read.
 */
export function createStoreDirectory(scan: ScanStores, clock: Clock, log: Log): StoreDirectory {
  let cached: { index: Index; readAt: number } | undefined;

  async function load(maximumAge: number): Promise<Index> {
    const now = clock.now().getTime();
    if (cached && now - cached.readAt < maximumAge) return cached.index;
    try {
      cached = { index: buildIndex(await scan(), log), readAt: now };
    } catch (error) {
      if (!cached)
        throw new StoresUnavailableError(`StoresV2 can't be read: ${errorCode(error)}`, { cause: error });
      log.warn(logEvents.storesStale, {
        error_code: errorCode(error),
        age_seconds: (now - cached.readAt) / 1000,
      });
    }
    return cached.index;
  }

  /** Looks `find` up in the cache, and once more in a fresh scan when it missed. */
  async function lookUp<T>(find: (index: Index) => T | undefined): Promise<T | undefined> {
    const first = find(await load(maximumAgeMs));
    return first === undefined ? find(await load(missRefreshAgeMs)) : first;
  }

  return {
    findByRecipients: (recipients) => lookUp((index) => matchRecipients(index, recipients)),
    findById: (storeId) => lookUp((index) => index.byId.get(storeId.toLowerCase())),
    find: (choose) => lookUp((index) => choose([...index.byId.values()])),
    all: async () => [...(await load(maximumAgeMs)).byId.values()],
  };
}

/** An item that is not a store (a field missing) is left out and logged: it must not hide the others. */
function buildIndex(items: unknown[], log: Log): Index {
  const index: Index = { byLeadEmail: new Map(), byTrackingId: new Map(), byId: new Map() };
  for (const item of items) {
    const parsed = storeSchema.safeParse(item);
    if (!parsed.success) {
      log.warn(logEvents.storeInvalidSetting, {
        store_id: String((item as { storeId?: unknown } | null)?.storeId ?? ''),
        fields: parsed.error.issues.map((issue) => issue.path.join('.')),
      });
      continue;
    }
    const store = parsed.data;
    index.byId.set(store.storeId.toLowerCase(), store);
    addOnce(index.byLeadEmail, store.leadEmail.trim().toLowerCase(), store);
    if (store.trackingId) addOnce(index.byTrackingId, store.trackingId.trim().toLowerCase(), store);
  }
  return index;
}

function addOnce(map: Map<string, Store>, key: string, store: Store): void {
  if (!map.has(key)) map.set(key, store);
}

/** First hit wins, in the recipients' order; per address the lead e-mail counts before the tag. */
function matchRecipients(index: Index, recipients: readonly Recipient[]): StoreMatch | undefined {
  const storeOf = ({ address, trackingId }: Recipient) =>
    index.byLeadEmail.get(address) ??
    (trackingId ? index.byTrackingId.get(trackingId.toLowerCase()) : undefined);
  for (const recipient of recipients) {
    const store = storeOf(recipient);
    if (!store) continue;
    const ambiguous = recipients.some((other) => {
      const otherStore = other.source === recipient.source ? storeOf(other) : undefined;
      return otherStore !== undefined && otherStore.storeId !== store.storeId;
    });
    return { store, recipient, ambiguous };
  }
  return undefined;
}
