import * as z from 'zod';
import { parsePolicy, type Statement } from './iam.ts';
import type { Surroundings } from './intrinsics.ts';
import { ignored, namedResourcesOfType, resourcesOfType } from './resources.ts';
import { type Json, localAccount, type StackTemplate } from './template.ts';

export interface QueuePlan {
  name: string;
  region: string;
  arn: string;
  visibilitySeconds: number;
  delaySeconds: number;
  retentionSeconds: number;
  redrive?: { deadLetterArn: string; maxReceiveCount: number };
  /** The queue's resource policies. */
  policy: Statement[];
}

const queueSchema = z.strictObject({
  QueueName: z.string().optional(),
  VisibilityTimeout: z.coerce.number().default(30),
  DelaySeconds: z.coerce.number().default(0),
  MessageRetentionPeriod: z.coerce.number().default(345_600),
  RedrivePolicy: z
    .strictObject({ deadLetterTargetArn: z.string(), maxReceiveCount: z.coerce.number() })
    .optional(),
  RedriveAllowPolicy: ignored,
  SqsManagedSseEnabled: ignored,
  Tags: ignored,
});

const queuePolicySchema = z.strictObject({ PolicyDocument: z.json(), Queues: z.array(z.string()) });

export function planQueues(stack: StackTemplate, surroundings: Surroundings): QueuePlan[] {
  const policies = resourcesOfType(stack, ['AWS::SQS::QueuePolicy'], queuePolicySchema, surroundings);
  return namedResourcesOfType(stack, ['AWS::SQS::Queue'], queueSchema, surroundings).map((resource) => {
    const { name, arn, properties } = resource;
    const url = `${surroundings.origin}/${localAccount}/${name}`;
    const { RedrivePolicy: redrive } = properties;
    return {
      name,
      region: stack.region,
      arn,
      visibilitySeconds: properties.VisibilityTimeout,
      delaySeconds: properties.DelaySeconds,
      retentionSeconds: properties.MessageRetentionPeriod,
      ...(redrive
        ? {
            redrive: { deadLetterArn: redrive.deadLetterTargetArn, maxReceiveCount: redrive.maxReceiveCount },
          }
        : {}),
      policy: policies
        .filter((policy) => policy.properties.Queues.includes(url))
        .flatMap((policy) => parsePolicy(policy.properties.PolicyDocument as Json, policy.path)),
    };
  });
}
