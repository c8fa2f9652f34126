import type { Context } from 'aws-lambda';
import { isOpen } from './contacts/opening-hours.ts';
import { databaseState } from './db/errors.ts';
import { createStageDatabase } from './db/stage-database.ts';
import { createBreaker } from './leads/breaker.ts';
import { emitLeadGauges } from './leads/gauges.ts';
import { findUnpublished, markPublished } from './leads/ledger.ts';
import { createLegacyLeadsTable } from './leads/legacy-table.ts';
import { createMirror } from './leads/mirror.ts';
import { republishOutbox } from './leads/outbox.ts';
import { persistLeadPipeline } from './leads/persist.ts';
import { publishLeadCreated } from './leads/publish.ts';
import type { StoreAndPublishDependencies } from './leads/store-and-publish.ts';
import { createStoreDirectory } from './leads/store-directory.ts';
import { createStoresTable } from './leads/stores-table.ts';
import { takeMail } from './leads/take-mail.ts';
import { runTick } from './leads/tick.ts';
import { openImapMailbox } from './mail/imap-mailbox.ts';
import { parseImapSettings } from './mail/imap-settings.ts';
import { MailboxError } from './mail/mailbox.ts';
import { parseMail } from './mail/parse.ts';
import { quarantineByEnvelope } from './mail/quarantine.ts';
import { systemClock as clock } from './platform/clock.ts';
import { readEnvironment } from './platform/environment.ts';
import { createEventBus } from './platform/events.ts';
import { lazyService } from './platform/lazy-service.ts';
import { createLog } from './platform/logger.ts';
import { createMeter } from './platform/metrics.ts';
import { createParameterClient } from './platform/parameter-client.ts';
import { createParameters } from './platform/parameters.ts';
import { createQueue } from './platform/queue.ts';
import { createStateTable } from './platform/state-table.ts';

/** Longest time for one mail's write, retries included; after that the retry queue takes it. */
const persistLimitMs = 10_000;
const mirrorLimitMs = 3_000;
const housekeepingLimitMs = 10_000;

const log = createLog();
const meter = createMeter();
const poller = lazyService(async () => buildPoller());

/** EventBridge's five-minute schedule. Fails (and counts as a Lambda error) when a mailbox can't be read. */
export async function handler(_event: unknown, context: Context): Promise<unknown> {
  try {
    return await (await poller()).tick(context);
  } finally {
    meter.flush();
  }
}

/** What survives from one tick to the next: clients and caches. */
function buildPoller() {
  const env = readEnvironment('poller');
  const { NEON_MIRROR_URL_PARAMETER, LEGACY_LEADS_TABLE_NAME } = env;
  const parameters = createParameters();
  const imap = createParameterClient(parameters, env.IMAP_PARAMETER, parseImapSettings, isLoginRefused);
  const neon = createStageDatabase(parameters, env.NEON_URL_PARAMETER);
  const mirrorNeon = NEON_MIRROR_URL_PARAMETER
    ? createStageDatabase(parameters, NEON_MIRROR_URL_PARAMETER)
    : undefined;
  const state = createStateTable(env.STATE_TABLE_NAME);
  const bus = createEventBus(env.EVENT_BUS_NAME);
  const directory = createStoreDirectory(
    createStoresTable(env.STORES_TABLE_NAME, env.STORES_TABLE_REGION),
    clock,
    log,
  );
  const storing: StoreAndPublishDependencies = {
    breaker: createBreaker(state, clock, log),
    persist: (record) => neon.run((db) => persistLeadPipeline(db, record), within(persistLimitMs)),
    publish: (persisted) => publishLeadCreated({ bus, stage: env.STAGE, log, meter }, persisted),
    markPublished: (mailKey) =>
      neon.run((db) => markPublished(db, mailKey, clock.now()), within(persistLimitMs)),
    databaseState,
    log,
    meter,
  };
  const taking = {
    ...storing,
    directory,
    retryQueue: createQueue(env.NEON_WRITE_QUEUE_URL),
    clock,
    ...(LEGACY_LEADS_TABLE_NAME ? { putLegacyLead: createLegacyLeadsTable(LEGACY_LEADS_TABLE_NAME) } : {}),
  };
  const anyStoreOpen = async () => (await directory.all()).some((store) => isOpen(store, clock.now()));

  async function tick(context: Context) {
    const remainingMs = () => context.getRemainingTimeInMillis();
    const deps = {
      ...taking,
      ...(mirrorNeon
        ? {
            mirror: createMirror(
              (record) =>
                mirrorNeon.run(
                  (db) => persistLeadPipeline(db, record, { mirror: true }),
                  within(mirrorLimitMs),
                ),
              log,
              meter,
            ),
          }
        : {}),
    };
    const housekeeping = () =>
      neon.run(async (db) => {
        const outbox = { ...storing, findUnpublished: findUnpublished.bind(null, db), remainingMs };
        await republishOutbox(outbox, clock.now());
        await emitLeadGauges({ db, log, meter, isOpen: anyStoreOpen }, clock.now());
      }, within(housekeepingLimitMs));
    const { mailboxes } = await imap.run(async (settings) => settings);
    return runTick(
      {
        state,
        openMailbox: (name) => imap.run((settings) => openImapMailbox(settings, name)),
        invocationId: context.awsRequestId,
        parse: (source) => parseMail(source),
        quarantine: quarantineByEnvelope,
        take: (parsed, position) => takeMail(deps, parsed, position),
        housekeeping,
        remainingMs,
        clock,
        log,
        meter,
      },
      mailboxes,
    );
  }
  return { tick };
}

const within = (milliseconds: number) => new Date(clock.now().getTime() + milliseconds);

function isLoginRefused(error: unknown): boolean {
  return error instanceof MailboxError && error.code === 'login_refused';
}
