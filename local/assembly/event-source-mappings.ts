import * as z from 'zod';
import type { Surroundings } from './intrinsics.ts';
import { ignored, resourcesOfType } from './resources.ts';
import type { StackTemplate } from './template.ts';

export interface EventSourceMappingPlan {
  /** `Stack/LogicalId`. */
  path: string;
  queueArn: string;
  functionName: string;
  batchSize: number;
  maximumConcurrency?: number;
  reportBatchItemFailures: boolean;
}

const mappingSchema = z.strictObject({
  EventSourceArn: z.string(),
  FunctionName: z.string(),
  BatchSize: z.coerce.number().max(10, 'more than 10 is not known here').default(10),
  Enabled: z.literal(true).optional(),
  FunctionResponseTypes: z.array(z.literal('ReportBatchItemFailures')).default([]),
  ScalingConfig: z.strictObject({ MaximumConcurrency: z.coerce.number() }).optional(),
  Tags: ignored,
});

export function planEventSourceMappings(
  stack: StackTemplate,
  surroundings: Surroundings,
): EventSourceMappingPlan[] {
  const mappings = resourcesOfType(stack, ['AWS::Lambda::EventSourceMapping'], mappingSchema, surroundings);
  return mappings.map(({ path, properties }) => ({
    path,
    queueArn: properties.EventSourceArn,
    functionName: properties.FunctionName.split(':').at(-1) ?? '',
    batchSize: properties.BatchSize,
    ...(properties.ScalingConfig ? { maximumConcurrency: properties.ScalingConfig.MaximumConcurrency } : {}),
    reportBatchItemFailures: properties.FunctionResponseTypes.length > 0,
  }));
}
