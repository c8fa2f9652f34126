import type { Store } from '../../src/leads/store.ts';
import {
  anonymousCall,
  answeredCall,
  missedCall,
  queueCall,
  transferCall,
  voicemailCall,
} from '../ringcentral/sample-calls.ts';
import type { SimulatedCall } from '../ringcentral/world.ts';

const second = 1000;
/** Long enough ago that the wait of 90 s after a hang-up, which is shortened here, has passed all the same. */
const endedSecondsAgo = 120;
/** So long after the start of the run a recording is there that wasn't. */
const lateBySeconds = 6;

/**
 * Calls that have just ended, one of each kind.
 *
 * @param accountIds RingCentral accounts of the stage
 */
export function sampleCalls(
  accountIds: readonly string[],
  stores: readonly Store[],
  now: Date,
): SimulatedCall[] {
  const [accountId = ''] = accountIds;
  const numbers = stores
    .filter(({ providerAccountId }) => providerAccountId === accountId)
    .flatMap(({ phoneNumbers }) => (Array.isArray(phoneNumbers) ? phoneNumbers.map(String) : []));
  const made = (number: number, seconds: number) => {
    const businessNumber = numbers[number % Math.max(1, numbers.length)];
    return {
      accountId,
      number,
      startedAt: new Date(now.getTime() - (endedSecondsAgo + seconds) * second),
      ...(businessNumber === undefined ? {} : { businessNumber }),
    };
  };
  const ready = { recordingDelaySeconds: 30 };
  return [
    answeredCall({
      ...made(101, 192),
      talkSeconds: 184,
      recordingDelaySeconds: endedSecondsAgo + lateBySeconds,
    }),
    missedCall(made(102, 25)),
    voicemailCall(made(103, 49)),
    transferCall({ ...made(104, 180), talkSeconds: 120, ...ready }),
    queueCall({ ...made(105, 98), talkSeconds: 90, format: 'wav', ...ready }),
    anonymousCall({ ...made(106, 68), talkSeconds: 60, ...ready }),
  ];
}
