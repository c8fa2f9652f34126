import { createStageDatabase } from '../db/stage-database.ts';
import { createStoreDirectory } from '../leads/store-directory.ts';
import { createStoresTable } from '../leads/stores-table.ts';
import { systemClock } from '../platform/clock.ts';
import type { Environment } from '../platform/environment.ts';
import { createLog } from '../platform/logger.ts';
import { createMeter } from '../platform/metrics.ts';
import { createObjectStore } from '../platform/object-store.ts';
import { createParameters } from '../platform/parameters.ts';
import { createQueue } from '../platform/queue.ts';
import { createStateTable } from '../platform/state-table.ts';
import { createTranscriber, parseTranscriberSettings } from '../platform/transcriber.ts';
import { createAccounts } from '../ringcentral/account.ts';
import { createCapacityMetrics } from '../ringcentral/capacity-metrics.ts';
import { createRingCentral } from '../ringcentral/ringcentral.ts';

/**
 * What transcribe-processor and call-sweep have in common: clients and caches that last as long as the container.
 *
 * @param env of either function
 * @throws Error naming a variable whose value can't be used
 */
export function buildCallService(env: Environment<'transcribe-processor'>) {
  const log = createLog();
  const meter = createMeter();
  const parameters = createParameters();
  const accounts = createAccounts(parameters, env.RINGCENTRAL_PARAMETER_PREFIX);
  const state = createStateTable(env.STATE_TABLE_NAME);
  return {
    stage: env.STAGE,
    neon: createStageDatabase(parameters, env.NEON_URL_PARAMETER),
    stores: createStoreDirectory(
      createStoresTable(env.STORES_TABLE_NAME, env.STORES_TABLE_REGION),
      systemClock,
      log,
    ),
    accounts,
    state,
    queue: createQueue(env.TRANSCRIBE_QUEUE_URL),
    objects: createObjectStore(env.RECORDINGS_BUCKET_NAME),
    transcriber: createTranscriber(env.RECORDINGS_BUCKET_NAME, parseTranscriberSettings(env)),
    ...createRingCentral({
      accounts,
      state,
      clock: systemClock,
      log,
      meter,
      reportCapacity: createCapacityMetrics(env.POWERTOOLS_METRICS_NAMESPACE, systemClock),
    }),
    clock: systemClock,
    log,
    meter,
    random: Math.random,
  };
}
