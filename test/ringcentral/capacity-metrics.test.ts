import { expect, it } from 'vitest';
import { createCapacityMetrics } from '../../src/ringcentral/capacity-metrics.ts';
import { FakeClock } from '../support/fakes.ts';

it('writes both series in one EMF line: by Source, and by AccountId and Source', () => {
  const lines: string[] = [];
  const report = createCapacityMetrics('callytics', new FakeClock('2026-03-04T15:00:00Z'), (line) => {
    lines.push(line);
  });
  report({ accountId: '900100', source: 'recording_content', limit: 10, remaining: 3 });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      _aws: {
        Timestamp: Date.parse('2026-03-04T15:00:00Z'),
        CloudWatchMetrics: [
          {
            Namespace: 'callytics',
            Dimensions: [['Source'], ['AccountId', 'Source']],
            Metrics: [
              { Name: 'RateLimitLimit', Unit: 'Count' },
              { Name: 'RateLimitRemaining', Unit: 'Count' },
            ],
          },
        ],
      },
      Source: 'recording_content',
      AccountId: '900100',
      RateLimitLimit: 10,
      RateLimitRemaining: 3,
    },
  ]);
});
