import { afterEach, describe, expect, it } from 'vitest';
import { riverside } from '../simulation/call-accounts.ts';
import { sessionOf } from '../simulation/call-samples.ts';
import { startCallWorld, stopCallWorlds } from './call-world.ts';

afterEach(stopCallWorlds);

const startedAt = new Date('2026-03-04T15:00:10.000Z');
const never = Number.POSITIVE_INFINITY;
/** Parties hang up three minutes apart; a message is worked on 90 s after that. */
const hangUps = [120, 300, 480];
/** Ready shortly before the look that follows each of them. */
const readyFor: Record<string, number> = { '1st': 180, '2nd': 360, '3rd': 540, never };

/**
 * The source document gives the number of its scenarios and their two axes: one, two or three Disconnected
 * webhooks, and the recording there at the first, second or third look, or never. These are the twelve pairs, and two
 * of them where the account's call log is forbidden, which doubles the requests of each look and nothing else. With
 * less webhooks than looks, the recording comes after the last webhook, and only the sweep can find it.
 */
const scenarios = [
  { webhooks: 1, ready: '1st', access: 'account', requests: 1, stored: 1 },
  { webhooks: 1, ready: '2nd', access: 'account', requests: 1, stored: 0 },
  { webhooks: 1, ready: '3rd', access: 'account', requests: 1, stored: 0 },
  { webhooks: 1, ready: 'never', access: 'account', requests: 1, stored: 0 },
  { webhooks: 2, ready: '1st', access: 'account', requests: 2, stored: 1 },
  { webhooks: 2, ready: '2nd', access: 'account', requests: 2, stored: 1 },
  { webhooks: 2, ready: '3rd', access: 'account', requests: 2, stored: 0 },
  { webhooks: 2, ready: 'never', access: 'account', requests: 2, stored: 0 },
  { webhooks: 3, ready: '1st', access: 'account', requests: 3, stored: 1 },
  { webhooks: 3, ready: '2nd', access: 'account', requests: 3, stored: 1 },
  { webhooks: 3, ready: '3rd', access: 'account', requests: 3, stored: 1 },
  { webhooks: 3, ready: 'never', access: 'account', requests: 3, stored: 0 },
  { webhooks: 1, ready: '1st', access: 'extension', requests: 2, stored: 1 },
  { webhooks: 2, ready: '2nd', access: 'extension', requests: 4, stored: 1 },
] as const;

describe('the 14 scenarios', () => {
  it.each(scenarios)(
    '$webhooks webhooks, ready at the $ready look, $access call log: $requests requests, $stored recordings',
    async ({ webhooks, ready, access, requests, stored }) => {
      const world = await startCallWorld();
      if (access === 'extension') {
        const fault = { kind: 'status', status: 403, errorCode: 'CMN-408' } as const;
        world.simulator.faults.add({ surface: 'account_call_log', fault, times: 99 });
        // The two requests of a look are all that the bucket holds: the recording is parked and sent on.
        world.startSweep();
      }
      world.ring(
        sessionOf({
          accountId: riverside.accountId,
          startedAt,
          number: 1,
          disconnects: hangUps.slice(0, webhooks),
          readyAfter: readyFor[ready] ?? never,
        }),
      );
      await world.run(60);

      const looks = world.requests(/call_log/).filter(({ path }) => path.includes('telephonySessionId'));
      expect(looks).toHaveLength(requests);
      expect(world.requests(/recording_content/)).toHaveLength(stored);
      expect([...world.objects.uploads.values()]).toEqual(Array(stored).fill(1));
      const transcripts = await world.database.query('select source_id, text from transcripts');
      expect(transcripts).toEqual(Array(stored).fill({ source_id: '55000010', text: 'Hello there' }));
      expect(await world.database.query('select recording_available, recording_status from calls')).toEqual([
        stored
          ? { recording_available: true, recording_status: 'stored' }
          : { recording_available: false, recording_status: 'pending' },
      ]);
      const inputs = world.logged('ringcentral.recording_processing_started');
      expect(inputs.map(({ call_log_input }) => call_log_input)).toEqual(Array(stored).fill('prefetched'));
      expect(JSON.stringify(world.lines)).not.toContain('self_fetch');
      expect([world.queue.size, world.queue.deadLetters]).toEqual([0, []]);
    },
  );
});
