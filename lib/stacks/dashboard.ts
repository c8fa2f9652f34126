import { Duration } from 'aws-cdk-lib';
import {
  AlarmStatusWidget,
  AlarmStatusWidgetSortBy,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { FunctionName } from '../../src/platform/environment.ts';
import type { MetricName } from '../../src/platform/metric-names.ts';
import type { NodeFunction } from '../constructs/node-function.ts';
import type { StageStack } from '../constructs/stage-stack.ts';
import type { CallyticsStack } from './callytics-stack.ts';
import type { LeadTrackingStack } from './leadtracking-stack.ts';

/** The poller's rhythm: shorter periods would show gaps. */
const period = Duration.minutes(5);
const statistic = 'Maximum';

/** One page a stage, over both regions: what is wrong now, then a lead's way from the mailbox to the timeline. */
export function addDashboard(leads: LeadTrackingStack, calls: CallyticsStack): void {
  const { config } = calls;
  const heading = `callytics ${config.name} | Runbook: ${config.runbook} | Queries: Logs Insights, folder callytics/${config.name}`;
  new Dashboard(calls, 'Dashboard', {
    dashboardName: calls.named('callytics'),
    widgets: [
      [new TextWidget({ markdown: heading, width: 24, height: 1 })],
      [leads, calls].map(alarmStates),
      mailRow(leads),
      gaugeRow(leads),
      pollerRow(leads),
      queueRow(leads, calls),
      workerRow(leads, calls),
    ],
  });
}

/** Of one region, those in ALARM first. */
function alarmStates({ alarms, region }: StageStack): IWidget {
  const sortBy = AlarmStatusWidgetSortBy.STATE_UPDATED_TIMESTAMP;
  return new AlarmStatusWidget({
    title: `Alarms ${region}`,
    width: 12,
    height: 5,
    alarms: alarms.all,
    sortBy,
  });
}

function mailRow(leads: LeadTrackingStack): IWidget[] {
  const outcomes = ['MailLead', 'MailSkipped', 'MailCancellation', 'MailQuarantined'] as const;
  const ways = [
    'LeadPublished',
    'LeadQueued',
    'PublishSkipped',
    'MailUnmapped',
    'OutboxRepublished',
  ] as const;
  return [
    graph('Mails by outcome', sums(leads, 'poller', outcomes), { stacked: true, width: 12 }),
    graph('What became of leads', sums(leads, 'poller', ways), { width: 12 }),
  ];
}

function gaugeRow({ alarms }: LeadTrackingStack): IWidget[] {
  const gauge = (name: MetricName) => [alarms.metric('poller', name, period)];
  return [
    graph('Leads without timeline', gauge('LeadsWithoutTimeline')),
    graph('Oldest unprocessed mail, seconds', gauge('OldestUnprocessedMailAge')),
    graph('Hours since the last lead, in opening hours', gauge('HoursSinceLead')),
  ];
}

function pollerRow(leads: LeadTrackingStack): IWidget[] {
  return [
    graph('Poller: runs and failures', sums(leads, 'poller', ['PollerRuns', 'PollerFailures'])),
    graph('Poller: duration', durations(leads.poller)),
    graph('Breaker open: writes that met it', [
      ...sums(leads, 'poller', ['BreakerOpen']),
      ...sums(leads, 'neon-retry-processor', ['BreakerOpen']),
    ]),
  ];
}

function queueRow(
  { retries, forwardingDeadLetters }: LeadTrackingStack,
  { leads }: CallyticsStack,
): IWidget[] {
  const work = [retries.queue, leads.worker.queue];
  const dead = [retries.deadLetterQueue, leads.worker.deadLetterQueue, forwardingDeadLetters];
  const options = { period, statistic };
  return [
    graph(
      'Work queues: messages waiting',
      work.map((queue) => queue.metricApproximateNumberOfMessagesVisible(options)),
    ),
    graph(
      'Work queues: age of the oldest, seconds',
      work.map((queue) => queue.metricApproximateAgeOfOldestMessage(options)),
    ),
    graph(
      'Dead-letter queues: messages',
      dead.map((queue) => queue.metricApproximateNumberOfMessagesVisible(options)),
    ),
  ];
}

function workerRow(leads: LeadTrackingStack, calls: CallyticsStack): IWidget[] {
  const worker = calls.leads.worker.function;
  return [
    graph(
      'Retries: failures by stage',
      sums(leads, 'neon-retry-processor', ['RetryNeonFailed', 'RetryEventBridgeFailed']),
    ),
    graph('Lead processor: duration', durations(worker)),
    graph('Lead processor: leads and errors', [
      ...sums(calls, 'lead-processor', ['LeadProcessed']),
      worker.lambda.metricErrors({ period }),
    ]),
  ];
}

function graph(title: string, left: IMetric[], layout: { stacked?: boolean; width?: number } = {}): IWidget {
  return new GraphWidget({ title, left, leftYAxis: { min: 0 }, width: 8, height: 6, ...layout });
}

function sums({ alarms }: StageStack, service: FunctionName, names: readonly MetricName[]): IMetric[] {
  return names.map((name) => alarms.metric(service, name, period, 'Sum'));
}

function durations<F extends FunctionName>({ lambda }: NodeFunction<F>): IMetric[] {
  return ['p50', 'p95', 'Maximum'].map((of) => lambda.metricDuration({ period, statistic: of, label: of }));
}
