import {
  AlarmStatusWidget,
  AlarmStatusWidgetSortBy,
  Dashboard,
  type IWidget,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { MetricName } from '../../src/platform/metric-names.ts';
import type { StageStack } from '../constructs/stage-stack.ts';
import { durations, graph, period, statistic, sums } from '../constructs/widgets.ts';
import { callRows } from './call-rows.ts';
import type { CallyticsStack } from './callytics-stack.ts';
import type { LeadTrackingStack } from './leadtracking-stack.ts';

/**
 * One page a stage, over both regions: what is wrong now, the queues, then a lead's way from the mailbox to the
 * timeline and a call's from the webhook to the transcript.
 */
export function addDashboard(leads: LeadTrackingStack, calls: CallyticsStack): void {
  const { config } = calls;
  const heading = `callytics ${config.name} | Runbook: ${config.runbook} | Queries: Logs Insights, folder callytics/${config.name}`;
  new Dashboard(calls, 'Dashboard', {
    dashboardName: calls.named('callytics'),
    widgets: [
      [new TextWidget({ markdown: heading, width: 24, height: 1 })],
      [leads, calls].map(alarmStates),
      queueRow(leads, calls),
      mailRow(leads),
      gaugeRow(leads),
      pollerRow(leads),
      workerRow(leads, calls),
      ...callRows(calls),
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
  { leads, calls }: CallyticsStack,
): IWidget[] {
  const workers = [retries, leads.worker, calls.worker];
  const work = workers.map(({ queue }) => queue);
  const dead = [...workers.map(({ deadLetterQueue }) => deadLetterQueue), forwardingDeadLetters];
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
