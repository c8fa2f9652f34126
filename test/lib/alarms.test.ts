import { afterEach, describe, expect, it, vi } from 'vitest';
import { type AlarmName, alarmTexts, runbookAnchor } from '../../lib/alarms.ts';
import { stages } from '../../lib/config.ts';
import { metricUnits } from '../../src/platform/metric-names.ts';
import { createMeter } from '../../src/platform/metrics.ts';
import { placeholderApp, readable, resourcesOf, templatesOf } from '../support/synthesized.ts';

interface Alarm {
  AlarmName: string;
  AlarmDescription: string;
  AlarmActions: string[];
  OKActions: string[];
  Namespace?: string;
  MetricName?: string;
  Dimensions?: { Name: string; Value: string }[];
  Statistic?: string;
  Period?: number;
  /** Of an alarm on a sum. */
  Metrics?: {
    Id: string;
    Expression?: string;
    MetricStat?: {
      Metric: Required<Pick<Alarm, 'Namespace' | 'MetricName' | 'Dimensions'>>;
      Stat: string;
      Period: number;
    };
  }[];
  Threshold: number;
  EvaluationPeriods: number;
  DatapointsToAlarm: number;
  ComparisonOperator: string;
  TreatMissingData: string;
}

const templates = templatesOf(placeholderApp(stages.filter(({ name }) => name === 'prod')));

function alarmsOf(stack: string): Alarm[] {
  const template = templates[stack];
  if (!template) throw new Error(`no ${stack}`);
  return resourcesOf(template, 'AWS::CloudWatch::Alarm').map(
    ({ Properties }) => readable(template, Properties) as Alarm,
  );
}
const east = alarmsOf('prod-LeadTracking');
const west = alarmsOf('prod-Callytics');
const all = [...east, ...west];
const names = Object.keys(alarmTexts) as AlarmName[];
/** `DeadLettersOld-forwarding-dlq-us-east-1` -> `DeadLettersOld` */
const registered = (alarm: Alarm) => alarm.AlarmName.split('-')[0] as AlarmName;

describe('the registry', () => {
  it('has an alarm for each entry, and an entry for each alarm', () => {
    expect([...new Set(all.map(registered))].toSorted()).toEqual(names.toSorted());
  });

  it.each(names)('%s says in one sentence what a failure means', (name) => {
    expect(alarmTexts[name].meaning).toMatch(/^[A-Z][^.]{30,}\.$/);
  });

  it('tells each alarm`s meaning, article and console pages, within what CloudWatch keeps', () => {
    for (const alarm of all) {
      const [meaning, runbook, ...links] = alarm.AlarmDescription.split('\n');
      expect(meaning).toBe(alarmTexts[registered(alarm)].meaning);
      expect(runbook).toBe(`Runbook: docs/runbook.md#${runbookAnchor(registered(alarm))}`);
      expect(links.length).toBeGreaterThan(0);
      for (const link of links) {
        expect(link).toMatch(/^[A-Z][a-z]+: https:\/\/us-(east-1|west-2)\.console\.aws\.amazon\.com\/\S+$/);
      }
      // The stack's own names replace logical ids when it is deployed: they are up to 60 characters longer.
      expect(alarm.AlarmDescription.length).toBeLessThanOrEqual(1024 - 60);
    }
  });

  it('calls the topic of its severity in its own region, at the start and at the end', () => {
    for (const [region, alarms] of [
      ['us-east-1', east],
      ['us-west-2', west],
    ] as const) {
      for (const alarm of alarms) {
        const name = registered(alarm);
        const topic =
          name === 'AlarmPathFailing'
            ? `callytics-alarm-path-${region}`
            : `callytics-alarms-${alarmTexts[name].severity}-${region}`;
        expect([alarm.AlarmActions, alarm.OKActions]).toEqual([[topic], [topic]]);
      }
    }
  });

  it.each(['prod-LeadTracking', 'prod-Callytics'])('lets CloudWatch of this account publish: %s', (stack) => {
    const template = templates[stack] ?? { Resources: {} };
    const policies = resourcesOf(template, 'AWS::SNS::TopicPolicy').map(({ Properties }) =>
      JSON.stringify(Properties),
    );
    expect(policies).toHaveLength(3);
    for (const policy of policies) {
      expect(policy).toContain('"Principal":{"Service":"cloudwatch.amazonaws.com"}');
      expect(policy).toContain('"aws:SourceAccount":{"Ref":"AWS::AccountId"}');
    }
  });
});

/** What the specification's Operations list asks for; CallSweepNotRunning, WebhookFailed and RecursionStopped's siblings beside. */
const operations = `
OldestUnprocessedMail-us-east-1                     page Callytics/poller/OldestUnprocessedMailAge Maximum >= 900 1/1 x 300 ignore
PollerNotRunning-us-east-1                          page Callytics/poller/PollerRuns Sum < 1 3/3 x 300 breaching
LeadsWithoutTimeline-us-east-1                      page Callytics/poller/LeadsWithoutTimeline Maximum >= 1 1/1 x 300 ignore
NeonWriteFinalDlqNotEmpty-us-east-1                 page AWS/SQS/neon-write-final-dlq-us-east-1/ApproximateNumberOfMessagesVisible Maximum >= 1 1/1 x 60 notBreaching
ForwardingDlqNotEmpty-us-east-1                     page AWS/SQS/forwarding-dlq-us-east-1/ApproximateNumberOfMessagesVisible Maximum >= 1 1/1 x 60 notBreaching
LeadProcessorDlqNotEmpty-us-west-2                  page AWS/SQS/lead-processor-dlq-us-west-2/ApproximateNumberOfMessagesVisible Maximum >= 1 1/1 x 60 notBreaching
NeonWriteQueueOld-us-east-1                         page AWS/SQS/neon-write-dlq-us-east-1/ApproximateAgeOfOldestMessage Maximum >= 7200 2/2 x 300 notBreaching
LeadProcessorQueueOld-us-west-2                     page AWS/SQS/lead-processor-queue-us-west-2/ApproximateAgeOfOldestMessage Maximum >= 120 2/2 x 60 notBreaching
TranscribeDlqNotEmpty-us-west-2                     page AWS/SQS/transcribe-dlq-us-west-2/ApproximateNumberOfMessagesVisible Maximum >= 1 1/1 x 60 notBreaching
TranscribeQueueOld-us-west-2                        page AWS/SQS/transcribe-queue-us-west-2/ApproximateAgeOfOldestMessage Maximum >= 43200 2/2 x 300 notBreaching
CallSweepNotRunning-us-west-2                       page Callytics/call-sweep/SweepRuns Sum < 1 3/3 x 300 breaching
SubscriptionNotActive-us-west-2                     page Callytics/call-sweep/SubscriptionNotActive Maximum >= 1 1/14 x 300 ignore
RingCentralLoginRefused-us-west-2                      page Callytics/transcribe-processor/RingCentralLoginRefused + Callytics/call-sweep/RingCentralLoginRefused Sum >= 1 1/15 x 300 notBreaching
GateClosed-us-west-2                                look Callytics/call-sweep/GateClosed Sum >= 1 15/15 x 60 ignore
CallsWithoutWebhook-us-west-2                       look Callytics/call-sweep/CallsWithoutWebhook Sum >= 1 1/1 x 3600 notBreaching
WebhookFailed-us-west-2                             look Callytics/webhook-receiver/WebhookFailed Sum >= 1 2/3 x 300 notBreaching
WebhookReceiverErrors-us-west-2                     look AWS/Lambda/WebhookReceiverFunction-us-west-2/Errors Sum >= 1 2/3 x 300 notBreaching
CallSweepErrors-us-west-2                           look AWS/Lambda/CallSweepFunction-us-west-2/Errors Sum >= 1 2/3 x 300 notBreaching
FunctionThrottled-webhook-receiver-us-west-2        look AWS/Lambda/WebhookReceiverFunction-us-west-2/Throttles Sum >= 1 1/1 x 300 notBreaching
FunctionThrottled-transcribe-processor-us-west-2    look AWS/Lambda/TranscribeProcessorFunction-us-west-2/Throttles Sum >= 1 1/1 x 300 notBreaching
FunctionThrottled-call-sweep-us-west-2              look AWS/Lambda/CallSweepFunction-us-west-2/Throttles Sum >= 1 1/1 x 300 notBreaching
RecursionStopped-webhook-receiver-us-west-2         look AWS/Lambda/WebhookReceiverFunction-us-west-2/RecursiveInvocationsDropped Sum >= 1 1/1 x 300 notBreaching
RecursionStopped-transcribe-processor-us-west-2     look AWS/Lambda/TranscribeProcessorFunction-us-west-2/RecursiveInvocationsDropped Sum >= 1 1/1 x 300 notBreaching
RecursionStopped-call-sweep-us-west-2               look AWS/Lambda/CallSweepFunction-us-west-2/RecursiveInvocationsDropped Sum >= 1 1/1 x 300 notBreaching
DeadLettersOld-transcribe-dlq-us-west-2             look AWS/SQS/transcribe-dlq-us-west-2/ApproximateAgeOfOldestMessage Maximum >= 864000 2/2 x 3600 notBreaching
NeonWriteQueueNotEmpty-us-east-1                    look AWS/SQS/neon-write-dlq-us-east-1/ApproximateNumberOfMessagesVisible Maximum >= 1 1/1 x 300 notBreaching
QuarantinedMailForStore-us-east-1                   look Callytics/poller/MailQuarantinedKnownRecipient Sum >= 1 1/1 x 300 notBreaching
UnmappedMail-us-east-1                              look Callytics/poller/MailUnmapped Sum >= 1 1/1 x 300 notBreaching
BreakerOpen-poller-us-east-1                        look Callytics/poller/BreakerOpen Sum >= 1 1/1 x 300 notBreaching
BreakerOpen-neon-retry-processor-us-east-1          look Callytics/neon-retry-processor/BreakerOpen Sum >= 1 1/1 x 300 notBreaching
NoLeadInOpeningHours-us-east-1                      look Callytics/poller/HoursSinceLead Maximum >= 24 2/2 x 300 notBreaching
AlarmPathFailing-dispatcher-us-west-2               page AWS/Lambda/AlarmDispatcherFunction-us-west-2/Errors Sum >= 1 1/1 x 300 notBreaching
AlarmPathFailing-email-us-west-2                    page AWS/Lambda/AlarmDispatcherFunction-us-west-2/DestinationDeliveryFailures Sum >= 1 1/1 x 300 notBreaching
AlarmPathFailing-page-topic-us-east-1               page AWS/SNS/callytics-alarms-page-us-east-1/NumberOfNotificationsFailed Sum >= 1 1/1 x 300 notBreaching
AlarmPathFailing-look-topic-us-east-1               page AWS/SNS/callytics-alarms-look-us-east-1/NumberOfNotificationsFailed Sum >= 1 1/1 x 300 notBreaching
AlarmPathFailing-page-topic-us-west-2               page AWS/SNS/callytics-alarms-page-us-west-2/NumberOfNotificationsFailed Sum >= 1 1/1 x 300 notBreaching
AlarmPathFailing-look-topic-us-west-2               page AWS/SNS/callytics-alarms-look-us-west-2/NumberOfNotificationsFailed Sum >= 1 1/1 x 300 notBreaching
AlarmDispatcherErrors-us-west-2                     look AWS/Lambda/AlarmDispatcherFunction-us-west-2/Errors Sum >= 1 2/3 x 300 notBreaching
PollerErrors-us-east-1                              look AWS/Lambda/ImapPollerFunction-us-east-1/Errors Sum >= 1 2/3 x 300 notBreaching
FunctionThrottled-poller-us-east-1                  look AWS/Lambda/ImapPollerFunction-us-east-1/Throttles Sum >= 1 1/1 x 300 notBreaching
FunctionThrottled-neon-retry-processor-us-east-1    look AWS/Lambda/NeonRetryProcessor-us-east-1/Throttles Sum >= 1 1/1 x 300 notBreaching
FunctionThrottled-lead-processor-us-west-2          look AWS/Lambda/LeadProcessorFunction-us-west-2/Throttles Sum >= 1 1/1 x 300 notBreaching
FunctionThrottled-alarm-dispatcher-us-west-2        look AWS/Lambda/AlarmDispatcherFunction-us-west-2/Throttles Sum >= 1 1/1 x 300 notBreaching
RecursionStopped-alarm-dispatcher-us-west-2         look AWS/Lambda/AlarmDispatcherFunction-us-west-2/RecursiveInvocationsDropped Sum >= 1 1/1 x 300 notBreaching
RecursionStopped-poller-us-east-1                   look AWS/Lambda/ImapPollerFunction-us-east-1/RecursiveInvocationsDropped Sum >= 1 1/1 x 300 notBreaching
RecursionStopped-neon-retry-processor-us-east-1     look AWS/Lambda/NeonRetryProcessor-us-east-1/RecursiveInvocationsDropped Sum >= 1 1/1 x 300 notBreaching
RecursionStopped-lead-processor-us-west-2           look AWS/Lambda/LeadProcessorFunction-us-west-2/RecursiveInvocationsDropped Sum >= 1 1/1 x 300 notBreaching
DeadLettersOld-neon-write-final-dlq-us-east-1       look AWS/SQS/neon-write-final-dlq-us-east-1/ApproximateAgeOfOldestMessage Maximum >= 864000 2/2 x 3600 notBreaching
DeadLettersOld-forwarding-dlq-us-east-1             look AWS/SQS/forwarding-dlq-us-east-1/ApproximateAgeOfOldestMessage Maximum >= 864000 2/2 x 3600 notBreaching
DeadLettersOld-lead-processor-dlq-us-west-2         look AWS/SQS/lead-processor-dlq-us-west-2/ApproximateAgeOfOldestMessage Maximum >= 864000 2/2 x 3600 notBreaching
`;

/** What an alarm watches: one metric, or the sum of several. */
function watched({ Metrics, Namespace, MetricName, Dimensions = [], Statistic, Period }: Alarm) {
  const sum = Metrics?.flatMap(({ MetricStat }) => MetricStat ?? []);
  if (!sum) return [{ Namespace, MetricName, Dimensions, Statistic, Period }];
  const expression = Metrics?.find(({ Expression }) => Expression)?.Expression;
  expect(expression).toBe(Metrics?.flatMap(fillOf).join(' + '));
  return sum.map(({ Metric, Stat, Period: every }) => ({ ...Metric, Statistic: Stat, Period: every }));
}

const fillOf = ({ MetricStat, Id }: { MetricStat?: object; Id?: string }) =>
  MetricStat ? [`FILL(${Id}, 0)`] : [];

/** An alarm in one line, as the list above has it. */
function line(alarm: Alarm): string {
  const metrics = watched(alarm);
  const [{ Statistic, Period } = {}] = metrics;
  const named = metrics.map(({ Namespace, MetricName, Dimensions }) => {
    const subject = Dimensions.find(({ Name }) => Name !== 'Stage')?.Value;
    return `${Namespace}/${subject}/${MetricName}`;
  });
  const operator = alarm.ComparisonOperator === 'LessThanThreshold' ? '<' : '>=';
  return [
    alarm.AlarmName,
    alarmTexts[registered(alarm)].severity,
    named.join(' + '),
    `${Statistic} ${operator} ${alarm.Threshold}`,
    `${alarm.DatapointsToAlarm}/${alarm.EvaluationPeriods} x ${Period}`,
    alarm.TreatMissingData,
  ].join(' ');
}

it('raises what the Operations list asks for, no more and no less', () => {
  const expected = operations
    .trim()
    .split('\n')
    .map((row) => row.replace(/ +/g, ' '));
  expect(all.map(line).toSorted()).toEqual(expected.toSorted());
});

describe('our own metrics', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  const own = all.flatMap(watched).filter(({ Namespace }) => Namespace === 'Callytics');

  it('are names of the registry that the handlers use', () => {
    expect(own.length).toBeGreaterThan(0);
    for (const { MetricName } of own) expect(Object.keys(metricUnits)).toContain(MetricName);
  });

  it('have the namespace and the dimensions under which a function emits them', () => {
    const poller = resourcesOf(templates['prod-LeadTracking'], 'AWS::Lambda::Function')
      .map(({ Properties }) => (Properties.Environment as { Variables: Record<string, unknown> }).Variables)
      .find(({ POWERTOOLS_SERVICE_NAME }) => POWERTOOLS_SERVICE_NAME === 'poller');
    for (const [name, value] of Object.entries(poller ?? {})) vi.stubEnv(name, String(value));
    // Powertools then writes to the console that a test can watch, and would be silent by itself.
    vi.stubEnv('POWERTOOLS_DEV', 'true');
    vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation((line) => lines.push(String(line)));
    const meter = createMeter();
    meter.count('PollerRuns');
    meter.flush();
    const emitted = JSON.parse(lines[0] ?? '{}');
    const [{ Namespace, Dimensions, Metrics }] = emitted._aws.CloudWatchMetrics;
    expect(Metrics).toEqual([expect.objectContaining({ Name: 'PollerRuns' })]);

    const alarm = own.find(({ MetricName }) => MetricName === 'PollerRuns');
    expect(alarm?.Namespace).toBe(Namespace);
    expect(alarm?.Dimensions.map(({ Name }) => Name).toSorted()).toEqual(Dimensions[0].toSorted());
    for (const { Name, Value } of alarm?.Dimensions ?? []) expect(Value).toBe(emitted[Name]);
  });
});
