/** The most mails that one tick takes. */
const maximumCandidates = 200;
/** In a backlog so many of these places go to the newest mails: their five golden minutes still run. */
const newestPlaces = 50;
/** Attempts that end without an outcome before a mail is quarantined by its envelope. */
const maximumAttempts = 3;
/** At the first run on a mailbox (or a new UIDVALIDITY) mail this young counts although it is SEEN. */
export const lookBackMs = 3 * 24 * 60 * 60_000;

/** UIDs kept in either set; at about 7 bytes each the item stays far below DynamoDB's 400 KB. */
const maximumRemembered = 10_000;

/** How far a mailbox is done: the state item of one (mailbox, UIDVALIDITY). */
export interface MailProgress {
  /** Every mail up to this UID is settled, older than our time, or in `pending`. */
  watermark: number;
  /** Settled above the watermark, and settled mail that the mailbox still shows as UNSEEN. */
  settled: ReadonlySet<number>;
  /** Not settled: begun without an outcome, or young enough at the first run. May lie below the watermark. */
  pending: ReadonlySet<number>;
  /** Attempts without an outcome so far, by UID. */
  attempts: ReadonlyMap<number, number>;
}

/** What the mailbox showed at the start of a tick, UIDs ascending. */
export interface MailboxView {
  unseen: readonly number[];
  /** Every existing UID above the watermark. */
  above: readonly number[];
}

/**
 * The state of a mailbox that was never read (or was renumbered): from UIDNEXT on, plus `recent`, the UIDs
 * of the last three days. UNSEEN mail needs no entry: the search finds it. Never the mailbox's history.
 */
export function firstProgress(uidNext: number, recent: readonly number[]): MailProgress {
  return {
    watermark: Math.max(0, uidNext - 1),
    settled: new Set(),
    pending: newest(recent, maximumRemembered),
    attempts: new Map(),
  };
}

/**
 * UNSEEN, above the watermark, or pending; never what is settled. At most 200, oldest first; in a backlog
 * every fourth place goes to the newest, newest first, so that a tick that runs out of time has served both
 * ends. A mail that already cost an attempt comes last: if it kills the run, the others are done.
 */
export function selectCandidates(progress: MailProgress, view: MailboxView): number[] {
  const above = view.above.filter((uid) => uid > progress.watermark);
  const waiting = [...new Set([...view.unseen, ...above, ...progress.pending])]
    .filter((uid) => !progress.settled.has(uid))
    .sort((a, b) => a - b);
  const tried = waiting.filter((uid) => progress.attempts.has(uid));
  const fresh = waiting.filter((uid) => !progress.attempts.has(uid));
  if (waiting.length <= maximumCandidates) return [...fresh, ...tried];

  const last = fresh.slice(-newestPlaces).reverse();
  const first = [...fresh.slice(0, fresh.length - last.length), ...tried];
  return interleave(first.slice(0, maximumCandidates - last.length), last);
}

/** After every third of `first` one of `second`. */
function interleave(first: readonly number[], second: readonly number[]): number[] {
  return first.flatMap((uid, index) => {
    const guest = index % 3 === 2 ? second[(index - 2) / 3] : undefined;
    return guest === undefined ? [uid] : [uid, guest];
  });
}

/**
 * Moves the watermark over the settled mails at its front (a UID that no longer exists holds nobody up), and
 * forgets settled mail below it, except what is still UNSEEN: that could not be flagged and would come back
 * at every tick. Should one mail hold up more than 10,000 settled ones, it moves to `pending` and the
 * watermark passes it, so that the state stays small.
 */
export function advance(progress: MailProgress, view: MailboxView): MailProgress {
  const pending = new Set(progress.pending);
  let ahead = [...progress.settled].filter((uid) => uid > progress.watermark).length;
  let { watermark } = progress;
  for (const uid of view.above) {
    if (uid <= watermark) continue;
    if (progress.settled.has(uid)) ahead -= 1;
    else if (ahead > maximumRemembered) pending.add(uid);
    else {
      watermark = uid - 1;
      break;
    }
    watermark = uid;
  }

  const unseen = new Set(view.unseen);
  const settled = [...progress.settled].sort((a, b) => a - b);
  const stillUnseen = settled.filter((uid) => uid <= watermark && unseen.has(uid));
  const above = settled.filter((uid) => uid > watermark);
  return {
    ...progress,
    watermark,
    settled: new Set([...newest(stillUnseen, maximumRemembered), ...above]),
    pending,
  };
}

/** Is this attempt (counted from 1) one too many? Then the mail is quarantined by its envelope, unread. */
export function attemptsExhausted(attempt: number): boolean {
  return attempt > maximumAttempts;
}

function newest(uids: readonly number[], count: number): Set<number> {
  return new Set(uids.slice(-count));
}
