import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { TranscribeClient } from '@aws-sdk/client-transcribe';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readStartRequest } from '../../local/transcribe/request.ts';
import { createTranscriber, parseTranscriberSettings } from '../../src/platform/transcriber.ts';

/** What is sent, as the service would read it, and what it answers: the JSON of AWS's API reference. */
const calls: { operation: string; body: unknown }[] = [];
let answers: Record<string, { status: number; body: Record<string, unknown> }> = {};
let server: Server;
let client: TranscribeClient;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const operation = String(request.headers['x-amz-target']).replace('Transcribe.', '');
    calls.push({ operation, body: await json(request) });
    const { status, body } = answers[operation] ?? { status: 500, body: {} };
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  client = new TranscribeClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
  });
});
beforeEach(() => {
  calls.length = 0;
  answers = {};
});
afterAll(() => server.close());

const error = (type: string, message = 'no') => ({ status: 400, body: { __type: type, Message: message } });
const job = (fields: Record<string, unknown>) => ({
  status: 200,
  body: { TranscriptionJob: { TranscriptionJobName: 'prod-rec-5512', ...fields } },
});
const notFound = error('BadRequestException', "The requested job couldn't be found.");

const request = {
  jobName: 'prod-rec-5512',
  mediaKey: 'recordings/900100/2026/03/5512.mp3',
  outputKey: 'transcripts/recordings/900100/2026/03/5512.json',
  mediaFormat: 'mp3',
  stereo: true,
} as const;
const transcriber = (redact = true) =>
  createTranscriber('calls-bucket', { language: 'en-US', redact }, client);

describe('start', () => {
  it('asks for a stereo recording`s channels, redacted, into our bucket', async () => {
    answers = { StartTranscriptionJob: job({ TranscriptionJobStatus: 'IN_PROGRESS' }) };
    expect(await transcriber().start(request)).toBe('started');
    expect(readStartRequest(calls[0]?.body)).not.toHaveProperty('problem');
    expect(calls).toEqual([
      {
        operation: 'StartTranscriptionJob',
        body: {
          TranscriptionJobName: 'prod-rec-5512',
          LanguageCode: 'en-US',
          MediaFormat: 'mp3',
          Media: { MediaFileUri: 's3://calls-bucket/recordings/900100/2026/03/5512.mp3' },
          OutputBucketName: 'calls-bucket',
          OutputKey: 'transcripts/recordings/900100/2026/03/5512.json',
          Settings: { ChannelIdentification: true },
          ContentRedaction: { RedactionType: 'PII', RedactionOutput: 'redacted' },
        },
      },
    ]);
  });

  it('asks for a mono recording`s speakers, unredacted where the stage says so', async () => {
    answers = { StartTranscriptionJob: job({ TranscriptionJobStatus: 'IN_PROGRESS' }) };
    await transcriber(false).start({ ...request, stereo: false, mediaFormat: 'wav' });
    const [{ body } = { body: {} }] = calls;
    expect(body).toMatchObject({
      MediaFormat: 'wav',
      Settings: { ShowSpeakerLabels: true, MaxSpeakerLabels: 4 },
    });
    expect(body).not.toHaveProperty('ContentRedaction');
    expect(readStartRequest(body)).not.toHaveProperty('problem');
  });

  it.each([
    ['started', 's3://calls-bucket/recordings/900100/2026/03/5512.mp3'],
    ['name_taken', 's3://another-bucket/recordings/900100/2026/03/5512.mp3'],
  ])('of a name that exists is %s when the job reads %s', async (outcome, uri) => {
    answers = {
      StartTranscriptionJob: error('ConflictException', 'The requested job name already exists.'),
      GetTranscriptionJob: job({ TranscriptionJobStatus: 'COMPLETED', Media: { MediaFileUri: uri } }),
    };
    expect(await transcriber().start(request)).toBe(outcome);
    expect(calls[1]).toEqual({
      operation: 'GetTranscriptionJob',
      body: { TranscriptionJobName: 'prod-rec-5512' },
    });
  });

  it.each([
    ['LimitExceededException', 'busy'],
    ['ThrottlingException', 'busy'],
    ['BadRequestException', 'refused'],
  ])('answered %s is %s', async (type, outcome) => {
    answers = { StartTranscriptionJob: error(type) };
    expect(await transcriber().start(request)).toBe(outcome);
  });

  it.each(['InternalFailureException', 'AccessDeniedException'])('throws %s', async (type) => {
    answers = { StartTranscriptionJob: error(type) };
    await expect(transcriber().start(request)).rejects.toThrow();
  });
});

describe('describe', () => {
  const path = 'https://s3.us-east-1.amazonaws.com/calls-bucket/transcripts';
  const describeJob = (fields: Record<string, unknown>) => {
    answers = { GetTranscriptionJob: job(fields) };
    return transcriber().describe('prod-rec-5512');
  };

  it.each(['QUEUED', 'IN_PROGRESS'])('%s is in progress', async (status) => {
    expect(await describeJob({ TranscriptionJobStatus: status })).toEqual({ status: 'in_progress' });
  });

  it('knows a redacted job`s result, and when it was complete', async () => {
    expect(
      await describeJob({
        TranscriptionJobStatus: 'COMPLETED',
        LanguageCode: 'en-US',
        CompletionTime: 1_772_637_900.25,
        ContentRedaction: { RedactionType: 'PII', RedactionOutput: 'redacted' },
        Transcript: { RedactedTranscriptFileUri: `${path}/recordings/redacted-5512.json` },
      }),
    ).toEqual({
      status: 'completed',
      resultKey: 'transcripts/recordings/redacted-5512.json',
      languageCode: 'en-US',
      completedAt: new Date('2026-03-04T15:25:00.250Z'),
    });
  });

  it('never takes what wasn`t redacted of a redacted job', async () => {
    const answer = await describeJob({
      TranscriptionJobStatus: 'COMPLETED',
      ContentRedaction: { RedactionType: 'PII', RedactionOutput: 'redacted' },
      Transcript: { TranscriptFileUri: `${path}/5512.json` },
    });
    expect(answer).toEqual({ status: 'completed' });
  });

  it.each([
    [`${path}/5512.json`, 'transcripts/5512.json'],
    ['https://calls-bucket.s3.us-east-1.amazonaws.com/transcripts/a%20b.json', 'transcripts/a b.json'],
    ['s3://calls-bucket/transcripts/5512.json', 'transcripts/5512.json'],
    ['https://s3.us-east-1.amazonaws.com/another-bucket/5512.json', undefined],
    ['nonsense', undefined],
  ])('finds the key of %s', async (uri, resultKey) => {
    const answer = await describeJob({
      TranscriptionJobStatus: 'COMPLETED',
      Transcript: { TranscriptFileUri: uri },
    });
    expect(answer?.resultKey).toBe(resultKey);
  });

  it('says why a job failed', async () => {
    const reason = 'Invalid file size: file size too large.';
    expect(await describeJob({ TranscriptionJobStatus: 'FAILED', FailureReason: reason })).toEqual({
      status: 'failed',
      failureReason: reason,
    });
  });

  it.each([notFound, error('NotFoundException')])('is undefined without such a job (%#)', async (answer) => {
    answers = { GetTranscriptionJob: answer };
    expect(await transcriber().describe('prod-rec-1')).toBeUndefined();
  });
});

describe('settings', () => {
  const parse = (language: string, redaction: string) =>
    parseTranscriberSettings({ TRANSCRIBE_LANGUAGE: language, TRANSCRIBE_REDACTION: redaction });

  it('come from the environment', () => {
    expect(parse('en-US', 'on')).toEqual({ language: 'en-US', redact: true });
    expect(parse('es-US', 'off')).toEqual({ language: 'es-US', redact: false });
  });

  it.each([
    ['english', 'on', 'TRANSCRIBE_LANGUAGE'],
    ['en-US', 'true', 'TRANSCRIBE_REDACTION'],
    ['', '', 'TRANSCRIBE_LANGUAGE, TRANSCRIBE_REDACTION'],
  ])('%s, %s: the error names %s', (language, redaction, names) => {
    expect(() => parse(language, redaction)).toThrow(`takes: ${names}`);
  });
});
