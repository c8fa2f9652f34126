import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { audioBytes } from '../../local/ringcentral/audio.ts';
import { answeredCall, transferCall } from '../../local/ringcentral/sample-calls.ts';
import { type MediaDependencies, processRecording } from '../../src/calls/recording.ts';
import type { StoredSession } from '../../src/calls/step.ts';
import type { CallLogSnapshot } from '../../src/ringcentral/schemas.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { accountId, afterCallLog, type MediaWorld, reload, startMediaWorld } from './media-world.ts';

let database: TestDatabase;
let world: MediaWorld;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  world = await startMediaWorld(database);
});
afterEach(() => world.stop());

const aCall = (options: Partial<Parameters<typeof answeredCall>[0]> = {}) =>
  answeredCall({ accountId, number: 1, startedAt: world.simulator.clock.now(), talkSeconds: 60, ...options });
const aTransfer = () => transferCall({ accountId, number: 1, startedAt: world.simulator.clock.now() });

type Stored = { snapshot: CallLogSnapshot; session: StoredSession };
const run = ({ snapshot, session }: Stored, deps: MediaDependencies = world.deps) =>
  processRecording(deps, snapshot, session, world.deadline());
const callRow = async () => (await database.query('select * from calls'))[0];
const recordings = () => database.query('select * from call_recordings order by recording_id');
const key = 'recordings/900100/2026/03/55000010.mp3';

describe('a recording that is ready', () => {
  it('is stored by the month of the call, told of, and sent to be transcribed', async () => {
    const stored = await afterCallLog(world, aCall());
    expect(await run(stored)).toEqual({ kind: 'done' });

    const bytes = audioBytes({ format: 'mp3', seconds: 60 });
    expect([...world.objects.objects]).toEqual([
      [
        key,
        {
          bytes,
          contentType: 'audio/mpeg',
          metadata: { channels: '2', 'announced-bytes': String(bytes) },
        },
      ],
    ]);
    expect(await recordings()).toEqual([
      expect.objectContaining({
        s3_key: key,
        bytes: String(bytes),
        content_type: 'audio/mpeg',
        duration_ms: 68_000,
        stored_at: world.simulator.clock.now(),
        transcription_job: 'test-rec-55000010',
        transcription_status: 'started',
        transcription_started_at: world.simulator.clock.now(),
      }),
    ]);
    expect(await callRow()).toMatchObject({ recording_status: 'stored', recording_reason: null });
    expect(world.transcriber.requests).toEqual([
      {
        jobName: 'test-rec-55000010',
        mediaKey: key,
        mediaFormat: 'mp3',
        stereo: true,
        outputKey: 'transcripts/recordings/900100/2026/03/55000010.json',
      },
    ]);
    expect(world.container.meter.totals).toMatchObject({ RecordingStored: 1 });
    const ids = {
      account_id: accountId,
      telephony_session_id: stored.session.call.telephonySessionId,
      api_recording_id: '55000010',
    };
    expect(world.lines('ringcentral.recording_processing_started')).toEqual([
      { ...ids, call_log_input: 'prefetched' },
    ]);
    expect(world.lines('recording.stored')).toEqual([{ ...ids, bytes, content_type: 'audio/mpeg' }]);
  });

  it('costs one request, and none of the call log', async () => {
    await run(await afterCallLog(world, aCall()));
    expect(world.surfaces()).toEqual(['recording_content']);
  });

  it('is not asked for again once it is stored', async () => {
    const stored = await afterCallLog(world, aCall());
    await run(stored);
    expect(await run(await reload(world, stored.session))).toEqual({ kind: 'done' });
    expect(world.surfaces()).toEqual(['recording_content']);
    expect(world.transcriber.requests).toHaveLength(1);
    expect(world.lines('ringcentral.recording_processing_started')).toHaveLength(1);
  });

  it('by two invocations at once is one recording and one job', async () => {
    const stored = await afterCallLog(world, aCall());
    expect(await Promise.all([run(stored), run(stored)])).toEqual([{ kind: 'done' }, { kind: 'done' }]);
    expect(world.container.meter.totals.RecordingStored).toBe(1);
    expect(world.transcriber.jobs.size).toBe(1);
    expect(await callRow()).toMatchObject({ recording_status: 'stored' });
  });

  it('that is in the bucket whole is not downloaded again', async () => {
    const stored = await afterCallLog(world, aCall());
    const metadata = { channels: '1', 'announced-bytes': '1000' };
    world.objects.objects.set(key, { bytes: 1000, contentType: 'audio/mpeg', metadata });
    expect(await run(stored)).toEqual({ kind: 'done' });
    expect(world.surfaces()).toEqual([]);
    expect(await recordings()).toMatchObject([{ bytes: '1000', s3_key: key }]);
    expect(world.transcriber.requests).toMatchObject([{ stereo: false }]);
  });

  it.each([
    ['another size than was announced', { channels: '1', 'announced-bytes': '1001' }],
    ['a size that nobody announced', { channels: '1' }],
  ])('of which the bucket has %s is downloaded', async (_, metadata) => {
    const stored = await afterCallLog(world, aCall());
    world.objects.objects.set(key, { bytes: 1000, contentType: 'audio/mpeg', metadata });
    await run(stored);
    expect(world.surfaces()).toEqual(['recording_content']);
    expect(world.objects.objects.get(key)?.bytes).toBe(audioBytes({ format: 'mp3', seconds: 60 }));
  });

  it('is parked rather than begun when no time is left', async () => {
    const { snapshot, session } = await afterCallLog(world, aCall());
    const deadline = new Date(world.simulator.clock.now().getTime() + 17_000);
    expect(await processRecording(world.deps, snapshot, session, deadline)).toEqual({
      kind: 'park',
      step: 'recording',
      waitSeconds: 0,
    });
    expect(world.surfaces()).toEqual([]);
  });
});

describe('several recordings of a session', () => {
  it('are stored in the order of their start; at a 429 the rest waits, what is stored stays', async () => {
    const stored = await afterCallLog(world, aTransfer(), 10);
    world.simulator.faults.add({
      surface: 'recording_content',
      pathIncludes: '56000010',
      fault: { kind: 'status', status: 429, headers: { 'retry-after': '45' } },
    });
    expect(await run(stored)).toMatchObject({ kind: 'redrive', retryAfterSeconds: 45, step: 'recording' });
    expect(await recordings()).toMatchObject([
      { recording_id: '55000010', transcription_status: 'started' },
      { recording_id: '56000010', stored_at: null, unavailable_reason: null },
    ]);
    expect(await callRow()).toMatchObject({ recording_status: 'available' });

    world.simulator.clock.advance(5 * 60_000);
    expect(await run(await reload(world, stored.session))).toEqual({ kind: 'done' });
    expect(world.objects.uploads).toEqual([
      'recordings/900100/2026/03/55000010.mp3',
      'recordings/900100/2026/03/56000010.mp3',
    ]);
    expect(await callRow()).toMatchObject({ recording_status: 'stored', recording_reason: null });
  });

  it('are not all stored while the snapshot names one without an address', async () => {
    const call = aTransfer();
    const record = call.records[0];
    const named = { id: '57000010', type: 'Automatic' };
    if (record) record.overrides = { recording: named };
    const stored = await afterCallLog(world, call, 10);
    await run(stored);
    expect(await callRow()).toMatchObject({ recording_status: 'expected' });
  });

  it('of which one is deleted are stored, with the reason', async () => {
    const call = aTransfer();
    if (call.recordings[0]) call.recordings[0].deleted = true;
    const stored = await afterCallLog(world, call, 60);
    expect(await run(stored)).toEqual({ kind: 'done' });
    expect(await recordings()).toMatchObject([
      { unavailable_reason: 'deleted' },
      { unavailable_reason: null, transcription_status: 'started' },
    ]);
    expect(await callRow()).toMatchObject({
      recording_status: 'stored',
      recording_reason: 'some_deleted',
    });
    expect(world.container.meter.totals.CallsWithoutRecording).toBeUndefined();
  });
});

describe('transcription that can`t start', () => {
  it('is parked, and begun later without a request to RingCentral', async () => {
    const stored = await afterCallLog(world, aCall());
    world.transcriber.answer = 'busy';
    expect(await run(stored)).toEqual({ kind: 'park', step: 'transcription', waitSeconds: 60 });
    expect(await recordings()).toMatchObject([{ transcription_status: 'none', s3_key: key }]);
    expect(await callRow()).toMatchObject({ recording_status: 'stored' });

    world.transcriber.answer = 'started';
    const requests = world.surfaces().length;
    expect(await run(await reload(world, stored.session))).toEqual({ kind: 'done' });
    expect(world.surfaces()).toHaveLength(requests);
    expect(await recordings()).toMatchObject([{ transcription_status: 'started' }]);
    expect(world.lines('ringcentral.recording_processing_started')).toHaveLength(1);
  });

  it.each(['refused', 'name_taken'] as const)('because it is %s needs a person', async (answer) => {
    const stored = await afterCallLog(world, aCall());
    world.transcriber.answer = answer;
    expect(await run(stored)).toEqual({ kind: 'failed', reason: `transcription_${answer}` });
  });
});
