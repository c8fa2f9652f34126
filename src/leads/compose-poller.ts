import type { StageDatabase } from '../db/stage-database.ts';
import type { Mailbox } from '../mail/mailbox.ts';
import { parseMail } from '../mail/parse.ts';
import { quarantineByEnvelope } from '../mail/quarantine.ts';
import type { Queue } from '../platform/queue.ts';
import { attachCancellations } from './attach-cancellations.ts';
import { emitLeadGauges } from './gauges.ts';
import { findUnpublished } from './ledger.ts';
import type { PutLegacyLead } from './legacy-table.ts';
import { createMirror } from './mirror.ts';
import { republishOutbox } from './outbox.ts';
import { persistLeadPipeline } from './persist.ts';
import type { Store } from './store.ts';
import type { StoreDirectory } from './store-directory.ts';
import { createStoring, type StoringParts } from './storing.ts';
import { takeMail } from './take-mail.ts';
import { runTick } from './tick.ts';

/** Longest time for one mail's write, retries included; after that the retry queue takes it. */
const persistLimitMs = 10_000;
const mirrorLimitMs = 3_000;
const housekeepingLimitMs = 10_000;

/** The outside of the poller; what survives from one tick to the next. */
export interface PollerParts extends StoringParts {
  /** The test stage's Neon, where leads are mirrored into it. */
  mirrorNeon?: StageDatabase;
  directory: StoreDirectory;
  retryQueue: Queue;
  /** Absent where the transitional table is switched off. */
  putLegacyLead?: PutLegacyLead;
  openMailbox(name: string): Promise<Mailbox>;
  /** Is the store in its opening hours? */
  isOpen(store: Store, now: Date): boolean;
}

interface Invocation {
  id: string;
  remainingMs(): number;
}

/** The poller put together: answers the function that runs one tick over these folders. Errors as `runTick`. */
export function createPoller(parts: PollerParts) {
  const { neon, mirrorNeon, directory, clock, log, meter } = parts;
  const within = (milliseconds: number) => new Date(clock.now().getTime() + milliseconds);
  const storing = createStoring(parts, persistLimitMs);
  const isAnyOpen = async () => (await directory.all()).some((store) => parts.isOpen(store, clock.now()));

  function mirrorOfTick(to: StageDatabase) {
    return createMirror(
      (record) => to.run((db) => persistLeadPipeline(db, record, { mirror: true }), within(mirrorLimitMs)),
      log,
      meter,
    );
  }

  async function keepHouse(remainingMs: () => number): Promise<void> {
    await neon.run(async (db) => {
      const outbox = { ...storing, findUnpublished: findUnpublished.bind(null, db), remainingMs };
      await republishOutbox(outbox, clock.now());
      await emitLeadGauges({ db, log, meter, isOpen: isAnyOpen }, clock.now());
      await attachCancellations(db, clock.now());
    }, within(housekeepingLimitMs));
  }

  return ({ id, remainingMs }: Invocation, mailboxes: readonly string[]) => {
    const taking = { ...parts, ...storing, ...(mirrorNeon && { mirror: mirrorOfTick(mirrorNeon) }) };
    return runTick(
      {
        ...parts,
        invocationId: id,
        parse: (source) => parseMail(source),
        quarantine: quarantineByEnvelope,
        take: (parsed, position) => takeMail(taking, parsed, position),
        housekeeping: () => keepHouse(remainingMs),
        remainingMs,
      },
      mailboxes,
    );
  };
}
