import { describe, expect, it } from 'vitest';
import { regions } from '../../lib/config.ts';
import { physicalName } from '../../lib/names.ts';
import { deadLetterQueues } from '../../src/ops/dead-letter-queues.ts';
import { everyResource, placeholderApp, templatesOf } from '../support/synthesized.ts';

describe('the table of dead-letter queues', () => {
  it('names each one of the app, its region and the queue that it serves', () => {
    const templates = templatesOf(placeholderApp());
    const queues = everyResource(templates, 'AWS::SQS::Queue').filter(({ stack }) =>
      stack.startsWith('prod-'),
    );
    const served = queues.flatMap(({ Properties, region }) => {
      const policy = Properties.RedrivePolicy as { deadLetterTargetArn: string } | undefined;
      return policy
        ? [[policy.deadLetterTargetArn, { region, destination: Properties.QueueName }] as const]
        : [];
    });
    const table = Object.entries(deadLetterQueues).map(([name, { side, destination }]) => {
      const region = regions[side];
      return [
        physicalName(name, 'prod', region),
        { region, destination: physicalName(destination, 'prod', region) },
      ] as const;
    });
    expect(served.length).toBeGreaterThan(1);
    expect(table).toEqual(expect.arrayContaining(served));
    const names = queues.map(({ Properties }) => String(Properties.QueueName));
    const unserved = names.filter(
      (name) =>
        /-dlq-us/.test(name) &&
        !served.some(([dlq, { destination }]) => dlq === name || destination === name),
    );
    expect(unserved).toEqual(['forwarding-dlq-us-east-1']);
  });
});
