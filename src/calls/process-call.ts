import { logEvents } from '../platform/log-events.ts';
import { snapshotSchema } from '../ringcentral/schemas.ts';
import type { TelephonyEvent } from '../ringcentral/telephony-event.ts';
import { type CallLogDependencies, type CallLogRequest, takeCallLog } from './call-log-step.ts';
import { loadSession, recordCallEvent } from './call-store.ts';
import { readParties } from './lifecycle.ts';
import type { SessionWork, TelephonyWork } from './message.ts';
import { hasDisconnected } from './party-status.ts';
import { type CallStores, placeEvent } from './place-event.ts';
import { type MediaDependencies, processRecording } from './recording.ts';
import { type StepResult, type StoredSession, worstOf } from './step.ts';
import { processVoicemail } from './voicemail.ts';

export interface ProcessCallDependencies extends CallLogDependencies, MediaDependencies {
  stores: CallStores;
}

/** How SQS delivered the message. */
export interface Delivery {
  /** This receive included. */
  receiveCount: number;
  /** The message's first receive. */
  firstReceivedAt: Date;
}

/** Before so long after a Disconnected its call log says nothing yet. */
const readyAfterMs = 90_000;

/**
 * What a webhook's message is about: the row, and once somebody has hung up, call log, recordings and voicemail.
 * At most one look into the call log; none when the account has work parked, or the stored snapshot covers this
 * event.
 */
export async function processTelephony(
  deps: ProcessCallDependencies,
  { accountId, event }: TelephonyWork,
  delivery: Delivery,
  deadline: Date,
): Promise<StepResult> {
  const placed = await placeEvent(deps.stores, accountId, event);
  if (!placed) return { kind: 'done' };
  const recorded = await deps.neon.run((db) => recordCallEvent(db, placed, deps.clock.now()), deadline);
  deps.log.info(logEvents.callEventRecorded, {
    account_id: accountId,
    telephony_session_id: event.body.telephonySessionId,
    sequence: event.body.sequence,
    status: recorded.call.status,
    store_id: recorded.call.storeId,
    timeline_rows: recorded.timelineRows,
  });
  if (!hasDisconnected(event)) return { kind: 'done' };

  const { busy } = recorded;
  if (isCovered(recorded, event, delivery)) {
    return busy && hasOpenRecording(recorded) ? parkFor('recording') : processMedia(deps, recorded, deadline);
  }
  if (busy) return parkFor('call_log');
  const request = {
    call: recorded.call,
    endedAt: new Date(event.body.eventTime),
    partyExtensionId: readParties(event).find(({ status }) => status === 'disconnected')?.extensionId,
    receiveCount: delivery.receiveCount,
  };
  return fetchAndProcess(deps, request, deadline);
}

/** Goes on with a session whose row says what is next: sent by the sweep, an operator, or after a 429. */
export async function processSession(
  deps: ProcessCallDependencies,
  { accountId, telephonySessionId }: SessionWork,
  { receiveCount }: Delivery,
  deadline: Date,
): Promise<StepResult> {
  const session = await deps.neon.run((db) => loadSession(db, { accountId, telephonySessionId }), deadline);
  if (!session) return { kind: 'failed', reason: 'unknown_session' };
  const { call } = session;
  const wantsCallLog = call.nextStep === 'call_log' || call.nextStep === 'extension_call_log';
  if (call.snapshot && !wantsCallLog) return processMedia(deps, session, deadline);
  return fetchAndProcess(deps, { call, endedAt: call.endedAt ?? call.lastEventAt, receiveCount }, deadline);
}

async function fetchAndProcess(
  deps: ProcessCallDependencies,
  request: Omit<CallLogRequest, 'partyExtensionId'> & { partyExtensionId?: string | null | undefined },
  deadline: Date,
): Promise<StepResult> {
  const taken = await takeCallLog(
    deps,
    { ...request, partyExtensionId: request.partyExtensionId ?? undefined },
    deadline,
  );
  return 'kind' in taken ? taken : processMedia(deps, taken.session, deadline);
}

/** The steps after the call log, each skipped where it is finished. A voicemail doesn't wait for a recording. */
async function processMedia(
  deps: ProcessCallDependencies,
  session: StoredSession,
  deadline: Date,
): Promise<StepResult> {
  const snapshot = snapshotSchema.parse(session.call.snapshot);
  const recording = await processRecording(deps, snapshot, session, deadline);
  const voicemail = await processVoicemail(deps, session, deadline);
  return worstOf([recording, voicemail]);
}

/**
 * Whether the stored snapshot knows how this event ended: it is of a time when RingCentral had written that down,
 * or this very message has fetched it. A snapshot without recordings never does: a fresh one may have them.
 */
function isCovered(
  { call, recordings }: StoredSession,
  { body }: TelephonyEvent,
  { firstReceivedAt }: Delivery,
): boolean {
  if (!call.snapshotAt || recordings.length === 0) return false;
  const writtenDownAt = new Date(body.eventTime).getTime() + readyAfterMs;
  return call.snapshotAt.getTime() >= Math.min(writtenDownAt, firstReceivedAt.getTime());
}

const hasOpenRecording = ({ recordings }: StoredSession) =>
  recordings.some(({ storedAt, unavailableReason }) => !storedAt && !unavailableReason);

const parkFor = (step: 'call_log' | 'recording'): StepResult => ({
  kind: 'park',
  step,
  waitSeconds: 0,
  group: 'heavy',
});
