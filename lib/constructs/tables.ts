import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table, type TableProps } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { StageStack } from './stage-stack.ts';

/** A table on demand; where the stage keeps its data it outlives the stack and can be put back to any second. */
export function createTable(scope: Construct, id: string, props: TableProps): Table {
  const { keepData } = StageStack.of(scope).config;
  const table = new Table(scope, id, {
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: keepData },
    removalPolicy: keepData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    ...props,
  });
  if (!keepData) {
    const reason = 'Not the production stage: its data may be lost';
    Validations.of(table).acknowledge({ id: 'AwsSolutions-DDB3', reason });
  }
  return table;
}

/** Items by one key `pk`, changed by conditional single-item writes; old ones expire by themselves. */
export function createStateTable(scope: Construct, id: string, baseName: string): Table {
  return createTable(scope, id, {
    tableName: StageStack.of(scope).named(baseName),
    partitionKey: { name: 'pk', type: AttributeType.STRING },
    timeToLiveAttribute: 'ttl',
  });
}
