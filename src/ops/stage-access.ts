import { SSMProvider } from '@aws-lambda-powertools/parameters/ssm';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { parseQuietHours, parseTimeZone, resolveContactHours } from '../contacts/contact-hours.ts';
import type { Database } from '../db/client.ts';
import { createStageDatabase } from '../db/stage-database.ts';
import type { Store } from '../leads/store.ts';
import { createStoreDirectory, type StoreDirectory } from '../leads/store-directory.ts';
import { createStoresTable } from '../leads/stores-table.ts';
import { parseImapSettings } from '../mail/imap-settings.ts';
import type { ImapSettings } from '../mail/mailbox.ts';
import { awsClientConfig } from '../platform/aws-client-config.ts';
import { systemClock } from '../platform/clock.ts';
import { createEventBus, type EventBus } from '../platform/events.ts';
import type { Log } from '../platform/logger.ts';
import { createParameters } from '../platform/parameters.ts';
import { createStateTable, type StateTable } from '../platform/state-table.ts';
import { createAccounts } from '../ringcentral/account.ts';
import { createRingCentral, type RingCentral } from '../ringcentral/ringcentral.ts';
import type { Deployment, Side, StageSettings } from './deployment.ts';
import { type OperatorQueue, openQueue } from './queues.ts';
import { noMeter } from './terminal.ts';

/** The account's own bus, on which the poller publishes. */
const busName = 'default';
const databaseLimitMs = 20_000;

/** A deployed stage with the operator's own credentials (the SDK's default chain). Nothing is opened before it is used. */
export interface StageAccess {
  settings: StageSettings;
  /** Runs idempotent work on the stage's Neon, for 20 seconds at most. */
  neon<T>(work: (db: Database) => Promise<T>): Promise<T>;
  directory: StoreDirectory;
  bus: EventBus;
  imap(): Promise<ImapSettings>;
  queue(base: string, side: Side): Promise<OperatorQueue>;
  /** Gates, tokens and parked accounts of the call flow. */
  callState: StateTable;
  /** RingCentral with the stage's own applications, gate and tokens. */
  ringCentral(): RingCentral;
  /** Where the store's people live; of no store the stage's own. */
  timeZoneOf(store: Store | undefined): string;
}

export function openStage(
  { regions, physicalName }: Deployment,
  settings: StageSettings,
  log: Log,
): StageAccess {
  const { name, imapParameter, neonUrlParameter, stores } = settings;
  const inLeads = { ...awsClientConfig, region: regions.leads };
  const inCalls = { ...awsClientConfig, region: regions.calls };
  const callState = createStateTable(
    physicalName('CallyticsState', name, regions.calls),
    new DynamoDBClient(inCalls),
  );
  const parameters = createParameters(new SSMProvider({ clientConfig: inLeads }));
  const neon = createStageDatabase(parameters, neonUrlParameter);
  const directory = createStoreDirectory(
    createStoresTable(stores.tableName, stores.region),
    systemClock,
    log,
  );
  const defaultHours = {
    timeZone: parseTimeZone(settings.defaultTimeZone),
    quietHours: parseQuietHours(settings.quietHours),
  };
  return {
    settings,
    neon: (work) => neon.run(work, new Date(Date.now() + databaseLimitMs)),
    directory,
    bus: createEventBus(busName, new EventBridgeClient(inLeads)),
    imap: async () => parseImapSettings(await parameters.get(imapParameter)),
    queue: (base, side) => openQueue(physicalName(base, name, regions[side]), regions[side]),
    callState,
    ringCentral: () =>
      createRingCentral({
        accounts: createAccounts(
          createParameters(new SSMProvider({ clientConfig: inCalls })),
          settings.ringCentral.parameterPrefix,
        ),
        state: callState,
        clock: systemClock,
        log,
        meter: noMeter,
        // The functions' own metrics must not show an operator's requests.
        reportCapacity: () => undefined,
      }),
    timeZoneOf: (store) => resolveContactHours(store, defaultHours).hours.timeZone,
  };
}
