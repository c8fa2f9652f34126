import { buildTimelineValues, type TimelineEvent, type TimelineValues } from '../contacts/timeline.ts';
import type { CallRow } from '../db/schema/index.ts';
import { identityOfCall } from './call-store.ts';

/** A timeline row of a call's recording or voicemail; none while nobody knows contact and store. */
export function buildMediaTimeline(
  call: CallRow,
  event: Pick<TimelineEvent, 'eventType' | 'occurredAt' | 'newValue' | 'occurrence'>,
): TimelineValues | undefined {
  const identity = identityOfCall(call);
  return (
    identity &&
    buildTimelineValues(identity, {
      ...event,
      entityId: call.telephonySessionId,
      actorType: 'ringcentral_webhook',
    })
  );
}
