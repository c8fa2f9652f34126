import { databaseState } from '../db/errors.ts';
import type { StageDatabase } from '../db/stage-database.ts';
import type { Clock } from '../platform/clock.ts';
import type { EventBus } from '../platform/events.ts';
import type { Log } from '../platform/logger.ts';
import type { Meter } from '../platform/metrics.ts';
import type { StateTable } from '../platform/state-table.ts';
import { createBreaker } from './breaker.ts';
import { markPublished } from './ledger.ts';
import { persistLeadPipeline } from './persist.ts';
import { publishLeadCreated } from './publish.ts';
import type { StoreAndPublishDependencies } from './store-and-publish.ts';

/** What poller and retry processor store and publish with. */
export interface StoringParts {
  stage: string;
  /** The stage's own Neon. */
  neon: StageDatabase;
  state: StateTable;
  bus: EventBus;
  clock: Clock;
  log: Log;
  meter: Meter;
}

/**
 * The steps from a parsed mail to its event, put together.
 *
 * @param limitMs longest time of one Neon operation, retries included
 */
export function createStoring(parts: StoringParts, limitMs: number): StoreAndPublishDependencies {
  const { stage, neon, state, bus, clock, log, meter } = parts;
  const deadline = () => new Date(clock.now().getTime() + limitMs);
  return {
    breaker: createBreaker(state, clock, log),
    persist: (record) => neon.run((db) => persistLeadPipeline(db, record), deadline()),
    publish: (persisted) => publishLeadCreated({ bus, stage, log, meter }, persisted),
    markPublished: (mailKey) => neon.run((db) => markPublished(db, mailKey, clock.now()), deadline()),
    databaseState,
    log,
    meter,
  };
}
