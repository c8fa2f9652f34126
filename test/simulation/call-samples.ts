import { type CallOptions, callFrame, eventsOf, type Moment } from '../../local/ringcentral/sample-frame.ts';
import type { SimulatedCall, SimulatedLeg } from '../../local/ringcentral/world.ts';

const second = 1000;
/** The log lists a call 15-30 s after its end. */
const lagMs = 20 * second;
/** Sound of a second: nothing here depends on its length. */
const shortAudio = { format: 'mp3', seconds: 1 } as const;

export interface SessionOptions extends CallOptions {
  /** Seconds after the start at which parties hang up, one after the other. */
  disconnects: readonly number[];
  /** Seconds after the start from which on the call log shows the recording and its content can be had. */
  readyAfter: number;
  /** Seconds after the start when RingCentral closes the session; default at the first party's end. */
  endsAfter?: number;
}

/** A recorded session whose parties hang up one by one; each of them has a webhook of its own. */
export function sessionOf({ disconnects, readyAfter, endsAfter, ...options }: SessionOptions): SimulatedCall {
  const frame = callFrame(options);
  const endedAt = frame.startedAt + (endsAfter ?? disconnects[0] ?? 0) * second;
  const readyAt = frame.startedAt + readyAfter * second;
  const recordingId = frame.id('55');
  const party = (index: number) => ({ index, from: frame.caller, to: frame.agent(index) });
  const legs = disconnects.map(
    (_, n): SimulatedLeg => ({
      ...frame.leg(n + 1, endedAt),
      from: frame.caller,
      to: frame.agent(n + 1),
      extensionId: frame.extensionId(n + 1),
      result: 'Accepted',
      recording: { id: recordingId, type: 'Automatic' },
    }),
  );
  const [first, ...others] = legs;
  if (!first) throw new Error('A session has parties');
  // A running call is listed as being in progress.
  const listedAt = endsAfter === undefined ? endedAt + lagMs : frame.startedAt;
  const record = frame.record(first, listedAt, readyAt);
  record.legs.push(...others);
  const moments: Moment[] = [
    ...disconnects.map(
      (_, n): Moment => ({
        at: frame.startedAt + n * second,
        sequence: 1 + n,
        code: 'Setup',
        ...party(n + 1),
      }),
    ),
    { at: frame.startedAt + 8 * second, sequence: 10, code: 'Answered', ...party(1) },
    ...disconnects.map(
      (after, n): Moment => ({
        at: frame.startedAt + after * second,
        sequence: 20 + n,
        code: 'Disconnected',
        reason: 'CallFinished',
        ...party(n + 1),
      }),
    ),
  ];
  return {
    ...frame.call(endedAt),
    records: [record],
    recordings: [{ id: recordingId, audio: shortAudio, contentAt: readyAt }],
    events: eventsOf(frame, moments),
  };
}

/** The same call with sound of a second in place of what it had. */
export function withShortAudio(call: SimulatedCall): SimulatedCall {
  const recordings = call.recordings.map((recording) => ({ ...recording, audio: shortAudio }));
  return { ...call, recordings };
}
