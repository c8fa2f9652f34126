import { Duration } from 'aws-cdk-lib';
import { TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { MetricName } from '../../src/platform/metric-names.ts';
import type { AlarmName } from '../alarms.ts';
import type { NodeFunction } from '../constructs/node-function.ts';
import type { QueueWorker } from '../constructs/queue-worker.ts';
import type { StageStack } from '../constructs/stage-stack.ts';

/** The poller's rhythm, and so the period of what it emits. */
const tick = Duration.minutes(5);

/** The alarms on what poller and retry queue tell of mail and leads. */
export function addMailAlarms(
  { alarms, config }: StageStack,
  poller: NodeFunction<'poller'>,
  retries: QueueWorker<'neon-retry-processor'>,
): void {
  const { links } = poller;

  alarms.add('PollerNotRunning', {
    metric: alarms.metric('poller', 'PollerRuns', tick, 'Sum'),
    below: 1,
    periods: 3,
    missing: TreatMissingData.BREACHING,
    links,
  });
  alarms.add('PollerErrors', {
    metric: poller.lambda.metricErrors({ period: tick }),
    atLeast: 1,
    periods: 2,
    outOf: 3,
    links,
  });

  // Values the poller measures at each tick. A tick without one (Neon down) says nothing: the state stays.
  const measured: [AlarmName, MetricName, number][] = [
    ['OldestUnprocessedMail', 'OldestUnprocessedMailAge', Duration.minutes(15).toSeconds()],
    ['LeadsWithoutTimeline', 'LeadsWithoutTimeline', 1],
  ];
  for (const [alarm, metric, atLeast] of measured) {
    const missing = TreatMissingData.IGNORE;
    alarms.add(alarm, { metric: alarms.metric('poller', metric, tick), atLeast, missing, links });
  }
  // Emitted in opening hours only: at night the alarm is over.
  alarms.add('NoLeadInOpeningHours', {
    metric: alarms.metric('poller', 'HoursSinceLead', tick),
    atLeast: config.noLeadAlarmHours,
    periods: 2,
    links,
  });

  const counted: [AlarmName, MetricName][] = [
    ['QuarantinedMailForStore', 'MailQuarantinedKnownRecipient'],
    ['UnmappedMail', 'MailUnmapped'],
  ];
  for (const [alarm, metric] of counted) {
    alarms.add(alarm, { metric: alarms.metric('poller', metric, tick, 'Sum'), atLeast: 1, links });
  }

  // Both write to Neon under the one breaker; without new mail only the retries still meet it.
  for (const { name, links } of [poller, retries.function]) {
    const metric = alarms.metric(name, 'BreakerOpen', tick, 'Sum');
    alarms.add('BreakerOpen', { subject: name, metric, atLeast: 1, links });
  }

  alarms.add('NeonWriteQueueNotEmpty', {
    metric: retries.queue.metricApproximateNumberOfMessagesVisible({ period: tick, statistic: 'Maximum' }),
    atLeast: 1,
    links: retries.links,
  });
}
