import * as z from 'zod';
import type { Surroundings } from './intrinsics.ts';
import { ignored, namedResourcesOfType } from './resources.ts';
import type { StackTemplate } from './template.ts';

const keySchema = z.array(z.strictObject({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }));

const indexSchema = z.object({
  IndexName: z.string(),
  KeySchema: keySchema,
  Projection: z.object({
    ProjectionType: z.enum(['ALL', 'KEYS_ONLY', 'INCLUDE']),
    NonKeyAttributes: z.array(z.string()).optional(),
  }),
});

const tableSchema = z.strictObject({
  TableName: z.string().optional(),
  AttributeDefinitions: z.array(
    z.strictObject({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) }),
  ),
  KeySchema: keySchema,
  BillingMode: z.literal('PAY_PER_REQUEST'),
  GlobalSecondaryIndexes: z.array(indexSchema).optional(),
  Replicas: z.array(z.unknown()).max(1).optional(),
  DeletionProtectionEnabled: ignored,
  PointInTimeRecoverySpecification: ignored,
  SSESpecification: ignored,
  TimeToLiveSpecification: ignored,
  Tags: ignored,
});

/** A DynamoDB table, in the words of CreateTable. */
export interface TablePlan {
  name: string;
  region: string;
  attributes: z.output<typeof tableSchema>['AttributeDefinitions'];
  key: z.output<typeof keySchema>;
  indexes: z.output<typeof indexSchema>[];
}

export function planTables(stack: StackTemplate, surroundings: Surroundings): TablePlan[] {
  const types = ['AWS::DynamoDB::Table', 'AWS::DynamoDB::GlobalTable'];
  return namedResourcesOfType(stack, types, tableSchema, surroundings).map(({ name, properties }) => ({
    name,
    region: stack.region,
    attributes: properties.AttributeDefinitions,
    key: properties.KeySchema,
    indexes: properties.GlobalSecondaryIndexes ?? [],
  }));
}
