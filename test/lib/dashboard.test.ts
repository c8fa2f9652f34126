import { describe, expect, it } from 'vitest';
import { metricUnits } from '../../src/platform/metric-names.ts';
import { everyResource, placeholderApp, templatesOf } from '../support/synthesized.ts';

interface Widget {
  type: string;
  x: number;
  y: number;
  width: number;
  height: number;
  properties: {
    title?: string;
    alarms?: string[];
    metrics?: [...string[], { region?: string; stat: string }][];
  };
}

const templates = templatesOf(placeholderApp());
const dashboards = everyResource(templates, 'AWS::CloudWatch::Dashboard');

/** `namespace/name of dimension values, statistic, region`, dimensions but the stage. */
function series([namespace, name, ...rest]: [...string[], { region?: string; stat: string }]): string {
  const options = rest.at(-1) as { region?: string; stat: string };
  const values = rest.slice(0, -1).filter((_, index) => index % 2 === 1);
  return `${namespace}/${name} of ${values.join(' ')}, ${options.stat}, ${options.region ?? 'us-west-2'}`;
}

it('is one a stage, in us-west-2', () => {
  expect(dashboards.map(({ stack, Properties }) => [stack, Properties.DashboardName]).toSorted()).toEqual([
    ['prod-Callytics', 'callytics-us-west-2'],
    ['test-Callytics', 'callytics-test-us-west-2'],
  ]);
});

describe.each([
  { stage: 'prod', infix: '' },
  { stage: 'test', infix: 'test-' },
])('of $stage', ({ stage, infix }) => {
  const dashboard = dashboards.find(({ stack }) => stack === `${stage}-Callytics`);
  const { widgets }: { widgets: Widget[] } = JSON.parse(String(dashboard?.Properties.DashboardBody));
  const shown = new Map(widgets.map(({ properties: { title, metrics } }) => [title, metrics?.map(series)]));
  const east = `${infix}us-east-1`;
  const west = `${infix}us-west-2`;

  it('shows every alarm of both regions', () => {
    const alarms = everyResource(templates, 'AWS::CloudWatch::Alarm').filter(({ stack }) =>
      stack.startsWith(`${stage}-`),
    );
    const listed = widgets.flatMap(({ properties }) => properties.alarms ?? []);
    const expected = alarms.map(({ region, id, Properties }) =>
      region === 'us-west-2'
        ? id
        : `arn:aws:cloudwatch:us-east-1:AWS::AccountId:alarm:${Properties.AlarmName}`,
    );
    expect(listed.toSorted()).toEqual(expected.toSorted());
  });

  const sums = (region: string, service: string, ...names: string[]) =>
    names.map((name) => `Callytics/${name} of ${stage} ${service}, Sum, ${region}`);
  const own = sums.bind(null, 'us-east-1');
  const calls = sums.bind(null, 'us-west-2');
  const sweepGauge = (name: string) => `Callytics/${name} of ${stage} call-sweep, Maximum, us-west-2`;
  const queue = (metric: string, name: string, region: string) =>
    `AWS/SQS/${metric} of ${name}, Maximum, ${region}`;

  it.each<[string, string[]]>([
    ['Mails by outcome', own('poller', 'MailLead', 'MailSkipped', 'MailCancellation', 'MailQuarantined')],
    ['Leads without timeline', [`Callytics/LeadsWithoutTimeline of ${stage} poller, Maximum, us-east-1`]],
    ['Poller: runs and failures', own('poller', 'PollerRuns', 'PollerFailures')],
    [
      'Breaker open: writes that met it',
      [...own('poller', 'BreakerOpen'), ...own('neon-retry-processor', 'BreakerOpen')],
    ],
    [
      'Work queues: messages waiting',
      [
        queue('ApproximateNumberOfMessagesVisible', `neon-write-dlq-${east}`, 'us-east-1'),
        queue('ApproximateNumberOfMessagesVisible', `lead-processor-queue-${west}`, 'us-west-2'),
        queue('ApproximateNumberOfMessagesVisible', `transcribe-queue-${west}`, 'us-west-2'),
      ],
    ],
    [
      'Work queues: age of the oldest, seconds',
      [
        queue('ApproximateAgeOfOldestMessage', `neon-write-dlq-${east}`, 'us-east-1'),
        queue('ApproximateAgeOfOldestMessage', `lead-processor-queue-${west}`, 'us-west-2'),
        queue('ApproximateAgeOfOldestMessage', `transcribe-queue-${west}`, 'us-west-2'),
      ],
    ],
    [
      'Dead-letter queues: messages',
      [
        queue('ApproximateNumberOfMessagesVisible', `neon-write-final-dlq-${east}`, 'us-east-1'),
        queue('ApproximateNumberOfMessagesVisible', `lead-processor-dlq-${west}`, 'us-west-2'),
        queue('ApproximateNumberOfMessagesVisible', `transcribe-dlq-${west}`, 'us-west-2'),
        queue('ApproximateNumberOfMessagesVisible', `forwarding-dlq-${east}`, 'us-east-1'),
      ],
    ],
    [
      'Lead processor: duration',
      ['p50', 'p95', 'Maximum'].map(
        (statistic) => `AWS/Lambda/Duration of LeadProcessorFunction-${west}, ${statistic}, us-west-2`,
      ),
    ],
    [
      'Lead processor: leads and errors',
      [
        `Callytics/LeadProcessed of ${stage} lead-processor, Sum, us-west-2`,
        `AWS/Lambda/Errors of LeadProcessorFunction-${west}, Sum, us-west-2`,
      ],
    ],
    [
      'Webhooks by outcome',
      calls('webhook-receiver', 'WebhookAccepted', 'WebhookUnauthorized', 'WebhookFailed'),
    ],
    [
      'Calls without webhook, accounts without subscription',
      [...calls('call-sweep', 'CallsWithoutWebhook'), sweepGauge('SubscriptionNotActive')],
    ],
    [
      'RingCentral: requests left in the window, all stages',
      [
        'account_call_log',
        'extension_call_log',
        'recording_content',
        'voicemail_message_detail',
        'voicemail_transcript_content',
        'oauth_token',
        'subscription',
      ].map((source) => `Callytics/RateLimitRemaining of ${source}, Minimum, us-west-2`),
    ],
    ['Accounts whose gate is closed', [sweepGauge('GateClosed')]],
    [
      'Calls parked, and messages redriven after a 429',
      [sweepGauge('ParkedCalls'), ...calls('transcribe-processor', 'CallParked', 'CallRedriven')],
    ],
    ['Recordings stored', calls('transcribe-processor', 'RecordingStored')],
    ['Transcripts', calls('transcribe-processor', 'TranscriptStored', 'TranscriptionFailed')],
    [
      'Calls that end without a recording',
      [
        ...calls('transcribe-processor', 'CallsWithoutRecording'),
        ...calls('call-sweep', 'CallsWithoutRecording'),
      ],
    ],
    [
      'Call sweep: runs and errors',
      [...calls('call-sweep', 'SweepRuns'), `AWS/Lambda/Errors of CallSweepFunction-${west}, Sum, us-west-2`],
    ],
  ])('%s', (title, expected) => {
    expect(shown.get(title)).toEqual(expected);
  });

  it('takes the names of our own metrics from the registry', () => {
    const names = widgets
      .flatMap(({ properties }) => properties.metrics ?? [])
      .filter(([namespace]) => namespace === 'Callytics')
      .map(([, name]) => name);
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !Object.keys(metricUnits).includes(String(name)))).toEqual([]);
  });

  it('fits the grid, and no widget covers another', () => {
    const cells = widgets.flatMap(({ x, y, width, height }) =>
      Array.from(
        { length: width * height },
        (_, cell) => `${x + (cell % width)},${y + Math.floor(cell / width)}`,
      ),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...widgets.map(({ x, width }) => x + width))).toBe(24);
  });
});
