import * as z from 'zod';
import { parsePolicy, type Statement } from './iam.ts';
import { type Surroundings, TemplateError } from './intrinsics.ts';
import { ignored, namedResourcesOfType, resourcesOfType } from './resources.ts';
import type { Json, StackTemplate } from './template.ts';

export interface RolePlan {
  arn: string;
  /** Services that may assume it, as `lambda.amazonaws.com`. */
  trusted: string[];
  statements: Statement[];
}

const roleSchema = z.strictObject({
  RoleName: z.string().optional(),
  AssumeRolePolicyDocument: z.json(),
  Policies: z.array(z.strictObject({ PolicyName: z.string(), PolicyDocument: z.json() })).default([]),
  ManagedPolicyArns: z.array(z.string()).default([]),
  Description: ignored,
  Tags: ignored,
});

const policySchema = z.strictObject({
  PolicyName: z.string(),
  PolicyDocument: z.json(),
  Roles: z.array(z.string()),
});

/** AWS's own policies that grant nothing that is served here (logs). */
const managedPolicies = new Set(['arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole']);

/** The roles of a stack by their ARN, each with all its policies. */
export function planRoles(stack: StackTemplate, surroundings: Surroundings): Map<string, RolePlan> {
  const policies = resourcesOfType(stack, ['AWS::IAM::Policy'], policySchema, surroundings);
  const roles = namedResourcesOfType(stack, ['AWS::IAM::Role'], roleSchema, surroundings);
  return new Map(
    roles.map(({ name, arn, path, properties }) => {
      const unknown = properties.ManagedPolicyArns.find((policy) => !managedPolicies.has(policy));
      if (unknown) throw new TemplateError(path, `unknown managed policy ${unknown}`);
      const attached = policies.filter((policy) => policy.properties.Roles.includes(name));
      return [
        arn,
        {
          arn,
          trusted: trustedServices(properties.AssumeRolePolicyDocument as Json, path),
          statements: [
            ...properties.Policies.flatMap((policy) =>
              parsePolicy(policy.PolicyDocument as Json, `${path}.Policies.${policy.PolicyName}`),
            ),
            ...attached.flatMap((policy) =>
              parsePolicy(policy.properties.PolicyDocument as Json, policy.path),
            ),
          ],
        },
      ];
    }),
  );
}

function trustedServices(document: Json, path: string): string[] {
  return parsePolicy(document, `${path}.AssumeRolePolicyDocument`)
    .filter(({ effect, actions }) => effect === 'Allow' && actions.includes('sts:AssumeRole'))
    .flatMap(({ principals = [] }) => principals.map((principal) => principal.replace(/^Service:/, '')));
}
