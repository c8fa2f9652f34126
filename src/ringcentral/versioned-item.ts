import { conditionFailed, type StateTable } from '../platform/state-table.ts';

/** An item of the state table that is only ever replaced by who has seen its latest version. */
export type VersionedItem = Record<string, unknown> & { version: number };

/** The state table can't be reached: without it nobody may call RingCentral. */
export class StateUnavailableError extends Error {
  override name = 'StateUnavailableError';
}

/** The item, or one of version 0 where there is none yet. */
export async function readItem(state: StateTable, pk: string): Promise<VersionedItem> {
  const item = await reach(() => state.get(pk));
  return { ...item, version: Number(item?.version ?? 0) };
}

/**
 * Writes `changes` if nobody wrote since `seen` was read: optimistic locking by one conditional single-item
 * update. A change to `undefined` removes the attribute.
 *
 * @returns the item as it is now, or undefined when somebody was faster
 */
export async function writeItem(
  state: StateTable,
  pk: string,
  seen: VersionedItem,
  changes: Record<string, string | number | undefined>,
): Promise<VersionedItem | undefined> {
  const next = { ...seen, ...changes, version: seen.version + 1 };
  const written = Object.entries({ ...changes, version: next.version });
  const set = written.filter(([, value]) => value !== undefined);
  const removed = written.filter(([, value]) => value === undefined);
  const answer = await reach(() =>
    state.update(pk, {
      update: [
        `SET ${set.map(([name]) => `#${name} = :${name}`).join(', ')}`,
        ...(removed.length > 0 ? [`REMOVE ${removed.map(([name]) => `#${name}`).join(', ')}`] : []),
      ].join(' '),
      condition: seen.version === 0 ? 'attribute_not_exists(#version)' : '#version = :seen_version',
      // Every name by placeholder, since DynamoDB reserves hundreds of words.
      names: Object.fromEntries(written.map(([name]) => [`#${name}`, name])),
      values: {
        ...Object.fromEntries(set.map(([name, value]) => [`:${name}`, value])),
        ...(seen.version === 0 ? {} : { ':seen_version': seen.version }),
      },
    }),
  );
  return answer === conditionFailed ? undefined : next;
}

async function reach<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new StateUnavailableError('The state table is out of reach', { cause: error });
  }
}
