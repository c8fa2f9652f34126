import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Construct } from 'constructs';
import type { FunctionName } from '../../src/platform/environment.ts';
import type { NodeFunction } from './node-function.ts';
import { StageStack } from './stage-stack.ts';

/** A start that fails or is late is dropped: the next one does its work. For Lambda and for EventBridge. */
export const droppedWhenLate = { retryAttempts: 0, maxEventAge: Duration.seconds(60) } as const;

/** Starts a function again and again. The function's own `asynchronous` setting has to be `droppedWhenLate` too. */
export function schedule<F extends FunctionName>(
  scope: Construct,
  id: string,
  { lambda }: NodeFunction<F>,
  { physicalName, description, every }: { physicalName: string; description: string; every: Duration },
): void {
  new Rule(scope, id, {
    ruleName: StageStack.of(scope).named(physicalName),
    description,
    schedule: Schedule.rate(every),
    targets: [new LambdaTarget(lambda, droppedWhenLate)],
  });
}
