import * as z from 'zod';
import { type EventPattern, parsePattern } from './event-pattern.ts';
import { type Surroundings, TemplateError } from './intrinsics.ts';
import { ignored, namedResourcesOfType, resourcesOfType } from './resources.ts';
import type { Json, StackTemplate } from './template.ts';

export interface TargetPlan {
  id: string;
  arn: string;
  /** Assumed by EventBridge for a bus target. */
  roleArn?: string;
  deadLetterArn?: string;
  /** A constant event instead of the one that matched. */
  input?: string;
}

export interface RulePlan {
  name: string;
  region: string;
  arn: string;
  busName: string;
  enabled: boolean;
  pattern?: EventPattern;
  /** From a `rate(…)` expression. */
  everySeconds?: number;
  targets: TargetPlan[];
}

/** Who may invoke a function: its resource policy. */
export interface PermissionPlan {
  functionName: string;
  principal: string;
  sourceArn?: string;
}

const ruleSchema = z.strictObject({
  Name: z.string().optional(),
  Description: ignored,
  EventBusName: z.string().default('default'),
  EventPattern: z.json().optional(),
  ScheduleExpression: z.string().optional(),
  State: z.enum(['ENABLED', 'DISABLED']).default('ENABLED'),
  Tags: ignored,
  Targets: z
    .array(
      z.strictObject({
        Id: z.string(),
        Arn: z.string(),
        RoleArn: z.string().optional(),
        Input: z.string().optional(),
        DeadLetterConfig: z.strictObject({ Arn: z.string() }).optional(),
        RetryPolicy: ignored,
      }),
    )
    .default([]),
});

const permissionSchema = z.strictObject({
  Action: z.literal('lambda:InvokeFunction'),
  FunctionName: z.string(),
  Principal: z.string(),
  SourceArn: z.string().optional(),
  SourceAccount: ignored,
});

export function planRules(stack: StackTemplate, surroundings: Surroundings): RulePlan[] {
  const rules = namedResourcesOfType(stack, ['AWS::Events::Rule'], ruleSchema, surroundings);
  return rules.map(({ name, arn, path, properties }) => {
    return {
      name,
      region: stack.region,
      arn,
      busName: properties.EventBusName.split('/').at(-1) ?? 'default',
      enabled: properties.State === 'ENABLED',
      ...(properties.EventPattern === undefined
        ? {}
        : { pattern: parsePattern(properties.EventPattern as Json, `${path}.EventPattern`) }),
      ...(properties.ScheduleExpression === undefined
        ? {}
        : { everySeconds: parseRate(properties.ScheduleExpression, path) }),
      targets: properties.Targets.map((target) => ({
        id: target.Id,
        arn: target.Arn,
        ...(target.RoleArn ? { roleArn: target.RoleArn } : {}),
        ...(target.DeadLetterConfig ? { deadLetterArn: target.DeadLetterConfig.Arn } : {}),
        ...(target.Input ? { input: target.Input } : {}),
      })),
    };
  });
}

export function planPermissions(stack: StackTemplate, surroundings: Surroundings): PermissionPlan[] {
  const permissions = resourcesOfType(stack, ['AWS::Lambda::Permission'], permissionSchema, surroundings);
  return permissions.map(({ properties }) => ({
    functionName: properties.FunctionName.split(':').at(-1) ?? '',
    principal: properties.Principal,
    ...(properties.SourceArn ? { sourceArn: properties.SourceArn } : {}),
  }));
}

const secondsPerUnit = { minute: 60, hour: 3600, day: 86_400 } as const;

/** `rate(5 minutes)` -> 300. */
function parseRate(expression: string, path: string): number {
  const [, amount, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  if (!amount || !unit) throw new TemplateError(path, `unknown schedule ${expression}`);
  return Number(amount) * secondsPerUnit[unit as keyof typeof secondsPerUnit];
}
