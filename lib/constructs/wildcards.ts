import { Stack, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** Tells cdk-nag why a permission of this role is on a resource with `*` in it: that one, and no other. */
export function acknowledgeWildcard(role: IConstruct, resource: string, reason: string): void {
  const id = `AwsSolutions-IAM5[Resource::${inOneLine(Stack.of(role).resolve(resource))}]`;
  Validations.of(role).acknowledge({ id, reason });
}

/** A reference as cdk-nag writes it: `<Bucket.Arn>/recordings/*`. */
function inOneLine(value: unknown): string {
  if (typeof value === 'string') return value;
  const [[intrinsic, content] = []] = Object.entries(Object(value));
  if (intrinsic === 'Ref') return `<${content}>`;
  if (intrinsic === 'Fn::GetAtt' && Array.isArray(content)) return `<${content.join('.')}>`;
  if (intrinsic === 'Fn::Join' && Array.isArray(content)) return content[1].map(inOneLine).join(content[0]);
  throw new Error(`no one line for ${JSON.stringify(value)}`);
}
