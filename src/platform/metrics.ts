import { Metrics } from '@aws-lambda-powertools/metrics';
import { type MetricName, metricUnits } from './metric-names.ts';

/** Metrics as a port. `flush` writes one EMF line and must run on every way out of a handler. */
export interface Meter {
  count(name: MetricName, value?: number): void;
  flush(): void;
}

/** EMF metrics (Powertools): metrics from log lines, without an API call. */
export function createMeter(): Meter {
  const metrics = new Metrics({ defaultDimensions: { Stage: process.env.STAGE ?? 'unknown' } });
  return {
    count: (name, value = 1) => metrics.addMetric(name, metricUnits[name], value),
    flush: () => metrics.publishStoredMetrics(),
  };
}
