import * as z from 'zod';

/**
 * StartTranscriptionJob's parameters, as far as they are known here
 * (https://docs.aws.amazon.com/transcribe/latest/APIReference/API_StartTranscriptionJob.html). A parameter that
 * isn't is an error, never a silent difference from AWS.
 */
const startSchema = z
  .strictObject({
    TranscriptionJobName: z
      .string()
      .max(200)
      .regex(/^[0-9a-zA-Z._-]+$/),
    LanguageCode: z.string().regex(/^[a-z]{2}-[A-Z]{2}$/),
    Media: z.strictObject({ MediaFileUri: z.string().regex(/^s3:\/\/[^/]+\/.+$/) }),
    MediaFormat: z.enum(['mp3', 'mp4', 'wav', 'flac', 'ogg', 'amr', 'webm', 'm4a']).optional(),
    MediaSampleRateHertz: z.int().min(8000).max(48_000).optional(),
    OutputBucketName: z
      .string()
      .regex(/^[a-z0-9][.\-a-z0-9]{1,61}[a-z0-9]$/)
      // Without it AWS keeps the transcript in a bucket of its own, which nobody has here.
      .nonempty(),
    OutputKey: z
      .string()
      .regex(/^[a-zA-Z0-9\-_.!*'()/]{1,1024}$/)
      .optional(),
    Settings: z
      .strictObject({
        ChannelIdentification: z.boolean().optional(),
        ShowSpeakerLabels: z.boolean().optional(),
        MaxSpeakerLabels: z.int().min(2).max(30).optional(),
      })
      .default({}),
    ContentRedaction: z
      .strictObject({
        RedactionType: z.literal('PII'),
        RedactionOutput: z.enum(['redacted', 'redacted_and_unredacted']),
        PiiEntityTypes: z.array(z.string()).max(11).optional(),
      })
      .optional(),
    Tags: z.array(z.strictObject({ Key: z.string(), Value: z.string() })).optional(),
  })
  .superRefine(({ Settings, ContentRedaction, LanguageCode }, context) => {
    const refuse = (message: string) => context.addIssue({ code: 'custom', message });
    const { ChannelIdentification, ShowSpeakerLabels, MaxSpeakerLabels } = Settings;
    if (ChannelIdentification && ShowSpeakerLabels) {
      refuse('ShowSpeakerLabels and ChannelIdentification exclude each other');
    }
    if ((ShowSpeakerLabels === true) !== (MaxSpeakerLabels !== undefined)) {
      refuse('ShowSpeakerLabels and MaxSpeakerLabels belong together');
    }
    if (ContentRedaction && LanguageCode !== 'en-US' && LanguageCode !== 'es-US') {
      refuse('content redaction is for en-US and es-US only');
    }
  });

export type StartRequest = z.output<typeof startSchema>;

/** @returns the request, or what AWS's BadRequestException would complain of */
export function readStartRequest(body: unknown): StartRequest | { problem: string } {
  const checked = startSchema.safeParse(body);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  return { problem: [issue?.path.join('.'), issue?.message].filter(Boolean).join(': ') };
}

/** `s3://bucket/key` in parts. */
export function mediaOf({ Media }: StartRequest): { bucket: string; key: string } {
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]+)\/(.+)$/.exec(Media.MediaFileUri) ?? [];
  return { bucket, key };
}

/** Where the transcripts go: the redacted one has a name of its own beside the other. */
export function outputsOf(request: StartRequest): { redacted?: string; unredacted?: string } {
  const { TranscriptionJobName, OutputKey = '', ContentRedaction } = request;
  const isFolder = OutputKey === '' || OutputKey.endsWith('/');
  const key = isFolder ? `${OutputKey}${TranscriptionJobName}.json` : OutputKey;
  if (!ContentRedaction) return { unredacted: key };
  const redacted = key.replace(/[^/]*$/, (name) => `redacted-${name}`);
  return ContentRedaction.RedactionOutput === 'redacted' ? { redacted } : { redacted, unredacted: key };
}
