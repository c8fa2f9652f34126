import type { StateTable } from '../platform/state-table.ts';
import type { Mailbox } from './mailbox.ts';
import { advance, firstProgress, lookBackMs, selectCandidates } from './progress.ts';
import { createProgressStore, type ProgressStore } from './progress-store.ts';

/** Which mails this tick takes, and the book-keeping of each. */
export interface TickProgress
  extends Pick<ProgressStore, 'countAttempt' | 'takeBackAttempt' | 'excuseAttempt' | 'settle'> {
  /** UIDs in the order in which to take them. One may be gone by now: `fetch` says so, then settle it. */
  candidates: number[];
}

/**
 * Opens the books on one mailbox for one tick: loads the progress (or starts it), looks at the mailbox with
 * two searches, moves the watermark over what the last tick settled.
 *
 * @throws MailboxError from the mailbox; anything else is the state table, which can't be reached: then
 *   `unseenOnly` is the way to go on.
 */
export async function beginTick(state: StateTable, mailbox: Mailbox, now: Date): Promise<TickProgress> {
  const store = createProgressStore(state, mailbox);
  const before = (await store.load()) ?? (await store.create(await lookBack(mailbox, now)));
  const view = { unseen: await mailbox.unseen(), above: await mailbox.from(before.watermark + 1) };
  const after = advance(before, view);
  await store.advance(before, after);
  return { ...store, candidates: selectCandidates(after, view) };
}

async function lookBack(mailbox: Mailbox, now: Date) {
  return firstProgress(mailbox.uidNext, await mailbox.since(new Date(now.getTime() - lookBackMs)));
}

/** The books while the state table can't be reached: UNSEEN mail, no memory. Flags and keys carry the rest. */
export async function unseenOnly(mailbox: Mailbox): Promise<TickProgress> {
  const nothingKnown = firstProgress(mailbox.uidNext, []);
  return {
    candidates: selectCandidates(nothingKnown, { unseen: await mailbox.unseen(), above: [] }),
    countAttempt: async () => 1,
    takeBackAttempt: async () => {},
    excuseAttempt: async () => {},
    settle: async () => {},
  };
}
