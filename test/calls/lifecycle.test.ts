import { describe, expect, it } from 'vitest';
import {
  buildCall,
  buildCallTimeline,
  identityOf,
  type PlacedParty,
  readParties,
  stateChangeOf,
} from '../../src/calls/lifecycle.ts';
import { accountId, anEvent, business, caller, type EventOptions, instantOf } from './events.ts';

const store = { storeId: '6f1c2a9e-2a55-4b1e-9a53-0d7f3f0b0412', franchiseId: 'orangeTheory' };

const read = (options: EventOptions) => readParties(anEvent(options));

function build(options: EventOptions, place: PlacedParty['store'] = store) {
  const event = anEvent(options);
  const parties = readParties(event).map((party) => ({ ...party, store: place }));
  return buildCall({ accountId, event, parties });
}

describe('a party', () => {
  it('of an inbound call: the caller is the contact, our number the store`s', () => {
    expect(read({ code: 'Answered', reason: 'Pickup' })).toEqual([
      {
        partyId: 'p-77aa-1',
        status: 'answered',
        reason: 'Pickup',
        direction: 'inbound',
        fromNumber: '+14155550111',
        toNumber: '+12065550199',
        contactPhone: '+14155550111',
        businessNumber: '+12065550199',
        extensionId: '900204',
        extensionIds: ['900204', '900204'],
        hasRecording: false,
      },
    ]);
  });

  it('of an outbound call: whoever is called is the contact', () => {
    expect(read({ party: { direction: 'Outbound', from: business, to: caller } })).toEqual([
      expect.objectContaining({
        direction: 'outbound',
        fromNumber: '+12065550199',
        toNumber: '+14155550111',
        contactPhone: '+14155550111',
        businessNumber: '+12065550199',
      }),
    ]);
  });

  it.each([
    ['a name only', { name: 'Anonymous' }],
    ['nothing', {}],
    ['null', null],
    ['no from at all', undefined],
    ['an empty number', { phoneNumber: '' }],
    ['an extension only', { extensionId: '900205' }],
    ['an extension`s short number', { phoneNumber: '104' }],
    ['a colleague`s number', { phoneNumber: '+12065550188', extensionId: '900205' }],
  ])('R24 whose caller shows %s has no contact', (_, from) => {
    expect(read({ party: { from } })).toEqual([
      expect.objectContaining({ contactPhone: null, businessNumber: '+12065550199' }),
    ]);
  });

  it.each(['(415) 555-0111', '14155550111', '+14155550111', '4155550111', '+1 415-555-0111'])(
    'R26 whose caller is written %s is the same caller',
    (phoneNumber) => {
      expect(read({ party: { from: { phoneNumber } } })).toEqual([
        expect.objectContaining({ fromNumber: '+14155550111', contactPhone: '+14155550111' }),
      ]);
    },
  );

  it.each([
    ['VoiceMail', 'voicemail'],
    ['Voicemail', 'voicemail'],
    ['VoiceMailScreening', 'voicemailscreening'],
    ['VMScreening', 'voicemailscreening'],
    ['Tds', 'tds'],
    ['Hold', 'hold'],
    ['Parked', 'parked'],
  ])('with code %s has status %s', (code, status) => {
    expect(read({ code })).toEqual([expect.objectContaining({ status })]);
  });

  it('R36 that receives a fax is no call', () => {
    expect(read({ code: 'FaxReceive' })).toEqual([]);
  });

  it('of no known direction has neither contact nor number of ours', () => {
    expect(read({ party: { direction: undefined } })).toEqual([
      expect.objectContaining({ direction: null, contactPhone: null, businessNumber: null }),
    ]);
  });
});

describe('the row of an event', () => {
  it('has the call`s facts', () => {
    expect(build({ sequence: 3, code: 'Answered', at: 8 })).toEqual({
      accountId,
      telephonySessionId: 's-77aa',
      sessionId: '31880011005',
      partyId: 'p-77aa-1',
      partyRank: expect.any(Number),
      partySequence: 3,
      extensionId: '900204',
      direction: 'inbound',
      fromNumber: '+14155550111',
      toNumber: '+12065550199',
      contactPhone: '+14155550111',
      storeId: store.storeId,
      franchiseId: 'orangeTheory',
      extensionIds: ['900204'],
      startedAt: instantOf(8),
      status: 'answered',
      endedAt: null,
      lastSequence: 3,
      lastPartyId: 'p-77aa-1',
      lastEventAt: instantOf(8),
      callLogStatus: 'none',
      recordingStatus: 'pending',
    });
  });

  it('ends the call at a Disconnected, whose call log is to be asked for', () => {
    expect(build({ code: 'Disconnected', at: 60 })).toMatchObject({
      status: 'disconnected',
      endedAt: instantOf(60),
      callLogStatus: 'pending',
    });
  });

  it('R2 expects a recording that the event names', () => {
    expect(build({ party: { recordings: [{ id: '5512', active: false }] } })).toMatchObject({
      recordingStatus: 'expected',
    });
    expect(build({ party: { recordings: [] } })).toMatchObject({ recordingStatus: 'pending' });
  });

  it('R15 goes on while one of its parties does', () => {
    const [party] = anEvent({ code: 'Disconnected', partyId: 'p-2' }).body.parties;
    const [other] = anEvent({ code: 'Answered', partyId: 'p-1' }).body.parties;
    for (const parties of [
      [party, other],
      [other, party],
    ]) {
      expect(build({ body: { parties } })).toMatchObject({
        status: 'answered',
        endedAt: null,
        callLogStatus: 'pending',
      });
    }
  });
});

describe('the timeline row of a state change', () => {
  it('is of the contact, at the event`s time, with a key that a second delivery has too', () => {
    const event = anEvent({ sequence: 9, code: 'Disconnected', reason: 'CallFinished', at: 75 });
    const [party] = readParties(event).map((one) => ({ ...one, store }));
    const identity = party && identityOf(accountId, party);
    expect(party && identity && buildCallTimeline('s-77aa', stateChangeOf(event, party), identity)).toEqual({
      contactPhone: '+14155550111',
      franchiseId: 'orangeTheory',
      accountId,
      storeId: store.storeId,
      eventType: 'call.disconnected',
      eventCategory: 'call',
      entityType: 'call',
      entityId: 's-77aa',
      occurredAt: instantOf(75),
      actorType: 'ringcentral_webhook',
      newValue: {
        status: 'disconnected',
        reason: 'CallFinished',
        direction: 'inbound',
        partyId: 'p-77aa-1',
        extensionId: '900204',
        sequence: 9,
      },
      idempotencyKey: 'call.disconnected:s-77aa:p-77aa-1:9',
    });
  });

  it('needs a store and a number', () => {
    const [party] = read({});
    const [anonymous] = read({ party: { from: {} } });
    expect(party && identityOf(accountId, { ...party, store: undefined })).toBeUndefined();
    expect(anonymous && identityOf(accountId, { ...anonymous, store })).toBeUndefined();
  });
});
