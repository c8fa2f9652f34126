import * as z from 'zod';
import { parsePolicy, type Statement } from './iam.ts';
import type { Surroundings } from './intrinsics.ts';
import { ignored, namedResourcesOfType, resourcesOfType } from './resources.ts';
import type { Json, StackTemplate } from './template.ts';

export interface BucketPlan {
  name: string;
  region: string;
  arn: string;
  /** The bucket's resource policies. */
  policy: Statement[];
}

const bucketSchema = z.strictObject({
  BucketName: z.string().optional(),
  BucketEncryption: ignored,
  LifecycleConfiguration: ignored,
  OwnershipControls: ignored,
  PublicAccessBlockConfiguration: ignored,
  Tags: ignored,
});

const bucketPolicySchema = z.strictObject({ Bucket: z.string(), PolicyDocument: z.json() });

export function planBuckets(stack: StackTemplate, surroundings: Surroundings): BucketPlan[] {
  const policies = resourcesOfType(stack, ['AWS::S3::BucketPolicy'], bucketPolicySchema, surroundings);
  return namedResourcesOfType(stack, ['AWS::S3::Bucket'], bucketSchema, surroundings).map(({ arn }) => {
    const name = arn.split(':').at(-1) ?? '';
    return {
      name,
      region: stack.region,
      arn,
      policy: policies
        .filter(({ properties }) => properties.Bucket === name)
        .flatMap(({ path, properties }) => parsePolicy(properties.PolicyDocument as Json, path)),
    };
  });
}
