import * as z from 'zod';
import { parseQuietHours, parseTimeZone } from '../src/contacts/contact-hours.ts';

/** Constants, so that an ARN in the other region can be written down without a cross-region export. */
export const regions = { leads: 'us-east-1', calls: 'us-west-2' } as const;

const parameterName = z.string().regex(/^(\/[\w.-]+)+$/, 'an SSM parameter name starts with /');
/** A text that the function's own parser reads without complaint. */
const readableBy = (parse: (text: string) => unknown) =>
  z.string().check((context) => {
    try {
      parse(context.value);
    } catch (error) {
      context.issues.push({ code: 'custom', input: context.value, message: String(error) });
    }
  });

const stageSchema = z.strictObject({
  /** Part of physical names and of every event (`detail.stage`). `prod` alone carries the bare names. */
  name: z.string().regex(/^[a-z][a-z0-9]{0,11}$/),
  /** Unset: CDK_DEFAULT_ACCOUNT, else whichever account the credentials belong to. */
  account: z
    .string()
    .regex(/^\d{12}$/)
    .optional(),
  /** SSM SecureStrings, made by hand in the regions that read them (README). */
  imapParameter: parameterName,
  neonUrlParameter: parameterName,
  /** A second Neon into which the poller also writes leads, best effort. */
  neonMirrorUrlParameter: parameterName.optional(),
  /** The webhook of the Lark group's bot that gets the alarms. */
  larkWebhookParameter: parameterName,
  ringCentral: z.strictObject({
    /** `{prefix}/{accountId}` is an SSM SecureString with one application and user of that account (README). */
    parameterPrefix: parameterName,
    /** The accounts whose calls the sweep watches and whose webhook subscription it keeps: at least one. */
    accountIds: z
      .array(z.string().regex(/^\d{1,20}$/))
      .min(1)
      .refine((ids) => new Set(ids).size === ids.length, 'an account id twice'),
  }),
  transcription: z.strictObject({
    /** Spoken in the calls, as Amazon Transcribe names it. */
    language: z.string().regex(/^[a-z]{2,3}-[A-Z]{2}$/),
    /** On: names, numbers and addresses are left out of the transcripts. Not every language has it. */
    redaction: z.enum(['on', 'off']),
  }),
  /** Sound and transcripts in S3 expire together. */
  recordingRetentionDays: z.int().positive(),
  /** The store directory belongs to another application: read only. */
  stores: z.strictObject({ tableName: z.string().min(3), region: z.string().min(1) }),
  /** The transitional table LeadTracking-v2: false removes table, grants and variable. */
  legacyLeadsTable: z.boolean(),
  /** This stage's lead processor also takes prod's leads (prod's poller has mirrored their rows). */
  mirrorFromProd: z.boolean(),
  defaultTimeZone: readableBy(parseTimeZone),
  quietHours: readableBy(parseQuietHours),
  /** Hours since the last lead after which somebody should look; nights and quiet weekends have to fit in. */
  noLeadAlarmHours: z.number().positive(),
  logLevel: z.enum(['DEBUG', 'INFO', 'WARN', 'ERROR']),
  logRetentionDays: z.union([z.literal(14), z.literal(90)]),
  /** Tables survive the stack and have point-in-time recovery. */
  keepData: z.boolean(),
  /** Told by e-mail when alarms don't reach Lark, and what they were. */
  alarmEmail: z.email().optional(),
  /** Where alarms find their runbook article: the repository's web address makes it a link. */
  runbook: z.string().min(1),
});

export type StageConfig = z.infer<typeof stageSchema>;

/**
 * Settings that belong to one stage alone: two readers of one mailbox would each miss the other's mail, and two
 * callers with one RingCentral application and user would use up each other's rate limit. Which application and
 * user a parameter holds is seen only at run time; synth sees the parameter.
 */
const exclusive: Readonly<Record<string, (config: StageConfig) => string>> = {
  name: ({ name }) => name,
  imapParameter: ({ imapParameter }) => imapParameter,
  neonUrlParameter: ({ neonUrlParameter }) => neonUrlParameter,
  'ringCentral.parameterPrefix': ({ ringCentral }) => ringCentral.parameterPrefix,
};

const shared = {
  stores: { tableName: 'StoresV2', region: regions.calls },
  legacyLeadsTable: true,
  defaultTimeZone: 'America/New_York',
  quietHours: '21:00-08:00',
  transcription: { language: 'en-US', redaction: 'on' },
  logLevel: 'INFO',
  runbook: 'docs/runbook.md',
} as const;

/** The RingCentral account ids are made up: put your own here. */
export const stages: readonly StageConfig[] = [
  {
    ...shared,
    name: 'test',
    imapParameter: '/lead-tracking/imap-test',
    neonUrlParameter: '/lead-tracking/neon-database-url-test',
    larkWebhookParameter: '/callytics/lark-webhook-test',
    ringCentral: { parameterPrefix: '/callytics/ringcentral-test', accountIds: ['400131426008'] },
    recordingRetentionDays: 30,
    mirrorFromProd: true,
    noLeadAlarmHours: 168,
    logRetentionDays: 14,
    keepData: false,
  },
  {
    ...shared,
    name: 'prod',
    imapParameter: '/lead-tracking/imap',
    neonUrlParameter: '/lead-tracking/neon-database-url',
    neonMirrorUrlParameter: '/lead-tracking/neon-database-url-test',
    larkWebhookParameter: '/callytics/lark-webhook',
    ringCentral: {
      parameterPrefix: '/callytics/ringcentral',
      accountIds: ['400131426008', '400255317009'],
    },
    recordingRetentionDays: 365,
    mirrorFromProd: false,
    noLeadAlarmHours: 24,
    logRetentionDays: 90,
    keepData: true,
  },
];

/**
 * Checks the stages one by one and against each other.
 *
 * @throws Error naming the setting that is wrong, or that two stages share.
 */
export function validateStages(configs: readonly StageConfig[]): void {
  for (const config of configs) {
    const result = stageSchema.safeParse(config);
    if (!result.success) throw new Error(`stage ${config.name}: ${z.prettifyError(result.error)}`);
  }
  for (const [setting, read] of Object.entries(exclusive)) {
    const values = configs.map(read);
    const twice = values.find((value, index) => values.indexOf(value) !== index);
    if (twice) throw new Error(`${setting} ${twice} belongs to more than one stage`);
  }
  refuseParametersBelowPrefixes(configs);
}

/** A role may read all below its stage's RingCentral prefix, so nothing else may be there. */
function refuseParametersBelowPrefixes(configs: readonly StageConfig[]): void {
  const parameters = configs.flatMap((config) => [
    config.imapParameter,
    config.neonUrlParameter,
    config.neonMirrorUrlParameter,
    config.larkWebhookParameter,
    config.ringCentral.parameterPrefix,
  ]);
  for (const { ringCentral } of configs) {
    const below = parameters.find((name) => name?.startsWith(`${ringCentral.parameterPrefix}/`));
    if (below) throw new Error(`ringCentral.parameterPrefix ${ringCentral.parameterPrefix} covers ${below}`);
  }
}
