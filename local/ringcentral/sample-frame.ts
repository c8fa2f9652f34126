import type {
  SimulatedCall,
  SimulatedLeg,
  SimulatedParty,
  SimulatedRecord,
  TelephonyEvent,
} from './world.ts';

export interface CallOptions {
  accountId: string;
  startedAt: Date;
  /** Makes the ids of this call; different for each call of a run. */
  number: number;
  /** The business number that was called; default +12065550199. */
  businessNumber?: string;
  /** Default +1415555 and four digits of the call's number. */
  callerNumber?: string;
}

/** A change of one party's status, from which a notification is made. */
export interface Moment {
  at: number;
  sequence: number;
  code: string;
  reason?: string;
  /** Which party of the session. */
  index: number;
  from: SimulatedParty;
  to: SimulatedParty;
  recordings?: { id: string; active: boolean }[];
  queueCall?: boolean;
  missedCall?: boolean;
}

/** What all sample calls share: ids, people, and the skeletons of call, record and leg. */
export function callFrame(options: CallOptions) {
  const { accountId, number } = options;
  const startedAt = options.startedAt.getTime();
  const digits = String(number).padStart(5, '0');
  const telephonySessionId = `s-${accountId}z${digits}`;
  const extensionId = (index: number) => `${accountId}${200 + index}`;
  return {
    accountId,
    startedAt,
    telephonySessionId,
    sessionId: `318800${digits}`,
    extensionId,
    /** A numeric id of this call, apart from others by its prefix. */
    id: (prefix: string) => `${prefix}${digits}0`,
    partyId: (index: number) => `p-${accountId}z${digits}-${index}`,
    caller: {
      phoneNumber: options.callerNumber ?? `+1415555${String(number % 10_000).padStart(4, '0')}`,
      name: 'OAKLAND CA',
    } satisfies SimulatedParty,
    agent: (index: number): SimulatedParty => ({
      phoneNumber: options.businessNumber ?? '+12065550199',
      name: `Agent ${index}`,
      extensionId: extensionId(index),
    }),
    leg: (index: number, endedAt: number): SimulatedLeg => ({
      partyId: `p-${accountId}z${digits}-${index}`,
      startedAt,
      durationMs: endedAt - startedAt,
      type: 'Voice',
      direction: 'Inbound',
      action: 'Phone Call',
      result: 'Unknown',
    }),
    record: (leg: SimulatedLeg, visibleAt: number, recordingVisibleAt: number): SimulatedRecord => ({
      ...leg,
      id: `Q${accountId}x${digits}`,
      sessionId: `318800${digits}`,
      legs: [leg],
      visibleAt,
      recordingVisibleAt,
    }),
    call: (endedAt: number): SimulatedCall => ({
      accountId,
      telephonySessionId,
      endedAt,
      records: [],
      recordings: [],
      voicemails: [],
      events: [],
    }),
  };
}

export type CallFrame = ReturnType<typeof callFrame>;

/** The notifications of an account-level subscription: one party each, by the path of its extension. */
export function eventsOf(frame: CallFrame, moments: Moment[]): TelephonyEvent[] {
  return moments.map(
    ({ at, sequence, code, reason, index, from, to, recordings, queueCall, missedCall }) => ({
      uuid: `${frame.sessionId}${String(sequence).padStart(3, '0')}`,
      event: `/restapi/v1.0/account/${frame.accountId}/extension/${frame.extensionId(index)}/telephony/sessions`,
      timestamp: new Date(at + 60).toISOString(),
      subscriptionId: 'b0a1c2d3-0000-4000-8000-000000000001',
      ownerId: '900001',
      body: {
        sequence,
        sessionId: frame.sessionId,
        telephonySessionId: frame.telephonySessionId,
        serverId: '10.1.2.3.TAM',
        eventTime: new Date(at).toISOString(),
        origin: { type: 'Call' },
        parties: [
          {
            accountId: frame.accountId,
            extensionId: frame.extensionId(index),
            id: frame.partyId(index),
            direction: 'Inbound' as const,
            from,
            to,
            status: { code, ...(reason === undefined ? {} : { reason }), rcc: false },
            ...(recordings === undefined ? {} : { recordings }),
            ...(queueCall === undefined ? {} : { queueCall }),
            missedCall: missedCall ?? false,
            standAlone: false,
            muted: false,
          },
        ],
      },
    }),
  );
}
