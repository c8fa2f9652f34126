import type { Clock } from '../platform/clock.ts';
import { metricUnits } from '../platform/metric-names.ts';
import type { ApiSurface } from './surfaces.ts';

/** What RingCentral said is left of a rate limit; only ever called with both numbers read from an answer. */
export type ReportCapacity = (capacity: {
  accountId: string;
  source: ApiSurface;
  limit: number;
  remaining: number;
}) => void;

/**
 * One EMF line with both series: the old one by `Source`, the new one by `AccountId` and `Source`.
 * Written by hand, since Powertools would put `service` and `Stage` into every set of dimensions.
 */
export function createCapacityMetrics(
  namespace: string,
  clock: Clock,
  // Not console.log: Lambda's JSON log format would wrap the line, and CloudWatch would find no metric in it.
  write: (line: string) => void = (line) => process.stdout.write(`${line}\n`),
): ReportCapacity {
  return ({ accountId, source, limit, remaining }) =>
    write(
      JSON.stringify({
        _aws: {
          Timestamp: clock.now().getTime(),
          CloudWatchMetrics: [
            {
              Namespace: namespace,
              Dimensions: [['Source'], ['AccountId', 'Source']],
              Metrics: [
                { Name: 'RateLimitLimit', Unit: metricUnits.RateLimitLimit },
                { Name: 'RateLimitRemaining', Unit: metricUnits.RateLimitRemaining },
              ],
            },
          ],
        },
        Source: source,
        AccountId: accountId,
        RateLimitLimit: limit,
        RateLimitRemaining: remaining,
      }),
    );
}
