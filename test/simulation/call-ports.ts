import type { Readable } from 'node:stream';
import type { Clock } from '../../src/platform/clock.ts';
import type { ObjectHead, ObjectStore } from '../../src/platform/object-store.ts';
import type {
  StartOutcome,
  Transcriber,
  TranscriptionJob,
  TranscriptionRequest,
} from '../../src/platform/transcriber.ts';

/** A bucket in memory: sound by its size alone, texts as they are. An upload that fails leaves nothing. */
export class MemoryObjects implements ObjectStore {
  readonly heads = new Map<string, ObjectHead>();
  readonly texts = new Map<string, string>();
  /** How often each key was written. */
  readonly uploads = new Map<string, number>();

  async head(key: string): Promise<ObjectHead | undefined> {
    return this.heads.get(key);
  }

  async upload(
    key: string,
    stream: Readable,
    { contentType, metadata }: { contentType: string; metadata: Record<string, string> },
  ): Promise<number> {
    let bytes = 0;
    for await (const chunk of stream) bytes += chunk.length;
    this.heads.set(key, { bytes, contentType, metadata });
    this.uploads.set(key, (this.uploads.get(key) ?? 0) + 1);
    return bytes;
  }

  async getText(key: string): Promise<string | undefined> {
    return this.texts.get(key);
  }
}

interface Job extends TranscriptionRequest {
  completedAt: number;
  job: TranscriptionJob;
}

/** Amazon Transcribe: a job under each name once, which takes a minute and then tells EventBridge. */
export class MemoryTranscriber implements Transcriber {
  readonly jobs = new Map<string, Job>();
  /** What Transcribe answers instead of starting a job. */
  refuse: Exclude<StartOutcome, 'started'> | undefined;
  readonly #clock: Clock;
  readonly #objects: MemoryObjects;
  readonly #later: (at: number, run: () => Promise<void>) => void;
  readonly #tell: (envelope: unknown) => Promise<void>;

  constructor(
    clock: Clock,
    objects: MemoryObjects,
    {
      later,
      tell,
    }: { later: (at: number, run: () => Promise<void>) => void; tell: (envelope: unknown) => Promise<void> },
  ) {
    this.#clock = clock;
    this.#objects = objects;
    this.#later = later;
    this.#tell = tell;
  }

  async start(request: TranscriptionRequest): Promise<StartOutcome> {
    if (this.refuse) return this.refuse;
    const known = this.jobs.get(request.jobName);
    if (known) return known.mediaKey === request.mediaKey ? 'started' : 'name_taken';
    const completedAt = this.#clock.now().getTime() + 60_000;
    this.jobs.set(request.jobName, { ...request, completedAt, job: { status: 'in_progress' } });
    this.#later(completedAt, () => this.#complete(request));
    return 'started';
  }

  async describe(jobName: string): Promise<TranscriptionJob | undefined> {
    return this.jobs.get(jobName)?.job;
  }

  async #complete(request: TranscriptionRequest): Promise<void> {
    const { jobName, outputKey } = request;
    this.#objects.texts.set(outputKey, JSON.stringify(resultOf(request)));
    const job = { status: 'completed', resultKey: outputKey, languageCode: 'en-US' } as const;
    this.jobs.set(jobName, { ...request, completedAt: this.#clock.now().getTime(), job });
    await this.#tell(completedEvent(jobName));
  }
}

/** Two words as Transcribe writes them. */
function resultOf({ jobName, stereo }: TranscriptionRequest) {
  const word = (content: string, second: number) => ({
    type: 'pronunciation',
    start_time: `${second}.0`,
    end_time: `${second}.5`,
    alternatives: [{ confidence: '0.9', content }],
    ...(stereo ? { channel_label: 'ch_0' } : { speaker_label: 'spk_0' }),
  });
  const items = ['Hello', 'there'].map(word);
  return { jobName, status: 'COMPLETED', results: { transcripts: [{ transcript: 'Hello there' }], items } };
}

/** EventBridge's envelope, as its rule hands it to the queue. */
export const completedEvent = (jobName: string, status: 'COMPLETED' | 'FAILED' = 'COMPLETED') => ({
  version: '0',
  source: 'aws.transcribe',
  'detail-type': 'Transcribe Job State Change',
  detail: { TranscriptionJobName: jobName, TranscriptionJobStatus: status },
});
