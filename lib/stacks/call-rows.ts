import { type IMetric, type IWidget, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { MetricName } from '../../src/platform/metric-names.ts';
import { surfaces } from '../../src/ringcentral/surfaces.ts';
import { metricsNamespace } from '../constructs/alarms.ts';
import { durations, graph, period, statistic, sums } from '../constructs/widgets.ts';
import type { CallyticsStack } from './callytics-stack.ts';

/** A call's way, as far as metrics tell it: from the webhook to the transcript. */
export function callRows(calls: CallyticsStack): IWidget[][] {
  return [webhookRow(calls), paceRow(calls), outcomeRow(calls), workerRow(calls)];
}

function webhookRow(stack: CallyticsStack): IWidget[] {
  const outcomes = ['WebhookAccepted', 'WebhookUnauthorized', 'WebhookFailed'] as const;
  return [
    graph('Webhooks by outcome', sums(stack, 'webhook-receiver', outcomes)),
    graph('Webhook receiver: duration', durations(stack.calls.receiver)),
    graph('Calls without webhook, accounts without subscription', [
      ...sums(stack, 'call-sweep', ['CallsWithoutWebhook']),
      gauge(stack, 'SubscriptionNotActive'),
    ]),
  ];
}

function paceRow(stack: CallyticsStack): IWidget[] {
  return [
    // The series have no stage: they are as the dashboards before this one know them.
    graph('RingCentral: requests left in the window, all stages', Object.keys(surfaces).map(remaining)),
    graph('Accounts whose gate is closed', [gauge(stack, 'GateClosed')]),
    graph('Calls parked, and messages redriven after a 429', [
      gauge(stack, 'ParkedCalls'),
      ...sums(stack, 'transcribe-processor', ['CallParked', 'CallRedriven']),
    ]),
  ];
}

function outcomeRow(stack: CallyticsStack): IWidget[] {
  return [
    graph('Recordings stored', sums(stack, 'transcribe-processor', ['RecordingStored'])),
    graph('Transcripts', sums(stack, 'transcribe-processor', ['TranscriptStored', 'TranscriptionFailed'])),
    graph('Calls that end without a recording', [
      ...sums(stack, 'transcribe-processor', ['CallsWithoutRecording']),
      ...sums(stack, 'call-sweep', ['CallsWithoutRecording']),
    ]),
  ];
}

function workerRow(stack: CallyticsStack): IWidget[] {
  const { worker, sweep } = stack.calls;
  return [
    graph('Transcribe processor: duration', durations(worker.function)),
    graph('Transcribe processor: messages and errors', [
      ...sums(stack, 'transcribe-processor', ['CallProcessed']),
      worker.function.lambda.metricErrors({ period }),
    ]),
    graph('Call sweep: runs and errors', [
      ...sums(stack, 'call-sweep', ['SweepRuns']),
      sweep.lambda.metricErrors({ period }),
    ]),
  ];
}

/** What the sweep measures each minute. */
function gauge({ alarms }: CallyticsStack, name: MetricName): IMetric {
  return alarms.metric('call-sweep', name, period, statistic);
}

function remaining(source: string): IMetric {
  return new Metric({
    namespace: metricsNamespace,
    metricName: 'RateLimitRemaining' satisfies MetricName,
    dimensionsMap: { Source: source },
    period,
    statistic: 'Minimum',
    label: source,
  });
}
