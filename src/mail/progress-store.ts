import { conditionFailed, type StateTable } from '../platform/state-table.ts';
import type { MailProgress } from './progress.ts';

/**
 * Progress in the state table, item `mail#{mailbox}#{uidValidity}`. Every change is one atomic update of set
 * members or of one counter, never a write of the whole item, so two overlapping runs lose nothing of each
 * other's. Every method rejects when the table can't be reached; the caller then takes UNSEEN mail only.
 */
export interface ProgressStore {
  /** `undefined`: this mailbox was never read under this UIDVALIDITY. */
  load(): Promise<MailProgress | undefined>;
  /** Stores the first state, unless an overlapping run was first. Answers what is stored. */
  create(first: MailProgress): Promise<MailProgress>;
  /** Stores what `advance` made of `before`. The watermark never goes back. */
  advance(before: MailProgress, after: MailProgress): Promise<void>;
  /** Counts an attempt, before the source is fetched. Answers its number, from 1. The mail is pending now. */
  countAttempt(uid: number): Promise<number>;
  /** Takes the last attempt back: what went wrong was not the mail's fault. It stays pending. */
  takeBackAttempt(uid: number): Promise<void>;
  /** The same for what only seems not to be the mail's fault: twelve times a mail. */
  excuseAttempt(uid: number): Promise<void>;
  /** The mail has its outcome, or is gone from the mailbox. */
  settle(uid: number): Promise<void>;
}

/** An hour of ticks. A mail that takes the server down for a while each time must end in quarantine too. */
const maximumExcuses = 12;

export function createProgressStore(
  state: StateTable,
  mailbox: { name: string; uidValidity: number },
): ProgressStore {
  const pk = `mail#${mailbox.name}#${mailbox.uidValidity}`;

  async function load(): Promise<MailProgress | undefined> {
    const item = await state.get(pk);
    return item && fromItem(item);
  }

  const excusesOf = (uid: number) => ({ '#excuses': `excuses#${uid}` });

  async function takeBackAttempt(uid: number): Promise<void> {
    const names = { '#uid': String(uid) };
    const lowered = await state.update(pk, {
      update: 'SET attempts.#uid = attempts.#uid - :one',
      condition: 'attempts.#uid > :one',
      names,
      values: { ':one': 1 },
    });
    if (lowered === conditionFailed) await state.update(pk, { update: 'REMOVE attempts.#uid', names });
  }

  return {
    load,
    takeBackAttempt,

    async create(first) {
      const created = await state.update(pk, {
        update: `SET watermark = :watermark, attempts = :none${first.pending.size > 0 ? ' ADD pending :pending' : ''}`,
        condition: 'attribute_not_exists(pk)',
        values: {
          ':watermark': first.watermark,
          ':none': {},
          ...(first.pending.size > 0 ? { ':pending': first.pending } : {}),
        },
      });
      return created === conditionFailed ? ((await load()) ?? first) : fromItem(created);
    },

    async advance(before, after) {
      const moved = difference(after.pending, before.pending);
      const forgotten = difference(before.settled, after.settled);
      if (after.watermark === before.watermark && moved.size === 0 && forgotten.size === 0) return;
      await state.update(pk, {
        update: [
          'SET watermark = :watermark',
          moved.size > 0 ? 'ADD pending :moved' : '',
          forgotten.size > 0 ? 'DELETE settled :forgotten' : '',
        ].join(' '),
        // Refused = an overlapping run is further on; its state holds all that ours would say.
        condition: 'watermark <= :watermark',
        values: {
          ':watermark': after.watermark,
          ...(moved.size > 0 ? { ':moved': moved } : {}),
          ...(forgotten.size > 0 ? { ':forgotten': forgotten } : {}),
        },
      });
    },

    async countAttempt(uid) {
      const item = await state.update(pk, {
        update: 'SET attempts.#uid = if_not_exists(attempts.#uid, :zero) + :one ADD pending :uid',
        names: { '#uid': String(uid) },
        values: { ':zero': 0, ':one': 1, ':uid': new Set([uid]) },
      });
      return item === conditionFailed ? 1 : (fromItem(item).attempts.get(uid) ?? 1);
    },

    async excuseAttempt(uid) {
      const excused = await state.update(pk, {
        update: 'ADD #excuses :one',
        condition: 'attribute_not_exists(#excuses) OR #excuses < :maximum',
        names: excusesOf(uid),
        values: { ':one': 1, ':maximum': maximumExcuses },
      });
      if (excused !== conditionFailed) await takeBackAttempt(uid);
    },

    async settle(uid) {
      await state.update(pk, {
        update: 'ADD settled :uid DELETE pending :uid REMOVE attempts.#uid, #excuses',
        names: { '#uid': String(uid), ...excusesOf(uid) },
        values: { ':uid': new Set([uid]) },
      });
    },
  };
}

function fromItem(item: Record<string, unknown>): MailProgress {
  const attempts = Object.entries((item.attempts ?? {}) as Record<string, number>);
  return {
    watermark: Number(item.watermark),
    settled: uidSet(item.settled),
    pending: uidSet(item.pending),
    attempts: new Map(attempts.map(([uid, count]) => [Number(uid), Number(count)])),
  };
}

/** DynamoDB drops the attribute when its last member goes. */
function uidSet(value: unknown): Set<number> {
  return value instanceof Set ? new Set([...value].map(Number)) : new Set();
}

function difference(left: ReadonlySet<number>, right: ReadonlySet<number>): Set<number> {
  return new Set([...left].filter((uid) => !right.has(uid)));
}
