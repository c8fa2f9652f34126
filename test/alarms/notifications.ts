import type { SNSEvent } from 'aws-lambda';
import { type CloudWatchAlarm, parseAlarm } from '../../src/alarms/cloudwatch-alarm.ts';
import type { LarkMessage } from '../../src/alarms/lark-message.ts';

const account = '123456789012';

export const topics = {
  page: `arn:aws:sns:us-west-2:${account}:callytics-alarms-page-us-west-2`,
  look: `arn:aws:sns:us-east-1:${account}:callytics-alarms-look-test-us-east-1`,
};

const consolePages = 'https://us-west-2.console.aws.amazon.com';
export const logsPage = `${consolePages}/cloudwatch/home?region=us-west-2#logsV2:log-groups/log-group/prod-Callytics-WorkerLogs24EC-Ab12`;
export const queuePage = `${consolePages}/sqs/v3/home?region=us-west-2#/queues/https%3A%2F%2Fsqs.us-west-2.amazonaws.com%2F${account}%2Flead-processor-dlq-us-west-2`;
const runbookPage = 'https://git.example/callytics/docs/runbook.md#leadprocessordlqnotempty';

/** What CloudWatch sends when a message lies in lead-processor-dlq (us-west-2). */
export function aMetricAlarm(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    AlarmName: 'LeadProcessorDlqNotEmpty-us-west-2',
    AlarmDescription: [
      'Leads are stored, but their contact, task and timeline could not be written.',
      `Runbook: ${runbookPage}`,
      `Messages: ${queuePage}`,
      `Logs: ${logsPage}`,
    ].join('\n'),
    AWSAccountId: account,
    AlarmConfigurationUpdatedTimestamp: '2026-11-01T08:00:00.000+0000',
    NewStateValue: 'ALARM',
    NewStateReason:
      'Threshold Crossed: 1 out of the last 1 datapoints [3.0 (03/11/26 14:15:00)] was greater than or equal to the threshold (1.0) (minimum 1 datapoint for OK -> ALARM transition).',
    StateChangeTime: '2026-11-03T14:16:00.472+0000',
    Region: 'US West (Oregon)',
    AlarmArn: `arn:aws:cloudwatch:us-west-2:${account}:alarm:LeadProcessorDlqNotEmpty-us-west-2`,
    OldStateValue: 'OK',
    OKActions: [topics.page],
    AlarmActions: [topics.page],
    InsufficientDataActions: [],
    Trigger: {
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Namespace: 'AWS/SQS',
      StatisticType: 'Statistic',
      Statistic: 'MAXIMUM',
      Unit: null,
      Dimensions: [{ value: 'lead-processor-dlq-us-west-2', name: 'QueueName' }],
      Period: 60,
      EvaluationPeriods: 1,
      DatapointsToAlarm: 1,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      Threshold: 1,
      TreatMissingData: 'notBreaching',
      EvaluateLowSampleCountPercentile: '',
    },
    ...changes,
  };
}

/** Errors per invocation: a metric maths expression. */
export function aMathAlarm(): Record<string, unknown> {
  return aMetricAlarm({
    Trigger: {
      EvaluationPeriods: 3,
      DatapointsToAlarm: 2,
      ComparisonOperator: 'GreaterThanThreshold',
      Threshold: 0.25,
      Metrics: [
        { Id: 'rate', Expression: 'errors / calls', Label: 'error rate', ReturnData: true },
        {
          Id: 'errors',
          ReturnData: false,
          MetricStat: {
            Metric: {
              MetricName: 'Errors',
              Namespace: 'AWS/Lambda',
              Dimensions: [{ name: 'FunctionName', value: 'CallSweepFunction-us-west-2' }],
            },
            Period: 300,
            Stat: 'Sum',
          },
        },
      ],
    },
  });
}

/** An alarm on other alarms. */
export function aCompositeAlarm(): Record<string, unknown> {
  const child = `arn:aws:cloudwatch:us-east-1:${account}:alarm:PollerNotRunning-us-east-1`;
  return {
    AlarmName: 'LeadsStopped-us-east-1',
    AlarmDescription: null,
    AWSAccountId: account,
    NewStateValue: 'ALARM',
    NewStateReason: `${child} transitioned to ALARM at Tuesday 03 November, 2026 14:16:00 UTC`,
    StateChangeTime: '2026-11-03T14:16:00.472+0000',
    Region: 'US East (N. Virginia)',
    AlarmArn: `arn:aws:cloudwatch:us-east-1:${account}:alarm:LeadsStopped-us-east-1`,
    OldStateValue: 'OK',
    AlarmRule: 'ALARM("PollerNotRunning-us-east-1") OR ALARM("PollerErrors-us-east-1")',
    TriggeringChildren: [
      { Arn: child, State: { Value: 'ALARM', Timestamp: '2026-11-03T14:16:00.472+0000' } },
    ],
  };
}

export function parsed(notification: Record<string, unknown>): CloudWatchAlarm {
  const alarm = parseAlarm(JSON.stringify(notification));
  if (!alarm) throw new Error('no alarm');
  return alarm;
}

/** The event that Lambda gets from SNS: a record for each message. */
export function snsEvent(...messages: unknown[]): SNSEvent {
  return {
    Records: messages.map((message, index) => ({
      EventSource: 'aws:sns',
      EventVersion: '1.0',
      EventSubscriptionArn: `${topics.page}:subscription`,
      Sns: {
        Type: 'Notification',
        MessageId: `message-${index + 1}`,
        TopicArn: topics.page,
        Subject: 'ALARM: something',
        Message: typeof message === 'string' ? message : JSON.stringify(message),
        Timestamp: '2026-11-03T14:16:01.000Z',
        SignatureVersion: '1',
        Signature: 'signature',
        SigningCertUrl: 'https://sns.us-west-2.amazonaws.com/certificate.pem',
        UnsubscribeUrl: 'https://sns.us-west-2.amazonaws.com/unsubscribe',
        MessageAttributes: {},
      },
    })),
  };
}

/** What a reader sees of a card. */
export function seen({ card }: LarkMessage) {
  const rows: Record<string, string> = {};
  const texts: string[] = [];
  const pages: Record<string, string> = {};
  for (const element of card.elements) {
    if (element.tag === 'note') texts.push(...element.elements.map(({ content }) => content));
    else if (element.tag === 'action') for (const { text, url } of element.actions) pages[text.content] = url;
    else if ('text' in element) texts.push(element.text.content);
    else {
      const cells = element.fields.map(({ text }) => text.content);
      for (let i = 0; i < cells.length; i += 2)
        rows[(cells[i] ?? '').replaceAll('*', '')] = cells[i + 1] ?? '';
    }
  }
  return { colour: card.header.template, title: card.header.title.content, texts, rows, pages };
}
