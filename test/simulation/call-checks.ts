import { expect } from 'vitest';
import type { CallWorld } from './call-world.ts';

/**
 * What every run must end in: each recording and voicemail once in the bucket and once transcribed, each state
 * change once in the timeline, nothing parked, nothing left in a queue.
 */
export async function expectOneOfEach(
  world: CallWorld,
  { recordings, voicemails = 0 }: { recordings: number; voicemails?: number },
): Promise<void> {
  const count = async (text: string) => (await world.database.query(text))[0]?.count;
  const stored = (folder: string) => [...world.objects.heads.keys()].filter((key) => key.startsWith(folder));
  expect(stored('recordings/')).toHaveLength(recordings);
  expect(stored('voicemails/')).toHaveLength(voicemails);
  expect(await count('select count(*)::int from call_recordings where stored_at is not null')).toBe(
    recordings,
  );
  expect(await count('select count(*)::int from transcripts')).toBe(recordings + voicemails);
  expect(
    await count("select count(*)::int from contact_timeline where event_type = 'call.transcribed'"),
  ).toBe(
    await count(
      'select count(*)::int from transcripts t join call_recordings r on r.recording_id = t.source_id',
    ),
  );
  expect(await count('select count(*)::int from calls where next_attempt_at is not null')).toBe(0);
  expect([world.queue.size, world.queue.deadLetters]).toEqual([0, []]);
  const inputs = world.logged('ringcentral.recording_processing_started');
  expect(inputs.filter(({ call_log_input }) => call_log_input !== 'prefetched')).toEqual([]);
}

/** RingCentral never had to refuse: no request above a limit, none inside a penalty. */
export function expectNoRefusals(world: CallWorld): void {
  expect(world.requests().filter(({ status, insidePenalty }) => status === 429 || insidePenalty)).toEqual([]);
}
