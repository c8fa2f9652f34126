import type { StageDatabase } from '../../db/stage-database.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/logger.ts';
import type { Meter } from '../../platform/metrics.ts';
import type { Queue } from '../../platform/queue.ts';
import type { StateTable } from '../../platform/state-table.ts';
import type { Accounts } from '../../ringcentral/account.ts';
import type { CallLog } from '../../ringcentral/call-log.ts';
import type { Gate } from '../../ringcentral/gate.ts';
import type { Subscriptions } from '../../ringcentral/subscriptions.ts';
import type { CallStores } from '../place-event.ts';

export interface SweepDependencies {
  neon: StageDatabase;
  state: StateTable;
  stores: CallStores;
  accounts: Pick<Accounts, 'find'>;
  gate: Pick<Gate, 'status'>;
  callLog: Pick<CallLog, 'listCallLog' | 'fetchRecords'>;
  subscriptions: Subscriptions;
  /** transcribe-queue */
  queue: Pick<Queue, 'send'>;
  /** Where RingCentral posts events to: `{webhookUrl}/{accountId}`. */
  webhookUrl: string;
  /** Looks up an account's transcription jobs that have been open for too long. */
  checkTranscriptions(accountId: string, deadline: Date): Promise<unknown>;
  clock: Clock;
  log: Log;
  meter: Meter;
}
