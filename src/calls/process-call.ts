import { logEvents } from '../platform/log-events.ts';
import { snapshotSchema } from '../ringcentral/schemas.ts';
import type { TelephonyEvent } from '../ringcentral/telephony-event.ts';
import { type CallLogDependencies, type CallLogRequest, takeCallLog } from './call-log-step.ts';
import { loadSession, recordCallEvent } from './call-store.ts';
import { underClaim } from './claim.ts';
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

  const isCoveredBy = (session: StoredSession) => isCovered(session, event, delivery);
  if (isCoveredBy(recorded) && !hasOpenWork(recorded)) return { kind: 'done' };
  if (recorded.busy) {
    const onlySound = isCoveredBy(recorded);
    if (!onlySound) return parkFor('call_log');
    if (recorded.recordings.some(isOpen)) return parkFor('recording');
  }
  const endedAt = new Date(event.body.eventTime);
  const partyExtensionId = readParties(event).find(({ status }) => status === 'disconnected')?.extensionId;
  const claim = {
    accountId,
    telephonySessionId: event.body.telephonySessionId,
    doneByOthersSince: new Date(endedAt.getTime() + readyAfterMs),
  };
  const { receiveCount } = delivery;
  return underClaim(
    deps,
    claim,
    async (session) => {
      if (isCoveredBy(session)) return processMedia(deps, session, deadline);
      const request = {
        call: session.call,
        endedAt,
        partyExtensionId,
        receiveCount,
        level: 'account',
      } as const;
      return fetchAndProcess(deps, request, deadline);
    },
    deadline,
  );
}

/** Goes on with a session whose row says what is next: sent by the sweep, an operator, or after a 429. */
export async function processSession(
  deps: ProcessCallDependencies,
  { accountId, telephonySessionId }: SessionWork,
  { receiveCount }: Delivery,
  deadline: Date,
): Promise<StepResult> {
  const key = { accountId, telephonySessionId };
  const seen = await deps.neon.run((db) => loadSession(db, key), deadline);
  if (!seen) return { kind: 'failed', reason: 'unknown_session' };
  const claim = { ...key, doneByOthersSince: wantsCallLog(seen) ? undefined : new Date(0) };
  return underClaim(
    deps,
    claim,
    async (session) => {
      if (!wantsCallLog(session)) return processMedia(deps, session, deadline);
      const { call } = session;
      const level = call.nextStep === 'extension_call_log' ? 'extension' : 'account';
      const request = { call, endedAt: call.endedAt ?? call.lastEventAt, receiveCount, level } as const;
      return fetchAndProcess(deps, request, deadline);
    },
    deadline,
  );
}

/** Without a snapshot nothing else can be done. Parked again since this message was sent, the sweep will ask. */
function wantsCallLog({ call: { snapshot, nextStep, nextAttemptAt } }: StoredSession): boolean {
  const isNext = nextStep === 'call_log' || nextStep === 'extension_call_log';
  return !snapshot || (isNext && nextAttemptAt === null);
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

const isOpen = ({
  storedAt,
  unavailableReason,
}: {
  storedAt: Date | null;
  unavailableReason: string | null;
}) => !storedAt && !unavailableReason;

/** Something is to be fetched, or a transcription to be started. */
const hasOpenWork = ({ recordings, voicemails }: StoredSession) =>
  [...recordings, ...voicemails].some(
    (media) => isOpen(media) || (media.transcriptionJob !== null && media.transcriptionStatus === 'none'),
  );

const parkFor = (step: 'call_log' | 'recording'): StepResult => ({
  kind: 'park',
  step,
  waitSeconds: 0,
  group: 'heavy',
});
