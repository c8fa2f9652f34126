import { type TelephonyEvent, telephonyEventSchema } from '../../src/ringcentral/telephony-event.ts';

export const accountId = '900412';
export const caller = { phoneNumber: '+14155550111', name: 'OAKLAND CA' };
export const business = { phoneNumber: '+12065550199', name: 'Dana Roe', extensionId: '900204' };

export interface EventOptions {
  sequence?: number;
  code?: string;
  reason?: string;
  partyId?: string;
  /** Seconds after 15:20 UTC. */
  at?: number;
  telephonySessionId?: string;
  /** Laid over the party. */
  party?: Record<string, unknown>;
  /** Laid over the event's body. */
  body?: Record<string, unknown>;
  /** Laid over the whole. */
  frame?: Record<string, unknown>;
}

export const instantOf = (seconds: number) => new Date(Date.UTC(2026, 2, 4, 15, 20, seconds));

/** A notification as RingCentral posts it: an inbound call's one party rings, unless told otherwise. */
export function aNotification(options: EventOptions = {}) {
  const { sequence = 1, code = 'Setup', reason, partyId = 'p-77aa-1', at = 0 } = options;
  return {
    uuid: `55900000000${sequence}`,
    event: `/restapi/v1.0/account/${accountId}/extension/900204/telephony/sessions`,
    timestamp: instantOf(at + 1).toISOString(),
    subscriptionId: 'b0a1c2d3-0000-4000-8000-000000000001',
    ownerId: '900001',
    ...options.frame,
    body: {
      sequence,
      sessionId: '31880011005',
      telephonySessionId: options.telephonySessionId ?? 's-77aa',
      serverId: '10.1.2.3.TAM',
      eventTime: instantOf(at).toISOString(),
      origin: { type: 'Call' },
      parties: [
        {
          accountId,
          extensionId: '900204',
          id: partyId,
          direction: 'Inbound',
          from: caller as Record<string, unknown>,
          to: business as Record<string, unknown>,
          status: { code, ...(reason === undefined ? {} : { reason }), rcc: false },
          missedCall: false,
          standAlone: false,
          muted: false,
          ...options.party,
        },
      ],
      ...options.body,
    },
  };
}

/** The same as it comes out of the queue. */
export function anEvent(options: EventOptions = {}): TelephonyEvent {
  return telephonyEventSchema.parse(aNotification(options));
}
