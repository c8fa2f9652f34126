import {
  type TranscriptionJob as AwsJob,
  BadRequestException,
  ConflictException,
  GetTranscriptionJobCommand,
  LanguageCode,
  LimitExceededException,
  NotFoundException,
  StartTranscriptionJobCommand,
  TranscribeClient,
} from '@aws-sdk/client-transcribe';
import * as z from 'zod';
import { awsClientConfig } from './aws-client-config.ts';

export interface TranscriptionRequest {
  /** Unique in the AWS account; letters, digits, `.`, `_` and `-`, at most 200. */
  jobName: string;
  /** Keys of the bucket. */
  mediaKey: string;
  outputKey: string;
  mediaFormat: 'mp3' | 'wav';
  /** Each channel is transcribed by itself. */
  stereo: boolean;
}

export interface TranscriptionJob {
  status: 'in_progress' | 'completed' | 'failed';
  /** The result's key, when it is complete and lies in the bucket. Of a redacted job only ever the redacted one. */
  resultKey?: string;
  /** Amazon's own words. */
  failureReason?: string;
  languageCode?: string;
  completedAt?: Date;
}

/**
 * `busy`: too many jobs or requests at the moment. `name_taken`: the name belongs to a job of other sound.
 * `refused`: the request itself is wrong, such as a language that can't be redacted.
 */
export type StartOutcome = 'started' | 'busy' | 'name_taken' | 'refused';

/** Speech to text, as a port. */
export interface Transcriber {
  /** Starting the same job again counts as started. */
  start(request: TranscriptionRequest): Promise<StartOutcome>;
  /** Undefined when there is no such job (any more: Amazon keeps them for 90 days). */
  describe(jobName: string): Promise<TranscriptionJob | undefined>;
}

export interface TranscriberSettings {
  language: LanguageCode;
  /** Names, numbers and the like are left out of the transcript. */
  redact: boolean;
}

const settingsSchema = z.object({
  TRANSCRIBE_LANGUAGE: z.enum(LanguageCode),
  TRANSCRIBE_REDACTION: z.enum(['on', 'off']),
});

/** @throws Error naming the variable whose value is not a language of Amazon Transcribe's, or not 'on' or 'off' */
export function parseTranscriberSettings(environment: {
  TRANSCRIBE_LANGUAGE: string;
  TRANSCRIBE_REDACTION: string;
}): TranscriberSettings {
  const parsed = settingsSchema.safeParse(environment);
  if (!parsed.success) {
    const names = parsed.error.issues.map(({ path }) => path.join('.'));
    throw new Error(`Not a value that Amazon Transcribe takes: ${names.join(', ')}`);
  }
  const { TRANSCRIBE_LANGUAGE, TRANSCRIBE_REDACTION } = parsed.data;
  return { language: TRANSCRIBE_LANGUAGE, redact: TRANSCRIBE_REDACTION === 'on' };
}

/** Two at the least; more are told apart than take part in most calls. */
const maxSpeakers = 4;

/** https://docs.aws.amazon.com/transcribe/latest/APIReference/API_StartTranscriptionJob.html */
export function createTranscriber(
  bucketName: string,
  { language, redact }: TranscriberSettings,
  client = new TranscribeClient(awsClientConfig),
): Transcriber {
  const uriOf = (key: string) => `s3://${bucketName}/${key}`;

  async function find(jobName: string): Promise<AwsJob | undefined> {
    try {
      const answer = await client.send(new GetTranscriptionJobCommand({ TranscriptionJobName: jobName }));
      return answer.TranscriptionJob;
    } catch (error) {
      // Documented as NotFound, answered as BadRequest; a name of ours can't be a bad one.
      if (error instanceof NotFoundException || error instanceof BadRequestException) return undefined;
      throw error;
    }
  }

  return {
    async start({ jobName, mediaKey, outputKey, mediaFormat, stereo }) {
      const command = new StartTranscriptionJobCommand({
        TranscriptionJobName: jobName,
        LanguageCode: language,
        MediaFormat: mediaFormat,
        Media: { MediaFileUri: uriOf(mediaKey) },
        OutputBucketName: bucketName,
        OutputKey: outputKey,
        Settings: stereo
          ? { ChannelIdentification: true }
          : { ShowSpeakerLabels: true, MaxSpeakerLabels: maxSpeakers },
        ...(redact ? { ContentRedaction: { RedactionType: 'PII', RedactionOutput: 'redacted' } } : {}),
      });
      try {
        await client.send(command);
        return 'started';
      } catch (error) {
        if (error instanceof ConflictException) {
          const job = await find(jobName);
          return job?.Media?.MediaFileUri === uriOf(mediaKey) ? 'started' : 'name_taken';
        }
        if (error instanceof LimitExceededException || isThrottling(error)) return 'busy';
        if (error instanceof BadRequestException) return 'refused';
        throw error;
      }
    },

    async describe(jobName) {
      const job = await find(jobName);
      return job && readJob(job, bucketName);
    },
  };
}

/** The SDK's own name for it, whatever the service calls it. */
const isThrottling = (error: unknown) => error instanceof Error && error.name === 'ThrottlingException';

const statuses: Record<string, TranscriptionJob['status']> = { COMPLETED: 'completed', FAILED: 'failed' };

function readJob(job: AwsJob, bucketName: string): TranscriptionJob {
  const { Transcript, ContentRedaction, FailureReason, LanguageCode: languageCode, CompletionTime } = job;
  const uri = ContentRedaction ? Transcript?.RedactedTranscriptFileUri : Transcript?.TranscriptFileUri;
  const resultKey = uri === undefined ? undefined : keyOfUri(uri, bucketName);
  return {
    status: statuses[job.TranscriptionJobStatus ?? ''] ?? 'in_progress',
    ...(resultKey === undefined ? {} : { resultKey }),
    ...(FailureReason === undefined ? {} : { failureReason: FailureReason }),
    ...(languageCode === undefined ? {} : { languageCode }),
    ...(CompletionTime === undefined ? {} : { completedAt: CompletionTime }),
  };
}

/** S3's addresses name the bucket in the path or as the first part of the host. */
function keyOfUri(uri: string, bucketName: string): string | undefined {
  if (!URL.canParse(uri)) return undefined;
  const { hostname, pathname } = new URL(uri);
  const path = decodeURIComponent(pathname);
  if (hostname === bucketName || hostname.startsWith(`${bucketName}.`)) return path.slice(1);
  return path.startsWith(`/${bucketName}/`) ? path.slice(bucketName.length + 2) : undefined;
}
