import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answeredCall } from '../../local/ringcentral/sample-calls.ts';
import { processRecording } from '../../src/calls/recording.ts';
import { checkOpenTranscriptions } from '../../src/calls/transcription.ts';
import type { TranscriptionJob } from '../../src/platform/transcriber.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { accountId, afterCallLog, type MediaWorld, startMediaWorld } from './media-world.ts';

let database: TestDatabase;
let world: MediaWorld;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  world = await startMediaWorld(database);
});
afterEach(() => world.stop());

const jobName = 'test-rec-55000010';
const resultKey = 'transcripts/recordings/900100/2026/03/redacted-55000010.json';
const completedAt = new Date('2026-03-04T15:12:00.000Z');
const completed: TranscriptionJob = { status: 'completed', resultKey, languageCode: 'en-US', completedAt };

/** A call whose recording is being transcribed. */
async function startedCall() {
  const startedAt = world.simulator.clock.now();
  const stored = await afterCallLog(
    world,
    answeredCall({ accountId, number: 1, startedAt, talkSeconds: 60 }),
  );
  await processRecording(world.deps, stored.snapshot, stored.session, world.deadline());
  return stored.session;
}

const aWord = (content: string, second: number, channel: 0 | 1) => ({
  type: 'pronunciation',
  start_time: `${second}.00`,
  end_time: `${second}.40`,
  channel_label: `ch_${channel}`,
  alternatives: [{ confidence: '1.0', content }],
});

function ends(job: TranscriptionJob, items: unknown[] = [aWord('Hello', 0, 0), aWord('Hi', 1, 1)]) {
  world.transcriber.jobs.set(jobName, job);
  const text = JSON.stringify({ jobName, results: { items } });
  if (job.resultKey) world.objects.objects.set(job.resultKey, { bytes: text.length, metadata: {}, text });
}

const recordings = () => database.query('select * from call_recordings');
const transcripts = () => database.query('select * from transcripts');
describe('the sweep`s look at open jobs', () => {
  const hours = (count: number) => world.simulator.clock.advance(count * 3600_000);
  const check = () => checkOpenTranscriptions(world.deps, { accountId, limit: 10 }, world.deadline());

  it('leaves those of the last two hours alone', async () => {
    await startedCall();
    ends(completed);
    hours(1.99);
    expect(await check()).toEqual({ checked: 0, unresolved: 0 });
    expect(await transcripts()).toEqual([]);
  });

  it('finds the end that no event told', async () => {
    await startedCall();
    ends(completed);
    hours(2.1);
    expect(await check()).toEqual({ checked: 1, unresolved: 0 });
    expect(await transcripts()).toHaveLength(1);
    expect(await check()).toEqual({ checked: 0, unresolved: 0 });
  });

  it('starts what is gone again, which then has its two hours', async () => {
    await startedCall();
    world.transcriber.jobs.clear();
    hours(30);
    expect(await check()).toEqual({ checked: 1, unresolved: 0 });
    expect(world.transcriber.requests).toHaveLength(2);
    expect(await recordings()).toMatchObject([
      { transcription_status: 'started', transcription_started_at: world.simulator.clock.now() },
    ]);
    expect(await check()).toEqual({ checked: 0, unresolved: 0 });
  });

  it('gives up what has run for a day', async () => {
    await startedCall();
    hours(23.9);
    expect(await check()).toEqual({ checked: 1, unresolved: 0 });
    expect(await recordings()).toMatchObject([{ transcription_status: 'started' }]);
    hours(0.2);
    await check();
    expect(await recordings()).toMatchObject([
      { transcription_status: 'failed', transcription_reason: 'timed_out' },
    ]);
    expect(world.container.meter.totals.TranscriptionFailed).toBe(1);
  });

  it('tells what it couldn`t find out, and gives that up after a day', async () => {
    await startedCall();
    world.transcriber.jobs.clear();
    world.transcriber.answer = 'refused';
    hours(3);
    expect(await check()).toEqual({ checked: 1, unresolved: 1 });
    expect(world.lines('transcription.not_checked')).toMatchObject([
      { api_recording_id: '55000010', reason: 'transcription_refused' },
    ]);
    hours(22);
    expect(await check()).toEqual({ checked: 1, unresolved: 0 });
    expect(await recordings()).toMatchObject([
      { transcription_status: 'failed', transcription_reason: 'transcription_refused' },
    ]);
  });

  it('starts what was stored and never begun', async () => {
    await startedCall();
    await database.query(
      "update call_recordings set transcription_status = 'none', transcription_started_at = null",
    );
    world.transcriber.jobs.clear();
    hours(1);
    expect(await check()).toEqual({ checked: 0, unresolved: 0 });
    hours(2);
    expect(await check()).toEqual({ checked: 1, unresolved: 0 });
    expect(await recordings()).toMatchObject([{ transcription_status: 'started' }]);
  });

  it('ends one whose result can`t be read, a day later', async () => {
    await startedCall();
    ends({ status: 'completed' });
    hours(3);
    expect(await check()).toEqual({ checked: 1, unresolved: 1 });
    expect(await recordings()).toMatchObject([{ transcription_status: 'started' }]);
    hours(22);
    expect(await check()).toEqual({ checked: 1, unresolved: 0 });
    expect(await recordings()).toMatchObject([
      { transcription_status: 'failed', transcription_reason: 'transcript_not_in_bucket' },
    ]);
    expect(await check()).toEqual({ checked: 0, unresolved: 0 });
  });

  it('begins with none that the time is too short for', async () => {
    await startedCall();
    hours(3);
    const late = { ...world.deps, clock: { now: () => new Date(world.deadline().getTime() - 5_000) } };
    expect(await checkOpenTranscriptions(late, { accountId, limit: 10 }, world.deadline())).toMatchObject({
      unresolved: 0,
    });
  });

  it('goes on after one that fails', async () => {
    const { call } = await startedCall();
    await database.query(
      `insert into call_recordings (recording_id, account_id, telephony_session_id, content_uri, s3_key,
        stored_at, transcription_job, transcription_status, transcription_started_at)
       select '1', account_id, telephony_session_id, 'u', 'k.mp3', stored_at - interval '1 s', 'test-rec-1', 'started', transcription_started_at
       from call_recordings`,
    );
    ends(completed);
    const { transcriber } = world;
    world.deps.transcriber = {
      ...transcriber,
      describe: (name) =>
        name === 'test-rec-1' ? Promise.reject(new Error('down')) : transcriber.describe(name),
    };
    hours(3);
    expect(await check()).toEqual({ checked: 2, unresolved: 1 });
    expect(await transcripts()).toHaveLength(1);
    expect(call.accountId).toBe(accountId);
  });
});
