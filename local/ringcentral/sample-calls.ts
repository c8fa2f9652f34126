import { type CallOptions, callFrame, eventsOf, type Moment } from './sample-frame.ts';
import type { SimulatedCall, SimulatedLeg, SimulatedParty } from './world.ts';

const second = 1000;
/** From the call's end to its entry in the call log: 15-30 s in RingCentral's documentation. */
const callLogLag = 20 * second;

export interface TalkOptions extends CallOptions {
  /** Default 184. */
  talkSeconds?: number;
  /** From the call's end until the recording is in the call log; default: as long as the call was. */
  recordingDelaySeconds?: number;
  format?: 'mp3' | 'wav';
  from?: SimulatedParty;
}

/** Inbound, answered after 8 s, recorded; the recording comes late. */
export function answeredCall(options: TalkOptions): SimulatedCall {
  const frame = callFrame(options);
  const { from = frame.caller, talkSeconds = 184, format = 'mp3' } = options;
  const endedAt = frame.startedAt + (8 + talkSeconds) * second;
  const recordingAt = endedAt + (options.recordingDelaySeconds ?? talkSeconds + 8) * second;
  const recordingId = frame.id('55');
  const to = frame.agent(1);
  const leg: SimulatedLeg = {
    ...frame.leg(1, endedAt),
    from,
    to,
    extensionId: frame.extensionId(1),
    result: 'Accepted',
    recording: { id: recordingId, type: 'Automatic' },
    legType: 'PstnToSip',
  };
  const party = { index: 1, from, to };
  const recordings = [{ id: recordingId, active: true }];
  const moments: Moment[] = [
    { at: frame.startedAt, sequence: 1, code: 'Setup', ...party },
    { at: frame.startedAt + second, sequence: 2, code: 'Proceeding', ...party },
    { at: frame.startedAt + 8 * second, sequence: 3, code: 'Answered', recordings, ...party },
    { at: endedAt, sequence: 5, code: 'Disconnected', reason: 'CallFinished', recordings, ...party },
  ];
  return {
    ...frame.call(endedAt),
    records: [frame.record(leg, endedAt + callLogLag, recordingAt)],
    recordings: [{ id: recordingId, audio: { format, seconds: talkSeconds }, contentAt: recordingAt }],
    events: eventsOf(frame, moments),
  };
}

/** As `answeredCall`, from a caller who shows no number. */
export function anonymousCall(options: TalkOptions): SimulatedCall {
  return answeredCall({ ...options, from: { name: 'Anonymous' } });
}

/** Inbound, nobody answers, no voicemail. */
export function missedCall(options: CallOptions): SimulatedCall {
  const frame = callFrame(options);
  const endedAt = frame.startedAt + 25 * second;
  const to = frame.agent(1);
  const leg: SimulatedLeg = {
    ...frame.leg(1, endedAt),
    from: frame.caller,
    to,
    extensionId: frame.extensionId(1),
    result: 'Missed',
    legType: 'PstnToSip',
  };
  const party = { index: 1, from: frame.caller, to };
  return {
    ...frame.call(endedAt),
    records: [frame.record(leg, endedAt + callLogLag, endedAt)],
    events: eventsOf(frame, [
      { at: frame.startedAt, sequence: 1, code: 'Setup', ...party },
      { at: frame.startedAt + second, sequence: 2, code: 'Proceeding', ...party },
      { at: endedAt, sequence: 3, code: 'Disconnected', reason: 'NoAnswer', missedCall: true, ...party },
    ]),
  };
}

/** Inbound, the caller leaves a voicemail that RingCentral transcribes within a minute. */
export function voicemailCall(options: CallOptions & { transcript?: string }): SimulatedCall {
  const frame = callFrame(options);
  const beepAt = frame.startedAt + 22 * second;
  const endedAt = beepAt + 27 * second;
  const to = frame.agent(1);
  const voicemailId = Number(frame.id('66'));
  const leg: SimulatedLeg = {
    ...frame.leg(1, endedAt),
    from: frame.caller,
    to,
    extensionId: frame.extensionId(1),
    result: 'Voicemail',
    voicemailId,
    legType: 'PstnToSip',
  };
  const party = { index: 1, from: frame.caller, to };
  return {
    ...frame.call(endedAt),
    records: [frame.record(leg, endedAt + callLogLag, endedAt)],
    voicemails: [
      {
        id: voicemailId,
        extensionId: frame.extensionId(1),
        from: frame.caller,
        createdAt: endedAt,
        audio: { format: 'wav', seconds: 27 },
        transcription: 'Completed',
        transcribedAt: endedAt + 45 * second,
        transcript: options.transcript ?? 'Hi, I would like to book an intro class. Please call me back.',
        availability: 'Alive',
      },
    ],
    events: eventsOf(frame, [
      { at: frame.startedAt, sequence: 1, code: 'Setup', ...party },
      { at: frame.startedAt + second, sequence: 2, code: 'Proceeding', ...party },
      { at: beepAt, sequence: 3, code: 'VoiceMail', ...party },
      { at: endedAt, sequence: 4, code: 'Disconnected', reason: 'Voicemail', ...party },
    ]),
  };
}

/** Blind transfer: the first agent's party ends, the call goes on with a second one; two recordings. */
export function transferCall(options: TalkOptions): SimulatedCall {
  const frame = callFrame(options);
  const transferAt = frame.startedAt + 60 * second;
  const endedAt = transferAt + (options.talkSeconds ?? 120) * second;
  const recordingAt = endedAt + (options.recordingDelaySeconds ?? 150) * second;
  const ids = [frame.id('55'), frame.id('56')] as const;
  const legs = [
    { index: 1, startedAt: frame.startedAt, endedAt: transferAt, recordingId: ids[0], action: 'Phone Call' },
    { index: 2, startedAt: transferAt, endedAt, recordingId: ids[1], action: 'Transfer' },
  ].map(
    ({ index, startedAt, endedAt: legEnd, recordingId, action }): SimulatedLeg => ({
      ...frame.leg(index, legEnd),
      startedAt,
      durationMs: legEnd - startedAt,
      action,
      from: frame.caller,
      to: frame.agent(index),
      extensionId: frame.extensionId(index),
      result: 'Accepted',
      recording: { id: recordingId, type: 'Automatic' },
      legType: index === 1 ? 'PstnToSip' : 'TransferCall',
    }),
  );
  const [first, ...others] = legs;
  if (!first) throw new Error('A transfer has two legs');
  const record = {
    ...frame.record(first, endedAt + callLogLag, recordingAt),
    durationMs: endedAt - frame.startedAt,
  };
  record.legs.push(...others);
  const party1 = { index: 1, from: frame.caller, to: frame.agent(1) };
  const party2 = { index: 2, from: frame.caller, to: frame.agent(2) };
  const recordings = [{ id: ids[1], active: true }];
  return {
    ...frame.call(endedAt),
    records: [record],
    recordings: [
      { id: ids[0], audio: { format: 'mp3', seconds: 60 }, contentAt: recordingAt },
      { id: ids[1], audio: { format: 'mp3', seconds: options.talkSeconds ?? 120 }, contentAt: recordingAt },
    ],
    events: eventsOf(frame, [
      { at: frame.startedAt, sequence: 1, code: 'Setup', ...party1 },
      { at: frame.startedAt + 5 * second, sequence: 2, code: 'Answered', ...party1 },
      { at: transferAt, sequence: 4, code: 'Disconnected', reason: 'BlindTransfer', ...party1 },
      { at: transferAt + second, sequence: 5, code: 'Setup', ...party2 },
      { at: transferAt + 4 * second, sequence: 6, code: 'Answered', recordings, ...party2 },
      { at: endedAt, sequence: 8, code: 'Disconnected', reason: 'CallFinished', recordings, ...party2 },
    ]),
  };
}

/** A queue rings four agents; the first takes the call, so four parties disconnect, three of them "missed". */
export function queueCall(options: TalkOptions): SimulatedCall {
  const frame = callFrame(options);
  const answerAt = frame.startedAt + 10 * second;
  const answered = answeredCall({ ...options, talkSeconds: options.talkSeconds ?? 90 });
  const { endedAt } = answered;
  const recordings = answered.recordings.map(({ id }) => ({ id, active: true }));
  const agents = [1, 2, 3, 4].map((index) => ({
    index,
    from: frame.caller,
    to: frame.agent(index),
    queueCall: true,
  }));
  const [winner, ...losers] = agents;
  if (!winner) throw new Error('A queue call has agents');
  const moments: Moment[] = [
    ...agents.map(
      (agent, n): Moment => ({ at: frame.startedAt + second, sequence: 1 + n, code: 'Proceeding', ...agent }),
    ),
    { at: answerAt, sequence: 6, code: 'Answered', recordings, ...winner },
    ...losers.map(
      (agent, n): Moment => ({
        at: answerAt + second,
        sequence: 7 + n,
        code: 'Disconnected',
        reason: n === 2 ? 'Timeout' : 'AgentAnswered',
        missedCall: true,
        ...agent,
      }),
    ),
    { at: endedAt, sequence: 12, code: 'Disconnected', reason: 'CallFinished', recordings, ...winner },
  ];
  const [record] = answered.records;
  record?.legs.push(
    ...losers.map(
      ({ index, from, to }): SimulatedLeg => ({
        ...frame.leg(index, answerAt + second),
        from,
        to,
        extensionId: frame.extensionId(index),
        action: 'Ring Directly',
        result: 'Answered Elsewhere',
        legType: 'RingDirectly',
      }),
    ),
  );
  return { ...answered, events: eventsOf(frame, moments) };
}
