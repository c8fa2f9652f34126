import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/logger.ts';
import type { Meter } from '../platform/metrics.ts';
import type { StateTable } from '../platform/state-table.ts';
import type { Accounts } from './account.ts';
import { type CallLog, createCallLog } from './call-log.ts';
import type { ReportCapacity } from './capacity-metrics.ts';
import { createCallApi } from './client.ts';
import { createGate, type Gate } from './gate.ts';
import { createLogin } from './login.ts';
import { createMedia, type Media } from './media.ts';
import { createSend } from './send.ts';
import { createSubscriptions, type Subscriptions } from './subscriptions.ts';
import { createTokens } from './tokens.ts';

export interface RingCentralPorts {
  accounts: Accounts;
  state: StateTable;
  clock: Clock;
  log: Log;
  meter: Meter;
  reportCapacity: ReportCapacity;
}

/** RingCentral as the call flow sees it: everything paced by the gate, with one token for all containers. */
export interface RingCentral {
  callLog: CallLog;
  media: Media;
  subscriptions: Subscriptions;
  gate: Gate;
}

export function createRingCentral(ports: RingCentralPorts): RingCentral {
  const { accounts, state, clock, log, meter, reportCapacity } = ports;
  const gate = createGate(state, clock);
  const send = createSend({ gate, clock, log, reportCapacity });
  const tokens = createTokens({ state, gate, accounts, login: createLogin(send), clock, log, meter });
  const callApi = createCallApi({ accounts, tokens, gate, send });
  return {
    callLog: createCallLog(callApi, clock, log),
    media: createMedia(callApi),
    subscriptions: createSubscriptions(callApi),
    gate,
  };
}
