import { expect } from 'vitest';
import { motoAccount } from './moto.ts';

interface ExpectedFunction {
  readonly region: string;
  readonly name: string;
  readonly service: string;
  /** Seconds. */
  readonly timeout: number;
  /** Beside the variables that every function has. */
  readonly environment: Readonly<Record<string, unknown>>;
}

/**
 * The functions of one stage, with the values that stand in their environment once all is resolved.
 *
 * @param infix what the stage inserts before the region in physical names
 */
export function expectedFunctions(stage: string, infix: string): ExpectedFunction[] {
  const east = `${infix}us-east-1`;
  const west = `${infix}us-west-2`;
  const suffix = stage === 'prod' ? '' : `-${stage}`;
  const queueUrl = (region: string, name: string) =>
    `https://sqs.${region}.amazonaws.com/${motoAccount}/${name}`;
  const neon = { NEON_URL_PARAMETER: `/lead-tracking/neon-database-url${suffix}` };
  const mirror = { NEON_MIRROR_URL_PARAMETER: '/lead-tracking/neon-database-url-test' };
  const stores = { STORES_TABLE_NAME: 'StoresV2', STORES_TABLE_REGION: 'us-west-2' };
  const leadTracking = {
    STATE_TABLE_NAME: `LeadTrackingState-${east}`,
    NEON_WRITE_QUEUE_URL: queueUrl('us-east-1', `neon-write-dlq-${east}`),
    EVENT_BUS_NAME: 'default',
  };
  const calls = {
    TRANSCRIBE_QUEUE_URL: queueUrl('us-west-2', `transcribe-queue-${west}`),
    RINGCENTRAL_PARAMETER_PREFIX: `/callytics/ringcentral${suffix}`,
  };
  const callWork = {
    ...neon,
    ...stores,
    ...calls,
    STATE_TABLE_NAME: `CallyticsState-${west}`,
    // Generated from stage, stack and logical id.
    RECORDINGS_BUCKET_NAME: expect.stringMatching(new RegExp(`^${stage}-callytics-callsrecordings`)),
    TRANSCRIBE_LANGUAGE: 'en-US',
    TRANSCRIBE_REDACTION: 'on',
  };
  return [
    {
      region: 'us-east-1',
      name: `ImapPollerFunction-${east}`,
      service: 'poller',
      timeout: 240,
      environment: {
        IMAP_PARAMETER: `/lead-tracking/imap${suffix}`,
        ...neon,
        ...(stage === 'prod' ? mirror : {}),
        ...stores,
        LEGACY_LEADS_TABLE_NAME: `LeadTracking-v2-${east}`,
        ...leadTracking,
      },
    },
    {
      region: 'us-east-1',
      name: `NeonRetryProcessor-${east}`,
      service: 'neon-retry-processor',
      timeout: 20,
      environment: { ...neon, ...leadTracking },
    },
    {
      region: 'us-west-2',
      name: `LeadProcessorFunction-${west}`,
      service: 'lead-processor',
      timeout: 50,
      environment: {
        ...neon,
        ...stores,
        DEFAULT_TIME_ZONE: 'America/New_York',
        QUIET_HOURS: '21:00-08:00',
        LEAD_PROCESSOR_QUEUE_URL: queueUrl('us-west-2', `lead-processor-queue-${west}`),
      },
    },
    {
      region: 'us-west-2',
      name: `WebhookReceiverFunction-${west}`,
      service: 'webhook-receiver',
      timeout: 5,
      environment: calls,
    },
    {
      region: 'us-west-2',
      name: `TranscribeProcessorFunction-${west}`,
      service: 'transcribe-processor',
      timeout: 120,
      environment: callWork,
    },
    {
      region: 'us-west-2',
      name: `CallSweepFunction-${west}`,
      service: 'call-sweep',
      timeout: 110,
      environment: {
        ...callWork,
        WEBHOOK_URL: expect.stringMatching(
          /^https:\/\/\w+\.execute-api\.us-west-2\.amazonaws\.com\/ringcentral$/,
        ),
        RINGCENTRAL_ACCOUNT_IDS: stage === 'prod' ? '400131426008,400255317009' : '400131426008',
      },
    },
    {
      region: 'us-west-2',
      name: `AlarmDispatcherFunction-${west}`,
      service: 'alarm-dispatcher',
      timeout: 40,
      environment: { LARK_WEBHOOK_PARAMETER: `/callytics/lark-webhook${suffix}` },
    },
  ];
}
