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

/**
 * A transcription job of the stage has ended. A job's name begins with its stage, and a stage's name has no dash,
 * so no stage takes another one's.
 */
export function transcriptionEndedOf(stage: string): EventPattern {
  return {
    source: ['aws.transcribe'],
    detailType: ['Transcribe Job State Change'],
    detail: {
      TranscriptionJobName: [{ prefix: `${stage}-` }],
      TranscriptionJobStatus: ['COMPLETED', 'FAILED'],
    },
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
  const jobEnded = (TranscriptionJobName: string, TranscriptionJobStatus: string) => ({
    source: 'aws.transcribe',
    'detail-type': 'Transcribe Job State Change',
    detail: { TranscriptionJobName, TranscriptionJobStatus },
  });
  return [
    { region: regions.leads, event: leadCreated },
    { region: regions.calls, event: jobEnded(`${stage}-rec-1`, 'COMPLETED') },
    { region: regions.calls, event: jobEnded(`${stage}-vm-1`, 'FAILED') },
  ];
}
