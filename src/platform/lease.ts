import { conditionFailed, type StateTable } from './state-table.ts';

export interface Lease {
  /** Gives the lease back, if it is still ours. May reject; the lease then ends by itself at `until`. */
  release(): Promise<void>;
}

/**
 * Takes the lease `pk` until the instant `until`, unless somebody holds it at `now`. A lease only saves double
 * work: it can be lost (clock, pause of the process), so correctness never rests on it.
 *
 * @param owner unique to this invocation
 * @returns `undefined` when somebody else holds it. Rejects when the state table can't be reached: the caller
 *   decides whether to go on without.
 */
export async function acquireLease(
  state: StateTable,
  pk: string,
  { owner, until, now }: { owner: string; until: Date; now: Date },
): Promise<Lease | undefined> {
  const names = { '#owner': 'owner', '#until': 'until' };
  const taken = await state.update(pk, {
    update: 'SET #owner = :owner, #until = :until',
    condition: 'attribute_not_exists(#until) OR #until <= :now',
    names,
    values: { ':owner': owner, ':until': until.getTime(), ':now': now.getTime() },
  });
  if (taken === conditionFailed) return undefined;
  return {
    release: async () => {
      await state.update(pk, {
        update: 'REMOVE #owner, #until',
        condition: '#owner = :owner',
        names,
        values: { ':owner': owner },
      });
    },
  };
}
