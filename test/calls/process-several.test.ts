import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { transferCall } from '../../local/ringcentral/sample-calls.ts';
import { processMessages } from '../../src/transcribe-processor.ts';
import { riverside } from '../simulation/call-accounts.ts';
import { CallProcess } from '../simulation/call-process.ts';
import { sessionOf, withShortAudio } from '../simulation/call-samples.ts';
import { type CallWorld, startCallWorld, stopCallWorlds } from './call-world.ts';

const { accountId } = riverside;
const startedAt = new Date('2026-03-04T15:00:10.000Z');
let world: CallWorld;
beforeEach(async () => {
  world = await startCallWorld();
});
afterEach(stopCallWorlds);

const recordings = () =>
  world.database.query(
    'select recording_id, stored_at is not null as stored from call_recordings order by 1',
  );

describe('one recording of two that can`t be had', () => {
  const call = () => withShortAudio(transferCall({ accountId, startedAt, number: 1 }));

  it.each([
    [403, 'CMN-408'],
    [500, 'CMN-201'],
  ])('doesn`t take the other one with it: content %i', async (status, errorCode) => {
    const both = call();
    const [refused, other] = both.recordings;
    world.simulator.faults.add({
      surface: 'recording_content',
      pathIncludes: `/recording/${refused?.id}/`,
      times: 99,
      fault: { kind: 'status', status, errorCode },
    });
    world.ring(both);
    await world.run(60);
    expect(await recordings()).toEqual([
      { recording_id: refused?.id, stored: false },
      { recording_id: other?.id, stored: true },
    ]);
    const transcribed = await world.database.query('select source_id from transcripts');
    expect(transcribed).toEqual([{ source_id: other?.id }]);
  });

  it('nor does one whose transcription is refused', async () => {
    const both = call();
    const start = world.transcriber.start.bind(world.transcriber);
    world.transcriber.start = async (request) =>
      request.jobName.endsWith(String(both.recordings[0]?.id)) ? 'refused' : start(request);
    world.ring(both);
    await world.run(60);
    expect((await recordings()).map(({ stored }) => stored)).toEqual([true, true]);
  });
});

describe('messages of one session at the same moment', () => {
  /** Both Disconnected messages of a recorded call, received at once. */
  async function receiveBoth() {
    const call = sessionOf({ accountId, startedAt, number: 1, disconnects: [120, 120], readyAfter: 140 });
    world.ring(call, []);
    await world.run(5);
    for (const event of call.events.slice(-2)) await world.post(event);
    world.clock.advance(100_000);
    const records = [];
    for (let record = world.queue.receive(); record; record = world.queue.receive()) records.push(record);
    expect(records).toHaveLength(2);
    return records;
  }

  it('one of them works on it, once, and the other is done', async () => {
    const records = await receiveBoth();
    const answers = await Promise.all(
      records.map((record) =>
        processMessages(
          world.container(new CallProcess(undefined)),
          { Records: [record] },
          new Date(world.now() + 115_000),
        ),
      ),
    );
    expect(answers).toEqual([{ batchItemFailures: [] }, { batchItemFailures: [] }]);
    expect(world.requests(/call_log/)).toHaveLength(1);
    expect(world.requests(/recording_content/)).toHaveLength(1);
    expect([...world.objects.uploads.values()]).toEqual([1]);
    expect(await world.database.query('select worked_on_by from calls')).toEqual([{ worked_on_by: null }]);
  });

  it('one that comes before the session is left goes on where the first one ended', async () => {
    const [first, second] = await receiveBoth();
    for (const record of [first, second]) {
      if (!record) throw new Error('no message');
      await processMessages(
        world.container(new CallProcess(undefined)),
        { Records: [record] },
        new Date(world.now() + 115_000),
      );
    }
    expect(world.requests(/recording_content/)).toHaveLength(1);
  });
});
