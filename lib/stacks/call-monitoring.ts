import { Duration } from 'aws-cdk-lib';
import { MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { FunctionName } from '../../src/platform/environment.ts';
import type { AlarmName } from '../alarms.ts';
import type { NodeFunction } from '../constructs/node-function.ts';
import type { StageStack } from '../constructs/stage-stack.ts';
import type { CallProcessing } from './call-processing.ts';

const period = Duration.minutes(5);

/** The alarms on what receiver, processor and sweep tell of calls. */
export function addCallAlarms(stack: StageStack, { receiver, worker, sweep }: CallProcessing): void {
  addSweepAlarms(stack, sweep);
  addErrors(stack, 'WebhookReceiverErrors', receiver);
  addErrors(stack, 'CallSweepErrors', sweep);

  const { alarms } = stack;
  alarms.add('WebhookFailed', {
    metric: alarms.metric(receiver.name, 'WebhookFailed', period, 'Sum'),
    atLeast: 1,
    periods: 2,
    outOf: 3,
    links: receiver.links,
  });

  // A refused login blocks the next one for up to an hour, and only a login tells: 75 minutes without a refusal
  // are a login that worked. Either function may be the one that meets it; both emit a 0 at each run, so that the
  // sum is there from the first day on.
  const refusals = (name: FunctionName) => alarms.metric(name, 'RingCentralLoginRefused', period, 'Sum');
  alarms.add('RingCentralLoginRefused', {
    metric: new MathExpression({
      expression: 'FILL(processor, 0) + FILL(sweep, 0)',
      usingMetrics: { processor: refusals(worker.function.name), sweep: refusals(sweep.name) },
      period,
    }),
    atLeast: 1,
    outOf: 15,
    links: worker.function.links,
  });
}

function addSweepAlarms({ alarms }: StageStack, { name, links }: NodeFunction<'call-sweep'>): void {
  alarms.add('CallSweepNotRunning', {
    metric: alarms.metric(name, 'SweepRuns', period, 'Sum'),
    below: 1,
    periods: 3,
    missing: TreatMissingData.BREACHING,
    links,
  });
  // Measured once an hour, account by account: over 70 minutes each of them has been. One that can't be measured
  // says nothing, and CallSweepNotRunning tells when nobody measures.
  alarms.add('SubscriptionNotActive', {
    metric: alarms.metric(name, 'SubscriptionNotActive', period),
    atLeast: 1,
    outOf: 14,
    missing: TreatMissingData.IGNORE,
    links,
  });
  // Measured each minute, 0 included; a start that was skipped leaves a gap, which says nothing.
  alarms.add('GateClosed', {
    metric: alarms.metric(name, 'GateClosed', Duration.minutes(1), 'Sum'),
    atLeast: 1,
    periods: 15,
    missing: TreatMissingData.IGNORE,
    links,
  });
  // The pass that finds them all is hourly.
  alarms.add('CallsWithoutWebhook', {
    metric: alarms.metric(name, 'CallsWithoutWebhook', Duration.hours(1), 'Sum'),
    atLeast: 1,
    links,
  });
}

function addErrors(
  { alarms }: StageStack,
  alarm: AlarmName,
  { lambda, links }: NodeFunction<'webhook-receiver'> | NodeFunction<'call-sweep'>,
): void {
  alarms.add(alarm, { metric: lambda.metricErrors({ period }), atLeast: 1, periods: 2, outOf: 3, links });
}
