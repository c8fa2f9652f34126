import { createStageDatabase, type StageDatabase } from '../src/db/stage-database.ts';
import { createPoller } from '../src/leads/compose-poller.ts';
import { createLegacyLeadsTable } from '../src/leads/legacy-table.ts';
import type { StoreAndPublishDependencies } from '../src/leads/store-and-publish.ts';
import { createStoreDirectory } from '../src/leads/store-directory.ts';
import { createStoresTable } from '../src/leads/stores-table.ts';
import { createStoring } from '../src/leads/storing.ts';
import { openImapMailbox } from '../src/mail/imap-mailbox.ts';
import type { ImapSettings } from '../src/mail/mailbox.ts';
import { systemClock as clock } from '../src/platform/clock.ts';
import type { EventBus } from '../src/platform/events.ts';
import type { Log } from '../src/platform/logger.ts';
import type { Meter } from '../src/platform/metrics.ts';
import type { Queue } from '../src/platform/queue.ts';
import { createStateTable } from '../src/platform/state-table.ts';

export const storesTable = 'StoresV2';
export const legacyTable = 'LeadTracking-v2';

export interface PollerPlan {
  settings: ImapSettings;
  neonUrl: string;
  stateTable: string;
  bus: EventBus;
  queue: Queue;
  log: Log;
  meter: Meter;
}

/** A Neon whose connection string needs no SSM. */
export function neonAt(url: string): StageDatabase {
  return createStageDatabase({ get: async () => url, refresh: async () => url }, '/neon-database-url');
}

function storingParts({ bus, log, meter, ...plan }: PollerPlan) {
  const neon = neonAt(plan.neonUrl);
  return { stage: 'prod', neon, state: createStateTable(plan.stateTable), bus, clock, log, meter };
}

/** The steps that poller and retry processor share. */
export function storingSteps(plan: PollerPlan): StoreAndPublishDependencies {
  return createStoring(storingParts(plan), 10_000);
}

/** The poller's tick as prod has it, without the mirror and at any hour. AWS is where the environment says. */
export function createTick(plan: PollerPlan): () => Promise<void> {
  const { settings, queue, log, meter } = plan;
  const runTick = createPoller({
    ...storingParts(plan),
    directory: createStoreDirectory(createStoresTable(storesTable), clock, log),
    retryQueue: queue,
    putLegacyLead: createLegacyLeadsTable(legacyTable),
    openMailbox: (name) => openImapMailbox(settings, name),
    isOpen: () => true,
  });
  let invocations = 0;
  return async () => {
    await runTick({ id: `invocation-${++invocations}`, remainingMs: () => 240_000 }, ['INBOX']);
    meter.flush();
  };
}
