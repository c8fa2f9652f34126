import { Duration } from 'aws-cdk-lib';
import { GraphWidget, type IMetric, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { FunctionName } from '../../src/platform/environment.ts';
import type { MetricName } from '../../src/platform/metric-names.ts';
import type { NodeFunction } from './node-function.ts';
import type { StageStack } from './stage-stack.ts';

/** The poller's rhythm: shorter periods would show gaps. */
export const period = Duration.minutes(5);
export const statistic = 'Maximum';

export function graph(
  title: string,
  left: IMetric[],
  layout: { stacked?: boolean; width?: number } = {},
): IWidget {
  return new GraphWidget({ title, left, leftYAxis: { min: 0 }, width: 8, height: 6, ...layout });
}

/** Our own metrics of one function, added up a period. */
export function sums({ alarms }: StageStack, service: FunctionName, names: readonly MetricName[]): IMetric[] {
  return names.map((name) => alarms.metric(service, name, period, 'Sum'));
}

export function durations<F extends FunctionName>({ lambda }: NodeFunction<F>): IMetric[] {
  return ['p50', 'p95', 'Maximum'].map((of) => lambda.metricDuration({ period, statistic: of, label: of }));
}
