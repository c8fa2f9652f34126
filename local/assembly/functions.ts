import * as z from 'zod';
import { type Surroundings, TemplateError } from './intrinsics.ts';
import { ignored, namedResourcesOfType, resourcesOfType } from './resources.ts';
import type { StackTemplate } from './template.ts';

export interface FunctionPlan {
  name: string;
  region: string;
  arn: string;
  /** `file.export` in `directory`, the asset that would be deployed. */
  handler: string;
  directory: string;
  environment: Record<string, string>;
  timeoutSeconds: number;
  memoryMegabytes: number;
  roleArn: string;
  /** How often a failed asynchronous invocation is repeated; AWS's default is 2. */
  asynchronousRetries: number;
}

const functionSchema = z.strictObject({
  FunctionName: z.string().optional(),
  Code: z.strictObject({ S3Bucket: z.string(), S3Key: z.string() }),
  Handler: z.string(),
  Runtime: z.string().startsWith('nodejs'),
  Role: z.string(),
  Timeout: z.coerce.number().default(3),
  MemorySize: z.coerce.number().default(128),
  Environment: z.strictObject({ Variables: z.record(z.string(), z.string()) }).optional(),
  Architectures: ignored,
  Description: ignored,
  LoggingConfig: ignored,
  RecursiveLoop: ignored,
  Tags: ignored,
  TracingConfig: ignored,
});

const invokeConfigSchema = z.strictObject({
  FunctionName: z.string(),
  Qualifier: z.string(),
  MaximumRetryAttempts: z.coerce.number().default(2),
  MaximumEventAgeInSeconds: ignored,
  // Alarms: nothing raises them here.
  DestinationConfig: ignored,
});

export function planFunctions(stack: StackTemplate, surroundings: Surroundings): FunctionPlan[] {
  const configs = resourcesOfType(
    stack,
    ['AWS::Lambda::EventInvokeConfig'],
    invokeConfigSchema,
    surroundings,
  );
  const functions = namedResourcesOfType(stack, ['AWS::Lambda::Function'], functionSchema, surroundings);
  return functions.map(({ name, arn, path, properties }) => {
    const directory = stack.assets.get(properties.Code.S3Key);
    if (!directory) throw new TemplateError(`${path}.Code`, `no asset ${properties.Code.S3Key}`);
    const config = configs.find((candidate) => candidate.properties.FunctionName === name);
    return {
      name,
      region: stack.region,
      arn,
      handler: properties.Handler,
      directory,
      environment: properties.Environment?.Variables ?? {},
      timeoutSeconds: properties.Timeout,
      memoryMegabytes: properties.MemorySize,
      roleArn: properties.Role,
      asynchronousRetries: config?.properties.MaximumRetryAttempts ?? 2,
    };
  });
}
