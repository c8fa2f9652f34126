/** Work whose call ended within the last quarter of an hour is live; the rest is back-fill. */
export type WorkClass = 'live' | 'back';

/** An account's Heavy slots of the coming minute. */
export interface SlotsLeft {
  /** Can be taken at once. */
  now: number;
  /** Within the minute, those included. */
  thisMinute: number;
  secondsPerSlot: number;
}

/** Due work of one class, in slots. */
export interface ListWish {
  /** What its messages need. */
  messages: number;
  wantsList: boolean;
}

/** Parked work as a message: how many slots its processing takes. */
export interface Sendable {
  slots: number;
}

export interface PlannedMessage<Row> {
  row: Row;
  workClass: WorkClass;
  delaySeconds: number;
}

/**
 * Slots for this minute's work: one is left to grow for the next minute, whose list needs a slot at once. Not where
 * there are so few that it would be the last or the half of them.
 */
export const budgetOf = ({ thisMinute }: SlotsLeft) => (thisMinute >= 3 ? thisMinute - 1 : thisMinute);

/** What back-fill may take of this minute. */
export const backLimitOf = (slots: SlotsLeft, isLiveDue: boolean) =>
  isLiveDue ? Math.floor(budgetOf(slots) / 2) : budgetOf(slots);

/**
 * Which classes' lists are made now: live work first, and in a class the recordings that are known before the list
 * that finds more. A list needs a slot at once.
 */
export function planLists({ live, back }: Record<WorkClass, ListWish>, slots: SlotsLeft): WorkClass[] {
  const budget = budgetOf(slots);
  const isLiveDue = live.messages > 0 || live.wantsList;
  const lists: WorkClass[] = [];
  if (live.wantsList && slots.now >= 1 && live.messages < budget) lists.push('live');
  const left = Math.min(backLimitOf(slots, isLiveDue), budget - live.messages - lists.length);
  if (back.wantsList && slots.now > lists.length && back.messages < left) lists.push('back');
  return lists;
}

/**
 * Which work is sent, and with what delay: each message comes when the slots that it needs have grown, since those
 * that come earlier would only be parked again. Work that needs more slots than there ever are gets all of them, and
 * the rest of it is parked again.
 *
 * @param live in the order in which it is to be sent, as `back`
 * @param backLimit slots that are left to `back`
 */
export function planMessages<Row extends Sendable>(
  { live, back }: Record<WorkClass, readonly Row[]>,
  slots: SlotsLeft,
  backLimit: number,
): PlannedMessage<Row>[] {
  const budget = budgetOf(slots);
  const messages: PlannedMessage<Row>[] = [];
  let used = 0;
  const take = (rows: readonly Row[], workClass: WorkClass, limit: number) => {
    let left = limit;
    for (const row of rows) {
      const cost = Math.min(row.slots, limit);
      if (cost < 1 || cost > left || used + cost > budget) return;
      left -= cost;
      used += cost;
      messages.push({ row, workClass, delaySeconds: secondsUntil(used, slots) });
    }
  };
  take(live, 'live', budget);
  take(back, 'back', Math.min(backLimit, budget));
  return messages;
}

/** Until so many slots have been there, with a second for clocks and rounding; the state doesn't tell it finer. */
function secondsUntil(count: number, { now, secondsPerSlot }: SlotsLeft): number {
  return count <= now ? 0 : (count - now) * secondsPerSlot + 1;
}
