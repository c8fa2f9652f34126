import type { StateTable } from '../../platform/state-table.ts';
import { readItem, type VersionedItem, writeItem } from '../../ringcentral/versioned-item.ts';

/**
 * When an account's passes and checks are next due, how far a long one has come, and what lists have come up against.
 * Attributes of the state item `sweep#{accountId}`, all epoch milliseconds.
 */
interface Times {
  /** Next pass over the last two hours, and next one over the last 26. */
  pass_at?: number | undefined;
  full_pass_at?: number | undefined;
  /** What began before this is still to be listed by the full pass that broke off. */
  full_pass_to?: number | undefined;
  /** When the last full pass that came to its end began. */
  full_passed_at?: number | undefined;
  subscription_at?: number | undefined;
  /** When there was last a subscription that works. */
  subscribed_at?: number | undefined;
  transcriptions_at?: number | undefined;
  /** The account's call log is forbidden to us, and until then no list of parked sessions is asked for. */
  forbidden_until?: number | undefined;
  /** A list broke off: until then parked sessions that began in this stretch are asked for one by one. */
  alone_from?: number | undefined;
  alone_before?: number | undefined;
  alone_until?: number | undefined;
}

export type Task = 'pass_at' | 'full_pass_at' | 'subscription_at' | 'transcriptions_at';

const tasks: readonly Task[] = ['pass_at', 'full_pass_at', 'subscription_at', 'transcriptions_at'];

/** An account's schedule. Only the sweep writes it, under its lease. */
export class Schedule {
  readonly #state: StateTable;
  readonly #key: string;
  #item: VersionedItem;

  private constructor(state: StateTable, key: string, item: VersionedItem) {
    this.#state = state;
    this.#key = key;
    this.#item = item;
  }

  /** @throws StateUnavailableError */
  static async read(state: StateTable, accountId: string): Promise<Schedule> {
    const key = `sweep#${accountId}`;
    return new Schedule(state, key, await readItem(state, key));
  }

  at(name: keyof Times): number | undefined {
    const value = this.#item[name];
    return value === undefined ? undefined : Number(value);
  }

  due(now: Date): ReadonlySet<Task> {
    return new Set(tasks.filter((task) => (this.at(task) ?? 0) <= now.getTime()));
  }

  /**
   * Where another run wrote meanwhile (a lease that was lost), its word stands.
   *
   * @throws StateUnavailableError
   */
  async set(changes: Times): Promise<void> {
    this.#item = (await writeItem(this.#state, this.#key, this.#item, { ...changes })) ?? this.#item;
  }
}
