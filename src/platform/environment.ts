/**
 * The environment contract: the variables that each function reads, and no others.
 * The CDK app sets exactly these, and a test holds contract, code and template equal.
 */
const common = ['STAGE', 'LOG_LEVEL', 'POWERTOOLS_SERVICE_NAME', 'POWERTOOLS_METRICS_NAMESPACE'] as const;

const callCommon = [
  ...common,
  'NEON_URL_PARAMETER',
  'STORES_TABLE_NAME',
  'STATE_TABLE_NAME',
  'TRANSCRIBE_QUEUE_URL',
  'RECORDINGS_BUCKET_NAME',
  'RINGCENTRAL_PARAMETER_PREFIX',
  'TRANSCRIBE_LANGUAGE',
  'TRANSCRIBE_REDACTION',
] as const;

export const environmentContract = {
  poller: {
    required: [
      ...common,
      'IMAP_PARAMETER',
      'NEON_URL_PARAMETER',
      'STORES_TABLE_NAME',
      'STATE_TABLE_NAME',
      'NEON_WRITE_QUEUE_URL',
      'EVENT_BUS_NAME',
    ],
    optional: ['NEON_MIRROR_URL_PARAMETER', 'STORES_TABLE_REGION', 'LEGACY_LEADS_TABLE_NAME'],
  },
  'neon-retry-processor': {
    required: [...common, 'NEON_URL_PARAMETER', 'STATE_TABLE_NAME', 'EVENT_BUS_NAME', 'NEON_WRITE_QUEUE_URL'],
    optional: [],
  },
  'lead-processor': {
    required: [
      ...common,
      'NEON_URL_PARAMETER',
      'STORES_TABLE_NAME',
      'DEFAULT_TIME_ZONE',
      'QUIET_HOURS',
      'LEAD_PROCESSOR_QUEUE_URL',
    ],
    optional: ['STORES_TABLE_REGION'],
  },
  'webhook-receiver': {
    required: [...common, 'TRANSCRIBE_QUEUE_URL', 'RINGCENTRAL_PARAMETER_PREFIX'],
    optional: [],
  },
  'transcribe-processor': { required: callCommon, optional: ['STORES_TABLE_REGION'] },
  'call-sweep': {
    required: [...callCommon, 'WEBHOOK_URL', 'RINGCENTRAL_ACCOUNT_IDS'],
    optional: ['STORES_TABLE_REGION'],
  },
  'alarm-dispatcher': { required: [...common, 'LARK_WEBHOOK_PARAMETER'], optional: [] },
} as const satisfies Record<string, { required: readonly string[]; optional: readonly string[] }>;

export type FunctionName = keyof typeof environmentContract;

type Required<F extends FunctionName> = (typeof environmentContract)[F]['required'][number];
type Optional<F extends FunctionName> = (typeof environmentContract)[F]['optional'][number];

export type Environment<F extends FunctionName> = { [K in Required<F>]: string } & {
  [K in Optional<F>]?: string;
};

/** A variable that the contract requires is not set. The message names function and variable. */
class MissingEnvironmentError extends Error {
  override name = 'MissingEnvironmentError';
}

/**
 * Reads the variables of one function. An empty string counts as missing.
 *
 * @throws MissingEnvironmentError naming every variable that is required and not set.
 */
export function readEnvironment<F extends FunctionName>(
  name: F,
  source: Record<string, string | undefined> = process.env,
): Environment<F> {
  const { required, optional } = environmentContract[name];
  const missing = required.filter((key) => !source[key]);
  if (missing.length > 0) {
    throw new MissingEnvironmentError(
      `${name}: missing environment variable${missing.length > 1 ? 's' : ''} ${missing.join(', ')}`,
    );
  }
  const keys: readonly string[] = [...required, ...optional];
  return Object.fromEntries(
    keys.filter((key) => source[key]).map((key) => [key, source[key]]),
  ) as Environment<F>;
}
