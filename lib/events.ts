import { Stack } from 'aws-cdk-lib';
import type { EventPattern } from 'aws-cdk-lib/aws-events';
import type { IConstruct } from 'constructs';
import { leadCreatedDetailType, leadCreatedSource } from '../src/leads/lead-created.ts';

/** Each account's own bus: both stages use it, so every rule of ours also matches `detail.stage`. */
export const defaultBus = 'default';

export function defaultBusArn(scope: IConstruct, region: string): string {
  return Stack.of(scope).formatArn({
    service: 'events',
    region,
    resource: 'event-bus',
    resourceName: defaultBus,
  });
}

/** LeadCreated of the given stages. */
export function leadCreatedOf(...stages: string[]): EventPattern {
  return {
    source: [leadCreatedSource],
    detailType: [leadCreatedDetailType],
    detail: { stage: stages },
  };
}
