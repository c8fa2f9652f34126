import { buildContactPhoneIdentityFields } from '../../contacts/identity.ts';
import { buildTimelineValues, type TimelineValues } from '../../contacts/timeline.ts';
import type { Database } from '../../db/client.ts';
import { contactTimeline } from '../../db/schema/index.ts';
import type { CallLogSnapshot } from '../../ringcentral/schemas.ts';
import type { CallKey } from '../call-statements.ts';
import { readSnapshot } from '../read-snapshot.ts';

/** Whose call it is, if that is known. */
interface CallIdentity extends CallKey {
  contactPhone?: string | null | undefined;
  storeId?: string | null | undefined;
  franchiseId?: string | null | undefined;
}

/**
 * What the timeline says of a call whose end no webhook told: `call.logged`, once a session. Not `call.disconnected`,
 * since a webhook that comes late would tell of that a second time.
 */
export function loggedTimeline(
  { accountId, telephonySessionId, contactPhone, storeId, franchiseId }: CallIdentity,
  snapshot: CallLogSnapshot,
  endedAt: Date,
): TimelineValues[] {
  if (!contactPhone || !storeId || !franchiseId) return [];
  const { result, durationMs } = readSnapshot(snapshot, false);
  const identity = buildContactPhoneIdentityFields({ phone: contactPhone, accountId, storeId, franchiseId });
  return [
    buildTimelineValues(identity, {
      eventType: 'call.logged',
      entityId: telephonySessionId,
      occurredAt: endedAt,
      actorType: 'ringcentral_call_log',
      newValue: { result, durationMs },
      occurrence: telephonySessionId,
    }),
  ];
}

/** Statements for a batch; none for no rows. */
export const insertTimeline = (db: Database, rows: TimelineValues[]) =>
  rows.length === 0
    ? []
    : [
        db
          .insert(contactTimeline)
          .values(rows)
          .onConflictDoNothing({ target: contactTimeline.idempotencyKey }),
      ];
