import { StartTranscriptionJobCommand, TranscribeClient } from '@aws-sdk/client-transcribe';
import { beforeEach, describe, expect, it } from 'vitest';
import { audioStream } from '../../local/ringcentral/audio.ts';
import type { AwsCall, AwsService } from '../../local/services/aws-service.ts';
import { createTranscribe, type JobFault } from '../../local/transcribe/service.ts';

const region = 'us-west-2';
const start = {
  TranscriptionJobName: 'prod-rec-5500001',
  LanguageCode: 'en-US',
  Media: { MediaFileUri: 's3://sounds/recordings/400/5500001.mp3' },
  MediaFormat: 'mp3',
  OutputBucketName: 'sounds',
  OutputKey: 'transcripts/5500001.json',
  Settings: { ChannelIdentification: true },
};

let objects: Map<string, Buffer>;
let events: Record<string, string>[];
let work: Promise<void>[];
let release: () => void;
let faults: Record<string, JobFault[]>;
let transcribe: AwsService;

beforeEach(async () => {
  const mp3 = Buffer.concat(await audioStream({ format: 'mp3', seconds: 1 }).toArray());
  objects = new Map([['sounds/recordings/400/5500001.mp3', mp3]]);
  [events, work, faults] = [[], [], {}];
  const slept = new Promise<void>((resolve) => {
    release = resolve;
  });
  transcribe = createTranscribe(
    {
      buckets: {
        find: (name) =>
          name === 'sounds' ? { name, region, arn: 'arn:aws:s3:::sounds', policy: [] } : undefined,
        head: async (bucket, key, bytes) => objects.get(`${bucket}/${key}`)?.subarray(0, bytes),
        put: async (bucket, key, body) => {
          objects.set(`${bucket}/${key}`, Buffer.from(body));
        },
      },
      clock: { now: () => new Date('2026-11-03T14:00:00Z'), sleep: () => slept },
      emit: (_region, detailType, detail) => events.push({ detailType, ...detail }),
      track: (job) => work.push(job),
    },
    { faults: (name) => faults[name] ?? [] },
  );
});

const callOf = (operation: string, body: object): AwsCall => ({
  region,
  operation,
  body: body as AwsCall['body'],
  raw: Buffer.alloc(0),
  headers: {},
  caller: { functionName: 'fn', role: { arn: 'arn:role', trusted: [], statements: [] } },
});

async function call(operation: string, body: object) {
  const answer = await transcribe.handle(callOf(operation, body));
  return { status: answer.status, ...JSON.parse(answer.body) };
}

async function untilEnded(): Promise<void> {
  release();
  await Promise.all(work);
}

const transcript = (key: string) => JSON.parse(objects.get(`sounds/${key}`)?.toString() ?? 'null');
const job = async (name = start.TranscriptionJobName) =>
  (await call('GetTranscriptionJob', { TranscriptionJobName: name })).TranscriptionJob;

describe('a transcription job', () => {
  it('is in progress, then completed: transcript in the bucket, and an event', async () => {
    expect((await call('StartTranscriptionJob', start)).TranscriptionJob).toMatchObject({
      TranscriptionJobName: 'prod-rec-5500001',
      TranscriptionJobStatus: 'IN_PROGRESS',
    });
    expect([(await job()).TranscriptionJobStatus, events, objects.size]).toEqual(['IN_PROGRESS', [], 1]);
    await untilEnded();
    expect(await job()).toMatchObject({
      TranscriptionJobStatus: 'COMPLETED',
      CompletionTime: Date.parse('2026-11-03T14:00:00Z') / 1000,
      Transcript: { TranscriptFileUri: 'https://s3.us-west-2.amazonaws.com/sounds/transcripts/5500001.json' },
    });
    expect(events).toEqual([
      {
        detailType: 'Transcribe Job State Change',
        TranscriptionJobName: 'prod-rec-5500001',
        TranscriptionJobStatus: 'COMPLETED',
      },
    ]);
  });

  it('names the channels of a stereo recording', async () => {
    await call('StartTranscriptionJob', start);
    await untilEnded();
    const { results, ...head } = transcript('transcripts/5500001.json');
    expect(head).toMatchObject({ jobName: 'prod-rec-5500001', status: 'COMPLETED' });
    expect(results.channel_labels.number_of_channels).toBe(2);
    for (const { channel_label, items } of results.channel_labels.channels) {
      expect(items.length).toBeGreaterThan(0);
      for (const item of items) expect(item.channel_label).toBe(channel_label);
    }
    const [first] = results.items;
    expect(first).toMatchObject({
      type: 'pronunciation',
      start_time: '0.50',
      end_time: '0.80',
      alternatives: [
        { confidence: expect.any(String), content: results.transcripts[0].transcript.split(' ')[0] },
      ],
    });
    expect(results.speaker_labels).toBeUndefined();
  });

  it('labels speakers of a mono recording', async () => {
    const Settings = { ShowSpeakerLabels: true, MaxSpeakerLabels: 2 };
    await call('StartTranscriptionJob', { ...start, Settings });
    await untilEnded();
    const { results } = transcript('transcripts/5500001.json');
    expect(results.channel_labels).toBeUndefined();
    expect(results.speaker_labels.speakers).toBe(2);
    const [segment] = results.speaker_labels.segments;
    expect(segment.speaker_label).toBe('spk_0');
    expect(segment.items[0]).toEqual({ start_time: '0.50', end_time: '0.80', speaker_label: 'spk_0' });
  });

  it('redaction: the redacted transcript alone, under a name of its own, or both', async () => {
    const redaction = (RedactionOutput: string) => ({
      ContentRedaction: { RedactionType: 'PII', RedactionOutput },
    });
    await call('StartTranscriptionJob', { ...start, ...redaction('redacted') });
    const both = { TranscriptionJobName: 'prod-rec-2', OutputKey: 'transcripts/both.json' };
    await call('StartTranscriptionJob', { ...start, ...both, ...redaction('redacted_and_unredacted') });
    await untilEnded();
    const address = 'https://s3.us-west-2.amazonaws.com/sounds/transcripts';
    expect((await job()).Transcript).toEqual({
      RedactedTranscriptFileUri: `${address}/redacted-5500001.json`,
    });
    expect((await job('prod-rec-2')).Transcript).toEqual({
      TranscriptFileUri: `${address}/both.json`,
      RedactedTranscriptFileUri: `${address}/redacted-both.json`,
    });
    expect(objects.has('sounds/transcripts/5500001.json')).toBe(false);
    const redacted = transcript('transcripts/redacted-both.json');
    expect(redacted.isRedacted).toBe(true);
    expect(redacted.results.transcripts[0].transcript).toContain('[PII]');
    expect(transcript('transcripts/both.json').results.transcripts[0].transcript).not.toContain('PII');
  });

  it('the same recording says the same, whatever the job', async () => {
    await call('StartTranscriptionJob', start);
    await call('StartTranscriptionJob', {
      ...start,
      TranscriptionJobName: 'b',
      OutputKey: 'transcripts/b.json',
    });
    await untilEnded();
    expect(transcript('transcripts/b.json').results).toEqual(transcript('transcripts/5500001.json').results);
  });

  it('no speech is a transcript without a word', async () => {
    faults = { [start.TranscriptionJobName]: [{ kind: 'no_speech' }] };
    await call('StartTranscriptionJob', start);
    await untilEnded();
    expect(transcript('transcripts/5500001.json').results).toMatchObject({
      transcripts: [{ transcript: '' }],
      items: [],
    });
    expect((await job()).TranscriptionJobStatus).toBe('COMPLETED');
  });

  it.each<[string, JobFault[], string[]]>([
    ['an event is lost', [{ kind: 'lose_event' }], []],
    ['an event comes twice', [{ kind: 'duplicate_event' }], ['COMPLETED', 'COMPLETED']],
    ['a job fails', [{ kind: 'fail', reason: 'Invalid file size: file size too large.' }], ['FAILED']],
  ])('%s', async (_, given, statuses) => {
    faults = { [start.TranscriptionJobName]: given };
    await call('StartTranscriptionJob', start);
    await untilEnded();
    expect(events.map(({ TranscriptionJobStatus }) => TranscriptionJobStatus)).toEqual(statuses);
  });

  it.each<[string, Buffer | undefined, object, RegExp]>([
    ['sound of another format', undefined, { MediaFormat: 'wav' }, /format provided does not match/],
    ['no sound at all', Buffer.from('<html>busy</html>'), {}, /Unsupported media format/],
  ])('%s: failed with a reason, and no transcript', async (_, media, change, reason) => {
    if (media) objects.set('sounds/recordings/400/5500001.mp3', media);
    await call('StartTranscriptionJob', { ...start, ...change });
    await untilEnded();
    expect(await job()).toMatchObject({
      TranscriptionJobStatus: 'FAILED',
      FailureReason: expect.stringMatching(reason),
    });
    expect(events).toEqual([expect.objectContaining({ FailureReason: expect.stringMatching(reason) })]);
    expect(objects.size).toBe(1);
  });

  it('a recording that is deleted meanwhile fails the job', async () => {
    await call('StartTranscriptionJob', start);
    objects.clear();
    await untilEnded();
    expect(await job()).toMatchObject({
      TranscriptionJobStatus: 'FAILED',
      FailureReason: expect.stringMatching(/S3 URI/),
    });
  });
});

describe('what Transcribe refuses', () => {
  it('a name that is taken', async () => {
    await call('StartTranscriptionJob', start);
    expect(await call('StartTranscriptionJob', start)).toMatchObject({
      status: 400,
      __type: 'ConflictException',
    });
  });

  it('too many jobs, and the next try is no conflict', async () => {
    faults = { [start.TranscriptionJobName]: [{ kind: 'limit' }] };
    expect(await call('StartTranscriptionJob', start)).toMatchObject({ __type: 'LimitExceededException' });
    faults = {};
    expect(await call('StartTranscriptionJob', start)).toMatchObject({ status: 200 });
  });

  it.each<[string, object]>([
    ['a parameter that it does not know', { Subtitles: { Formats: ['srt'] } }],
    ['a job name with a space', { TranscriptionJobName: 'a b' }],
    ['a name of over 200 characters', { TranscriptionJobName: 'a'.repeat(201) }],
    [
      'channels and speakers at once',
      { Settings: { ChannelIdentification: true, ShowSpeakerLabels: true, MaxSpeakerLabels: 2 } },
    ],
    ['speakers without their number', { Settings: { ShowSpeakerLabels: true } }],
    [
      'redaction in a language that has none',
      {
        LanguageCode: 'de-DE',
        ContentRedaction: { RedactionType: 'PII', RedactionOutput: 'redacted' },
      },
    ],
    ['a recording that is not there', { Media: { MediaFileUri: 's3://sounds/recordings/none.mp3' } }],
    ['a bucket that is not there', { OutputBucketName: 'elsewhere' }],
    ['an output key with a space', { OutputKey: 'a b' }],
  ])('%s', async (_, change) => {
    expect(await call('StartTranscriptionJob', { ...start, ...change })).toMatchObject({
      status: 400,
      __type: 'BadRequestException',
    });
    expect(work).toEqual([]);
  });

  it('a job that nobody started, and an operation that is not known', async () => {
    expect(await call('GetTranscriptionJob', { TranscriptionJobName: 'none' })).toMatchObject({
      __type: 'BadRequestException',
    });
    expect(() => transcribe.needs(callOf('DeleteTranscriptionJob', {}))).toThrow('DeleteTranscriptionJob');
  });
});

describe('what a caller needs', () => {
  it('starting a job: Transcribe, the recording, and the place of each transcript', () => {
    const ContentRedaction = { RedactionType: 'PII', RedactionOutput: 'redacted_and_unredacted' };
    const needs = transcribe.needs(callOf('StartTranscriptionJob', { ...start, ContentRedaction }));
    expect(needs.map(({ action, resource }) => [action, resource])).toEqual([
      ['transcribe:StartTranscriptionJob', '*'],
      ['s3:GetObject', 'arn:aws:s3:::sounds/recordings/400/5500001.mp3'],
      ['s3:PutObject', 'arn:aws:s3:::sounds/transcripts/redacted-5500001.json'],
      ['s3:PutObject', 'arn:aws:s3:::sounds/transcripts/5500001.json'],
    ]);
    expect(needs[0]?.context).toMatchObject({ 'transcribe:OutputBucketName': ['sounds'] });
    expect(JSON.parse(needs[1]?.refusal?.body ?? '{}').__type).toBe('BadRequestException');
  });

  it('the parameters are those of the SDK', async () => {
    // The SDK writes the body as it is typed: what it lets through is what is checked here.
    const client = new TranscribeClient({
      region,
      endpoint: 'http://127.0.0.1:1',
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    });
    let body = '';
    client.middlewareStack.add(
      () => async (args) => {
        const { body: sent } = args.request as { body: Uint8Array | string };
        body = new TextDecoder().decode(sent as Uint8Array);
        return { response: {}, output: { $metadata: {} } };
      },
      { step: 'finalizeRequest' },
    );
    await client.send(
      new StartTranscriptionJobCommand(
        start as ConstructorParameters<typeof StartTranscriptionJobCommand>[0],
      ),
    );
    expect((await call('StartTranscriptionJob', JSON.parse(body))).status).toBe(200);
  });
});
