import { and, eq, inArray, isNotNull, or } from 'drizzle-orm';
import { calls } from '../../src/db/schema/index.ts';
import type { Databases } from '../databases.ts';
import type { SimulatedCall } from '../ringcentral/world.ts';
import type { OpenCalls } from '../settle.ts';

const unresolved = ['pending', 'expected', 'available'] as const;

/**
 * What there is left to do for calls: those that wait for the sweep, and those of which RingCentral has by now
 * what the rows lack.
 *
 * @param simulated the calls that RingCentral knows
 * @param now epoch milliseconds
 */
export async function openCalls(
  own: Databases['own'],
  simulated: readonly SimulatedCall[],
  now: number,
): Promise<OpenCalls> {
  const coming = simulated.flatMap(arrivals).filter((at) => at > now);
  const rows = await own
    .select()
    .from(calls)
    .where(
      or(
        isNotNull(calls.nextAttemptAt),
        and(eq(calls.callLogStatus, 'found'), inArray(calls.recordingStatus, unresolved)),
        eq(calls.voicemailStatus, 'pending'),
      ),
    );
  const left = rows.filter((row) => {
    if (row.nextAttemptAt) return true;
    const known = simulated.find(({ telephonySessionId }) => telephonySessionId === row.telephonySessionId);
    return known !== undefined && arrivals(known).some((at) => at <= now);
  });
  const due = left.map(({ nextAttemptAt }) => nextAttemptAt?.getTime() ?? 0);
  return {
    left: left.length,
    ...(left.length > 0 ? { dueAt: Math.min(...due) } : {}),
    ...(coming.length > 0 ? { comingAt: Math.max(...coming) } : {}),
  };
}

/** When recordings and voicemails are to be had, in full. */
const arrivals = ({ records, recordings, voicemails }: SimulatedCall) => [
  ...recordings.map(({ contentAt }) => contentAt),
  ...(recordings.length > 0 ? records.map(({ recordingVisibleAt }) => recordingVisibleAt) : []),
  ...voicemails.map(({ transcribedAt }) => transcribedAt),
];
