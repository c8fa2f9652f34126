import { buildContactPhoneIdentityFields, type ContactIdentity } from '../contacts/identity.ts';
import { buildTimelineValues, type TimelineValues } from '../contacts/timeline.ts';
import type { calls, StateChange } from '../db/schema/index.ts';
import { normaliseNumber } from '../ringcentral/numbers.ts';
import type { TelephonyEvent, TelephonyParty } from '../ringcentral/telephony-event.ts';
import { isTerminal, statusOf } from './party-status.ts';

/** Who a call belongs to. */
export interface CallStore {
  storeId: string;
  franchiseId: string;
}

/** What one event tells of one party. */
export interface PartyState {
  partyId: string;
  /** RingCentral's code in lower case: 'setup', 'answered', 'disconnected', … */
  status: string;
  reason: string | null;
  direction: 'inbound' | 'outbound' | null;
  /** E.164, here and below; null for anonymous callers and mere extensions. */
  fromNumber: string | null;
  toNumber: string | null;
  /** The number of whoever isn't one of us. */
  contactPhone: string | null;
  /** Our side's number. */
  businessNumber: string | null;
  extensionId: string | null;
  /** All extensions that the event names with this party, its own first. */
  extensionIds: string[];
  /** The event names a recording of this party. */
  hasRecording: boolean;
}

/** A party with the store that its call belongs to, if any. */
export interface PlacedParty extends PartyState {
  store: CallStore | undefined;
}

/** An event of a session as rows are made of it. */
export interface CallEvent {
  accountId: string;
  event: TelephonyEvent;
  /** The event's parties without those that receive a fax; never empty. */
  parties: readonly PlacedParty[];
}

/** The parties of an event. Those that receive a fax are no call, and left out. */
export function readParties({ body }: TelephonyEvent): PartyState[] {
  return body.parties.map(readParty).filter(({ status }) => status !== 'faxreceive');
}

function readParty(party: TelephonyParty): PartyState {
  const direction = directionOf(party.direction);
  const [outside, inside] = direction === 'outbound' ? [party.to, party.from] : [party.from, party.to];
  const numberOf = (side: TelephonyParty['from']) => normaliseNumber(side?.phoneNumber) ?? null;
  return {
    partyId: party.id,
    status: statusOf(party),
    reason: party.status.reason ?? null,
    direction,
    fromNumber: numberOf(party.from),
    toNumber: numberOf(party.to),
    // Whoever has an extension is a colleague, though their number be a real one.
    contactPhone:
      direction === null || outside?.extensionId || outside?.extensionNumber ? null : numberOf(outside),
    businessNumber: direction === null ? null : numberOf(inside),
    extensionId: party.extensionId ?? inside?.extensionId ?? null,
    extensionIds: [party.extensionId, inside?.extensionId, outside?.extensionId].filter(
      (id) => typeof id === 'string',
    ),
    hasRecording: (party.recordings ?? []).length > 0,
  };
}

function directionOf(direction: string | null | undefined): PartyState['direction'] {
  const word = direction?.toLowerCase();
  return word === 'inbound' || word === 'outbound' ? word : null;
}

/**
 * The `calls` row of a session that has had no other event. How it joins the row that is there is one rule per
 * column, in call-store.ts: the newest event says the status, the party that tells most says whose call it is.
 */
export function buildCall({ accountId, event, parties }: CallEvent): typeof calls.$inferInsert {
  const { sequence, sessionId, telephonySessionId, eventTime } = event.body;
  const at = new Date(eventTime);
  const subject = largest(parties, rankOf);
  // One event may tell that one party has left and another one goes on: then the call goes on.
  const newest = largest(parties, ({ status }) => (isTerminal(status) ? 0 : 1));
  return {
    accountId,
    telephonySessionId,
    sessionId,
    partyId: subject.partyId,
    partyRank: rankOf(subject),
    partySequence: sequence,
    extensionId: subject.extensionId,
    direction: subject.direction,
    fromNumber: subject.fromNumber,
    toNumber: subject.toNumber,
    contactPhone: subject.contactPhone,
    storeId: subject.store?.storeId,
    franchiseId: subject.store?.franchiseId,
    extensionIds: [...new Set(parties.flatMap(({ extensionIds }) => extensionIds))].sort(),
    startedAt: at,
    status: newest.status,
    endedAt: isTerminal(newest.status) ? at : null,
    lastSequence: sequence,
    lastPartyId: newest.partyId,
    lastEventAt: at,
    callLogStatus: parties.some(({ status }) => status === 'disconnected') ? 'pending' : 'none',
    recordingStatus: parties.some(({ hasRecording }) => hasRecording) ? 'expected' : 'pending',
  };
}

/** Numbers and store first: without them nobody finds the call. Then the one who answered, not those who only rang. */
function rankOf({ contactPhone, store, status }: PlacedParty): number {
  return (contactPhone ? 4 : 0) + (store ? 2 : 0) + (status === 'answered' ? 1 : 0);
}

/** The party that ranks highest; of several, the one with the last id. */
function largest(parties: readonly PlacedParty[], rank: (party: PlacedParty) => number): PlacedParty {
  return parties.reduce((best, party) => {
    const difference = rank(party) - rank(best);
    return difference > 0 || (difference === 0 && party.partyId > best.partyId) ? party : best;
  });
}

/** The contact whose timeline tells of a party. Undefined without store or number: the call is kept all the same. */
export function identityOf(
  accountId: string,
  { contactPhone, store }: PlacedParty,
): ContactIdentity | undefined {
  if (!contactPhone || !store) return undefined;
  return buildContactPhoneIdentityFields({ phone: contactPhone, accountId, ...store });
}

/** What the timeline tells of an event's party. */
export function stateChangeOf({ body }: TelephonyEvent, party: PartyState): StateChange {
  const { partyId, status, reason, direction, extensionId } = party;
  const { sequence, eventTime } = body;
  return { partyId, sequence, status, reason, direction, extensionId, eventTime };
}

/** The timeline row of a state change. */
export function buildCallTimeline(
  telephonySessionId: string,
  { eventTime, ...change }: StateChange,
  identity: ContactIdentity,
): TimelineValues {
  return buildTimelineValues(identity, {
    eventType: `call.${change.status}`,
    entityId: telephonySessionId,
    occurredAt: new Date(eventTime),
    actorType: 'ringcentral_webhook',
    newValue: change,
    occurrence: `${telephonySessionId}:${change.partyId}:${change.sequence}`,
  });
}
