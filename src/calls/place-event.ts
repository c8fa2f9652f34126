import { parseBrandFromFranchise, type Store } from '../leads/store.ts';
import type { StoreDirectory } from '../leads/store-directory.ts';
import { normaliseNumber } from '../ringcentral/numbers.ts';
import type { TelephonyEvent } from '../ringcentral/telephony-event.ts';
import { type CallEvent, type CallStore, readParties } from './lifecycle.ts';

export type CallStores = Pick<StoreDirectory, 'find' | 'all'>;

/**
 * Reads an event, and gives each party the store of its call: the one that lists our side's number, else the
 * account's only store. Undefined when the event tells of faxes alone.
 *
 * @throws StoresUnavailableError: not to know the store is not to have none
 */
export async function placeEvent(
  stores: CallStores,
  accountId: string,
  event: TelephonyEvent,
): Promise<CallEvent | undefined> {
  const parties = await Promise.all(
    readParties(event).map(async (party) => ({
      ...party,
      store: await findCallStore(stores, accountId, party.businessNumber),
    })),
  );
  return parties.length > 0 ? { accountId, event, parties } : undefined;
}

async function findCallStore(
  stores: CallStores,
  accountId: string,
  businessNumber: string | null,
): Promise<CallStore | undefined> {
  const store =
    (businessNumber ? await stores.find((all) => listing(all, accountId, businessNumber)) : undefined) ??
    onlyStoreOf(accountId, await stores.all());
  return store && { storeId: store.storeId, franchiseId: parseBrandFromFranchise(store.franchise) };
}

/** Should two stores list one number, the account's own comes first. */
function listing(all: readonly Store[], accountId: string, number: string): Store | undefined {
  const found = all.filter((store) => numbersOf(store).includes(number));
  return found.find(({ providerAccountId }) => providerAccountId === accountId) ?? found[0];
}

function onlyStoreOf(accountId: string, all: readonly Store[]): Store | undefined {
  const own = all.filter(({ providerAccountId }) => providerAccountId === accountId);
  return own.length === 1 ? own[0] : undefined;
}

/** A store object lasts as long as the directory's cache does. */
const knownNumbers = new WeakMap<Store, string[]>();

/** StoresV2 is typed by hand: a list or a set of texts or numbers, or one alone; what is no number is left out. */
function numbersOf(store: Store): string[] {
  let numbers = knownNumbers.get(store);
  if (!numbers) {
    const { phoneNumbers } = store;
    const listed: unknown[] =
      phoneNumbers instanceof Set || Array.isArray(phoneNumbers) ? [...phoneNumbers] : [phoneNumbers];
    numbers = listed.flatMap((text) => normaliseNumber(String(text)) ?? []);
    knownNumbers.set(store, numbers);
  }
  return numbers;
}
