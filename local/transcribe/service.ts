import { localAccount } from '../assembly/template.ts';
import {
  type AwsService,
  awsError,
  awsJson,
  type Need,
  UnknownOperationError,
} from '../services/aws-service.ts';
import type { Buckets } from '../services/s3.ts';
import { readSound, soundHeaderBytes } from './media.ts';
import { mediaOf, outputsOf, readStartRequest, type StartRequest } from './request.ts';
import { speechIn } from './speech.ts';
import { buildTranscript } from './transcript.ts';

/** What goes wrong with a job, or is out of the ordinary. */
export type JobFault =
  /** Too many jobs at a time: the request is refused. */
  | { kind: 'limit' }
  | { kind: 'fail'; reason: string }
  | { kind: 'no_speech' }
  | { kind: 'lose_event' }
  | { kind: 'duplicate_event' };

export interface TranscribePorts {
  buckets: Pick<Buckets, 'find' | 'head' | 'put'>;
  clock: { now(): Date; sleep(milliseconds: number): Promise<unknown> };
  /** EventBridge takes what Transcribe tells. */
  emit(region: string, detailType: string, detail: Record<string, string>): void;
  /** Work that goes on after the answer. */
  track(work: Promise<void>): void;
}

export interface TranscribeOptions {
  /** How long a job takes; default one second. */
  jobMs?: number;
  faults?(jobName: string): readonly JobFault[];
}

export interface TranscriptionJob {
  request: StartRequest;
  region: string;
  status: 'IN_PROGRESS' | 'COMPLETED' | 'FAILED';
  startedAt: Date;
  completedAt?: Date;
  failureReason?: string;
}

const unreadable =
  "The S3 URI that you provided can't be accessed. Make sure that you have read permission and try your request again.";
const detailType = 'Transcribe Job State Change';

/**
 * Amazon Transcribe with the two calls that functions make. Nobody listens: what was said follows from the
 * recording's name. As AWS does, it reads and writes S3 as the caller, and says BadRequest where it may not.
 */
export function createTranscribe(
  ports: TranscribePorts,
  options: TranscribeOptions = {},
): AwsService & { readonly jobs: ReadonlyMap<string, TranscriptionJob> } {
  const jobs = new Map<string, TranscriptionJob>();
  const { buckets, clock } = ports;

  async function start(region: string, body: unknown) {
    const request = readStartRequest(body);
    if ('problem' in request) return badRequest(request.problem);
    const name = request.TranscriptionJobName;
    const faults = options.faults?.(name) ?? [];
    if (faults.some(({ kind }) => kind === 'limit')) {
      return awsError(400, 'LimitExceededException', 'You have reached the limit of concurrent jobs.');
    }
    const id = `${region}/${name}`;
    if (jobs.has(id)) return awsError(400, 'ConflictException', 'The requested job name already exists.');
    const { bucket, key } = mediaOf(request);
    if (!(await isThere(region, bucket, key))) return badRequest(unreadable);
    if (buckets.find(request.OutputBucketName)?.region !== region) {
      return badRequest("The specified S3 bucket can't be accessed.");
    }
    const job: TranscriptionJob = { request, region, status: 'IN_PROGRESS', startedAt: clock.now() };
    jobs.set(id, job);
    ports.track(run(job, faults));
    return awsJson({ TranscriptionJob: describe(job) });
  }

  async function isThere(region: string, bucket: string, key: string): Promise<boolean> {
    return buckets.find(bucket)?.region === region && (await buckets.head(bucket, key, 1)) !== undefined;
  }

  async function run(job: TranscriptionJob, faults: readonly JobFault[]): Promise<void> {
    await clock.sleep(options.jobMs ?? 1_000);
    const failed = faults.find((fault) => fault.kind === 'fail');
    const reason = failed?.reason ?? (await transcribe(job, faults));
    job.status = reason === undefined ? 'COMPLETED' : 'FAILED';
    job.completedAt = clock.now();
    if (reason !== undefined) job.failureReason = reason;
    const times = faults.reduce((count, { kind }) => {
      if (kind === 'lose_event') return 0;
      return kind === 'duplicate_event' ? 2 : count;
    }, 1);
    for (let time = 0; time < times; time += 1) {
      ports.emit(job.region, detailType, {
        TranscriptionJobName: job.request.TranscriptionJobName,
        TranscriptionJobStatus: job.status,
        ...(reason === undefined ? {} : { FailureReason: reason }),
      });
    }
  }

  /** Writes the transcripts; the answer says why that can't be. */
  async function transcribe(
    { request }: TranscriptionJob,
    faults: readonly JobFault[],
  ): Promise<string | undefined> {
    const { bucket, key } = mediaOf(request);
    const bytes = await buckets.head(bucket, key, soundHeaderBytes);
    if (!bytes) return unreadable;
    const sound = readSound(bytes);
    if (!sound) return 'Unsupported media format.';
    if (request.MediaFormat && request.MediaFormat !== sound.format) {
      return 'The media format provided does not match the detected media format.';
    }
    const speech = faults.some(({ kind }) => kind === 'no_speech') ? [] : speechIn(key);
    const { redacted, unredacted } = outputsOf(request);
    for (const [output, isRedacted] of [
      [redacted, true],
      [unredacted, false],
    ] as const) {
      if (output === undefined) continue;
      const transcript = buildTranscript(request, speech, { channels: sound.channels, redacted: isRedacted });
      await buckets.put(request.OutputBucketName, output, JSON.stringify(transcript), 'application/json');
    }
    return undefined;
  }

  return {
    jobs,
    needs({ operation, region, body }) {
      if (operation === 'StartTranscriptionJob') return needsOfStart(body);
      if (operation !== 'GetTranscriptionJob') throw new UnknownOperationError('Transcribe', operation);
      const resource = `arn:aws:transcribe:${region}:${localAccount}:transcription-job/${body.TranscriptionJobName}`;
      return [{ action: 'transcribe:GetTranscriptionJob', resource }];
    },
    async handle({ operation, region, body }) {
      if (operation === 'StartTranscriptionJob') return start(region, body);
      const job = jobs.get(`${region}/${body.TranscriptionJobName}`);
      if (!job) {
        return badRequest(
          "The requested job couldn't be found. Check the job name and try your request again.",
        );
      }
      return awsJson({ TranscriptionJob: describe(job) });
    },
  };

  /** StartTranscriptionJob has no resource of its own, and S3 is asked with the caller's rights. */
  function needsOfStart(body: unknown): Need[] {
    const request = readStartRequest(body);
    if ('problem' in request) return [{ action: 'transcribe:StartTranscriptionJob', resource: '*' }];
    const { OutputBucketName, OutputKey } = request;
    const context = {
      'transcribe:OutputBucketName': [OutputBucketName],
      ...(OutputKey ? { 'transcribe:OutputKey': [OutputKey] } : {}),
    };
    const s3 = (action: string, bucket: string, key: string, problem: string): Need => ({
      action,
      resource: `arn:aws:s3:::${bucket}/${key}`,
      resourcePolicy: buckets.find(bucket)?.policy ?? [],
      refusal: badRequest(problem),
    });
    const media = mediaOf(request);
    return [
      { action: 'transcribe:StartTranscriptionJob', resource: '*', context },
      s3('s3:GetObject', media.bucket, media.key, unreadable),
      ...Object.values(outputsOf(request)).map((key) =>
        s3('s3:PutObject', OutputBucketName, key, "The specified S3 bucket can't be accessed."),
      ),
    ];
  }
}

const badRequest = (message: string) => awsError(400, 'BadRequestException', message);

function describe({ request, region, status, startedAt, completedAt, failureReason }: TranscriptionJob) {
  const { OutputBucketName, OutputKey: _, MediaFormat, ...rest } = request;
  const { redacted, unredacted } = outputsOf(request);
  const uri = (key: string) => `https://s3.${region}.amazonaws.com/${OutputBucketName}/${key}`;
  const epochSeconds = (date: Date) => date.getTime() / 1000;
  return {
    ...rest,
    MediaFormat: MediaFormat ?? (/\.wav$/i.test(request.Media.MediaFileUri) ? 'wav' : 'mp3'),
    TranscriptionJobStatus: status,
    CreationTime: epochSeconds(startedAt),
    StartTime: epochSeconds(startedAt),
    ...(completedAt ? { CompletionTime: epochSeconds(completedAt) } : {}),
    ...(failureReason ? { FailureReason: failureReason } : {}),
    ...(status === 'COMPLETED'
      ? {
          Transcript: {
            ...(unredacted ? { TranscriptFileUri: uri(unredacted) } : {}),
            ...(redacted ? { RedactedTranscriptFileUri: uri(redacted) } : {}),
          },
        }
      : {}),
  };
}
