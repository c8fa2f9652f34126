import { type BucketPlan, planBuckets } from './buckets.ts';
import { type EventSourceMappingPlan, planEventSourceMappings } from './event-source-mappings.ts';
import { type FunctionPlan, planFunctions } from './functions.ts';
import { type HttpApiPlan, planHttpApis } from './http-apis.ts';
import type { Surroundings } from './intrinsics.ts';
import { planQueues, type QueuePlan } from './queues.ts';
import { planRoles, type RolePlan } from './roles.ts';
import { type PermissionPlan, planPermissions, planRules, type RulePlan } from './rules.ts';
import { planTables, type TablePlan } from './tables.ts';
import type { StackTemplate } from './template.ts';

/** Everything that a stage's templates would make in AWS, as far as the local run serves it. */
export interface StagePlan {
  functions: FunctionPlan[];
  queues: QueuePlan[];
  buckets: BucketPlan[];
  httpApis: HttpApiPlan[];
  tables: TablePlan[];
  roles: Map<string, RolePlan>;
  rules: RulePlan[];
  permissions: PermissionPlan[];
  mappings: EventSourceMappingPlan[];
}

/** @throws TemplateError for anything on the way that the local run doesn't know. */
export function planStage(stacks: readonly StackTemplate[], surroundings: Surroundings): StagePlan {
  const all = <T>(plan: (stack: StackTemplate, surroundings: Surroundings) => T[]) =>
    stacks.flatMap((stack) => plan(stack, surroundings));
  return {
    functions: all(planFunctions),
    queues: all(planQueues),
    buckets: all(planBuckets),
    httpApis: all(planHttpApis),
    tables: all(planTables),
    roles: new Map(stacks.flatMap((stack) => [...planRoles(stack, surroundings)])),
    rules: all(planRules),
    permissions: all(planPermissions),
    mappings: all(planEventSourceMappings),
  };
}
