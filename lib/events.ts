import { Stack } from 'aws-cdk-lib';
import type { EventPattern } from 'aws-cdk-lib/aws-events';
import type { IConstruct } from 'constructs';
import { leadCreatedDetailType, leadCreatedSource } from '../src/leads/lead-created.ts';
import { regions } from './config.ts';

/** Each account's own bus: all stages use it, so every rule of ours also matches `detail.stage`. */
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

/** What rules see of an event: the fields that patterns of ours match. */
export interface SampleEvent {
  readonly source: string;
  readonly 'detail-type': string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** One sample of each event that a stage brings forth, and the region of the bus where it begins. */
export function emittedEvents(stage: string): { region: string; event: SampleEvent }[] {
  const leadCreated = {
    source: leadCreatedSource,
    'detail-type': leadCreatedDetailType,
    detail: { stage },
  };
  return [{ region: regions.leads, event: leadCreated }];
}
