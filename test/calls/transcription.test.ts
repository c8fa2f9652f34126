import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answeredCall, voicemailCall } from '../../local/ringcentral/sample-calls.ts';
import { processRecording } from '../../src/calls/recording.ts';
import { jobNameOf } from '../../src/calls/start-transcription.ts';
import { channelRoles, completeTranscription } from '../../src/calls/transcription.ts';
import { processVoicemail } from '../../src/calls/voicemail.ts';
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

const done = { kind: 'done' };
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

const tell = (name = jobName, jobStatus: 'COMPLETED' | 'FAILED' = 'COMPLETED') =>
  completeTranscription(world.deps, { kind: 'transcription', jobName: name, jobStatus }, world.deadline());
const recordings = () => database.query('select * from call_recordings');
const transcripts = () => database.query('select * from transcripts');
const told = () => database.query(`select * from contact_timeline where event_type = 'call.transcribed'`);

describe('a job that is complete', () => {
  it('leaves transcript, row and timeline', async () => {
    const { call } = await startedCall();
    ends(completed);
    expect(await tell()).toEqual(done);
    expect(await transcripts()).toEqual([
      {
        source: 'recording',
        source_id: '55000010',
        text: 'Hello\nHi',
        segments: [
          { role: 'contact', speaker: 'ch_0', startMs: 0, endMs: 400, text: 'Hello' },
          { role: 'agent', speaker: 'ch_1', startMs: 1000, endMs: 1400, text: 'Hi' },
        ],
        language: 'en-US',
        speaker_basis: 'channel',
        created_at: expect.any(Date),
      },
    ]);
    expect(await recordings()).toMatchObject([
      { transcription_status: 'completed', transcription_reason: null },
    ]);
    expect(await told()).toEqual([
      expect.objectContaining({
        entity_id: call.telephonySessionId,
        occurred_at: completedAt,
        new_value: { source: 'recording', sourceId: '55000010' },
        idempotency_key: 'call.transcribed:recording:55000010',
      }),
    ]);
    expect(world.container.meter.totals).toMatchObject({ TranscriptStored: 1 });
    expect(world.lines('transcription.completed')).toEqual([
      {
        account_id: accountId,
        telephony_session_id: call.telephonySessionId,
        api_recording_id: '55000010',
        job_name: jobName,
        segments: 2,
        speaker_basis: 'channel',
      },
    ]);
  });

  it('that is told twice, or late, changes nothing', async () => {
    await startedCall();
    ends(completed);
    await tell();
    const before = [await transcripts(), await recordings(), await told()];
    ends({ status: 'failed', failureReason: 'too late' });
    expect([await tell(), await tell(jobName, 'FAILED')]).toEqual([done, done]);
    expect([await transcripts(), await recordings(), await told()]).toEqual(before);
    expect(world.container.meter.totals.TranscriptStored).toBe(1);
    expect(world.container.meter.totals.TranscriptionFailed).toBeUndefined();
  });

  it('that two invocations are told of at once is one transcript', async () => {
    await startedCall();
    ends(completed);
    expect(await Promise.all([tell(), tell()])).toEqual([done, done]);
    expect(await transcripts()).toHaveLength(1);
    expect(world.container.meter.totals.TranscriptStored).toBe(1);
  });

  it('before the row says that it was started, finds the row all the same', async () => {
    const { snapshot, session } = await afterCallLog(
      world,
      answeredCall({ accountId, number: 1, startedAt: world.simulator.clock.now(), talkSeconds: 60 }),
    );
    const { transcriber } = world;
    // The job is faster than the row.
    const overtaking = {
      ...transcriber,
      start: async (...args: Parameters<typeof transcriber.start>) => {
        const outcome = await transcriber.start(...args);
        ends(completed);
        expect(await tell()).toEqual(done);
        return outcome;
      },
    };
    const deps = { ...world.deps, transcriber: overtaking };
    expect(await processRecording(deps, snapshot, session, world.deadline())).toEqual(done);
    expect(await recordings()).toMatchObject([{ transcription_status: 'completed' }]);
    expect(await transcripts()).toHaveLength(1);
  });

  it('in which nobody spoke is a normal end', async () => {
    await startedCall();
    ends(completed, []);
    expect(await tell()).toEqual(done);
    expect(await recordings()).toMatchObject([{ transcription_status: 'no_speech' }]);
    expect(await transcripts()).toMatchObject([{ text: '', segments: [] }]);
    expect(await told()).toEqual([]);
    expect(world.container.meter.totals.TranscriptionFailed).toBeUndefined();
  });

  it('of a voicemail has no roles', async () => {
    const call = voicemailCall({ accountId, number: 2, startedAt: world.simulator.clock.now() });
    for (const voicemail of call.voicemails) voicemail.transcription = 'Failed';
    const { session } = await afterCallLog(world, call);
    await processVoicemail(world.deps, session, world.deadline());
    const name = 'test-vm-66000020';
    ends(completed);
    world.transcriber.jobs.set(name, completed);
    expect(await tell(name)).toEqual(done);
    expect(await transcripts()).toMatchObject([
      { source: 'voicemail', source_id: '66000020', segments: [{ role: 'unknown' }, { role: 'unknown' }] },
    ]);
    expect(await told()).toMatchObject([{ idempotency_key: 'call.transcribed:voicemail:66000020' }]);
    expect(await database.query('select transcription_status from voicemails')).toEqual([
      { transcription_status: 'completed' },
    ]);
  });
});

describe('a job that failed', () => {
  it('keeps Amazon`s reason in the row, and a code in the log', async () => {
    await startedCall();
    const failureReason = 'The media format provided does not match the detected media format.';
    ends({ status: 'failed', failureReason });
    expect([await tell(jobName, 'FAILED'), await tell(jobName, 'FAILED')]).toEqual([done, done]);
    expect(await recordings()).toMatchObject([
      { transcription_status: 'failed', transcription_reason: failureReason },
    ]);
    expect(world.lines('transcription.failed')).toMatchObject([{ job_name: jobName, reason: 'job_failed' }]);
    expect(world.container.meter.totals.TranscriptionFailed).toBe(1);
    expect(await told()).toEqual([]);
  });

  it('and then turns out complete is complete', async () => {
    await startedCall();
    ends({ status: 'failed', failureReason: 'x' });
    await tell(jobName, 'FAILED');
    ends(completed);
    expect(await tell()).toEqual(done);
    expect(await recordings()).toMatchObject([
      { transcription_status: 'completed', transcription_reason: null },
    ]);
  });
});

describe('an event that can`t be followed', () => {
  it('of another stage is left alone, and logged', async () => {
    await startedCall();
    for (const name of ['prod-rec-55000010', 'testing-rec-1', 'somebody-elses-job']) {
      expect(await tell(name)).toEqual(done);
    }
    expect(world.lines('transcription.ignored')).toHaveLength(3);
    expect(await recordings()).toMatchObject([{ transcription_status: 'started' }]);
  });

  it('of this stage with no row is for a person', async () => {
    expect(await tell()).toEqual({ kind: 'failed', reason: 'unknown_transcription_job' });
  });

  it.each([
    ['the job isn`t there yet', undefined, { kind: 'retry', reason: 'transcription_job_not_found' }],
    [
      'the job isn`t over yet',
      { status: 'in_progress' } as const,
      { kind: 'retry', reason: 'transcription_job_not_completed' },
    ],
    [
      'its result is elsewhere',
      { status: 'completed' } as const,
      { kind: 'failed', reason: 'transcript_not_in_bucket' },
    ],
  ])('(%s) changes nothing', async (_, job, result) => {
    await startedCall();
    world.transcriber.jobs.delete(jobName);
    if (job) ends(job);
    expect(await tell()).toEqual(result);
    expect(await recordings()).toMatchObject([{ transcription_status: 'started' }]);
  });

  it('whose result isn`t there or isn`t one changes nothing', async () => {
    await startedCall();
    world.transcriber.jobs.set(jobName, completed);
    expect(await tell()).toEqual({ kind: 'retry', reason: 'transcript_not_found' });
    world.objects.objects.set(resultKey, { bytes: 4, metadata: {}, text: '<xml' });
    expect(await tell()).toEqual({ kind: 'failed', reason: 'transcript_unreadable' });
    expect(await recordings()).toMatchObject([{ transcription_status: 'started' }]);
  });
});

describe('names', () => {
  it.each([
    [{ source: 'recording', id: '5512' }, 'prod-rec-5512'],
    [{ source: 'voicemail', id: '6644001' }, 'prod-vm-6644001'],
  ] as const)('of %o is %s', (media, name) => {
    expect(jobNameOf('prod', media)).toBe(name);
  });

  it.each(['a b', 'x/y', 'ä', '9'.repeat(300)])('of an id like %s is one that Transcribe takes', (id) => {
    const name = jobNameOf('prod', { source: 'recording', id });
    expect(name).toMatch(/^prod-rec-[0-9a-zA-Z._-]{1,190}$/);
    expect(name).not.toBe(jobNameOf('prod', { source: 'recording', id: `${id}!` }));
  });
});

it.each([
  ['recording', 'inbound', ['contact', 'agent']],
  ['recording', 'outbound', ['agent', 'contact']],
  ['recording', null, ['unknown', 'unknown']],
  ['voicemail', 'inbound', ['unknown', 'unknown']],
] as const)('the channels of an %s %s call are %s', (source, direction, roles) => {
  expect(channelRoles({ source }, { direction })).toEqual(roles);
});
