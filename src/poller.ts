import type { Context } from 'aws-lambda';
import { isOpen } from './contacts/opening-hours.ts';
import { createStageDatabase } from './db/stage-database.ts';
import { createPoller } from './leads/compose-poller.ts';
import { createLegacyLeadsTable } from './leads/legacy-table.ts';
import { createStoreDirectory } from './leads/store-directory.ts';
import { createStoresTable } from './leads/stores-table.ts';
import { openImapMailbox } from './mail/imap-mailbox.ts';
import { parseImapSettings } from './mail/imap-settings.ts';
import { MailboxError } from './mail/mailbox.ts';
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
  const { NEON_MIRROR_URL_PARAMETER: mirrorUrl, LEGACY_LEADS_TABLE_NAME: legacyTable } = env;
  const parameters = createParameters();
  const imap = createParameterClient(parameters, env.IMAP_PARAMETER, parseImapSettings, isLoginRefused);
  const stores = createStoresTable(env.STORES_TABLE_NAME, env.STORES_TABLE_REGION);
  const runTick = createPoller({
    stage: env.STAGE,
    neon: createStageDatabase(parameters, env.NEON_URL_PARAMETER),
    ...(mirrorUrl ? { mirrorNeon: createStageDatabase(parameters, mirrorUrl) } : {}),
    state: createStateTable(env.STATE_TABLE_NAME),
    bus: createEventBus(env.EVENT_BUS_NAME),
    directory: createStoreDirectory(stores, clock, log),
    retryQueue: createQueue(env.NEON_WRITE_QUEUE_URL),
    ...(legacyTable ? { putLegacyLead: createLegacyLeadsTable(legacyTable) } : {}),
    openMailbox: (name) => imap.run((settings) => openImapMailbox(settings, name)),
    isOpen,
    clock,
    log,
    meter,
  });

  async function tick(context: Context) {
    const { mailboxes } = await imap.run(async (settings) => settings);
    const invocation = {
      id: context.awsRequestId,
      remainingMs: () => context.getRemainingTimeInMillis(),
    };
    return runTick(invocation, mailboxes);
  }
  return { tick };
}

function isLoginRefused(error: unknown): boolean {
  return error instanceof MailboxError && error.code === 'login_refused';
}
