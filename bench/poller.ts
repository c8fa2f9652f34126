import { databaseState } from '../src/db/errors.ts';
import { createStageDatabase, type StageDatabase } from '../src/db/stage-database.ts';
import { createBreaker } from '../src/leads/breaker.ts';
import { emitLeadGauges } from '../src/leads/gauges.ts';
import { findUnpublished, markPublished } from '../src/leads/ledger.ts';
import { createLegacyLeadsTable } from '../src/leads/legacy-table.ts';
import { republishOutbox } from '../src/leads/outbox.ts';
import { persistLeadPipeline } from '../src/leads/persist.ts';
import { publishLeadCreated } from '../src/leads/publish.ts';
import type { StoreAndPublishDependencies } from '../src/leads/store-and-publish.ts';
import { createStoreDirectory } from '../src/leads/store-directory.ts';
import { createStoresTable } from '../src/leads/stores-table.ts';
import { takeMail } from '../src/leads/take-mail.ts';
import { runTick } from '../src/leads/tick.ts';
import { openImapMailbox } from '../src/mail/imap-mailbox.ts';
import type { ImapSettings } from '../src/mail/mailbox.ts';
import { parseMail } from '../src/mail/parse.ts';
import { quarantineByEnvelope } from '../src/mail/quarantine.ts';
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

const within = (milliseconds: number) => new Date(clock.now().getTime() + milliseconds);

/** A Neon whose connection string needs no SSM. */
export function neonAt(url: string): StageDatabase {
  return createStageDatabase({ get: async () => url, refresh: async () => url }, '/neon-database-url');
}

/** The steps that poller and retry processor share, wired as in their handlers. */
export function storingSteps(plan: PollerPlan): StoreAndPublishDependencies {
  const { bus, log, meter } = plan;
  const neon = neonAt(plan.neonUrl);
  return {
    breaker: createBreaker(createStateTable(plan.stateTable), clock, log),
    persist: (record) => neon.run((db) => persistLeadPipeline(db, record), within(10_000)),
    publish: (persisted) => publishLeadCreated({ bus, stage: 'prod', log, meter }, persisted),
    markPublished: (mailKey) => neon.run((db) => markPublished(db, mailKey, clock.now()), within(10_000)),
    databaseState,
    log,
    meter,
  };
}

/** The poller's tick, wired as in `src/poller.ts` for prod, without the mirror. AWS is where the environment says. */
export function createTick(plan: PollerPlan): () => Promise<void> {
  const { settings, queue, log, meter } = plan;
  const state = createStateTable(plan.stateTable);
  const neon = neonAt(plan.neonUrl);
  const directory = createStoreDirectory(createStoresTable(storesTable), clock, log);
  const storing = storingSteps(plan);
  const taking = {
    ...storing,
    directory,
    retryQueue: queue,
    clock,
    putLegacyLead: createLegacyLeadsTable(legacyTable),
  };
  const remainingMs = () => 240_000;
  let invocations = 0;

  return async () => {
    await runTick(
      {
        state,
        openMailbox: (name) => openImapMailbox(settings, name),
        invocationId: `invocation-${++invocations}`,
        parse: (source) => parseMail(source),
        quarantine: quarantineByEnvelope,
        take: (parsed, position) => takeMail(taking, parsed, position),
        housekeeping: () =>
          neon.run(async (db) => {
            const outbox = { ...storing, findUnpublished: findUnpublished.bind(null, db), remainingMs };
            await republishOutbox(outbox, clock.now());
            await emitLeadGauges({ db, log, meter, isOpen: async () => true }, clock.now());
          }, within(10_000)),
        remainingMs,
        clock,
        log,
        meter,
      },
      ['INBOX'],
    );
    meter.flush();
  };
}
