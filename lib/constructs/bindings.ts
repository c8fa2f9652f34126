import { Stack } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { IConstruct } from 'constructs';
import { defaultBus, defaultBusArn } from '../events.ts';

/** What a function may do: exact actions on exact ARNs. */
interface Permission {
  readonly actions: string[];
  readonly resources: string[];
}

/** A variable's value together with what the function may do with it, so that the two never part ways. */
export interface Binding {
  readonly value: string;
  readonly allow: readonly Permission[];
}

/** A value that names no resource. */
export function setting(value: string): Binding {
  return { value, allow: [] };
}

/** An SSM SecureString. Its key is aws/ssm, whose own policy lets SSM decrypt for callers of the account. */
export function readsParameter(scope: IConstruct, name: string): Binding {
  const arn = Stack.of(scope).formatArn({
    service: 'ssm',
    resource: 'parameter',
    resourceName: name.slice(1),
  });
  return { value: name, allow: [{ actions: ['ssm:GetParameter'], resources: [arn] }] };
}

/** The default bus of the stack's own region. */
export function publishesToDefaultBus(scope: IConstruct): Binding {
  const { region } = Stack.of(scope);
  return {
    value: defaultBus,
    allow: [{ actions: ['events:PutEvents'], resources: [defaultBusArn(scope, region)] }],
  };
}

/** A table of another application, read whole. */
export function scansTable(scope: IConstruct, table: { tableName: string; region: string }): Binding {
  const arn = Stack.of(scope).formatArn({
    service: 'dynamodb',
    region: table.region,
    resource: 'table',
    resourceName: table.tableName,
  });
  return { value: table.tableName, allow: [{ actions: ['dynamodb:Scan'], resources: [arn] }] };
}

/** Single items of a table, by key. */
export function usesItems(table: Table, operations: readonly ('Get' | 'Update' | 'Delete')[]): Binding {
  const actions = operations.map((operation) => `dynamodb:${operation}Item`);
  return { value: table.tableName, allow: [{ actions, resources: [table.tableArn] }] };
}

/** Adds items to a table and looks for earlier ones in one of its indexes. */
export function putsAndQueries(table: Table, indexName: string): Binding {
  return {
    value: table.tableName,
    allow: [
      { actions: ['dynamodb:PutItem'], resources: [table.tableArn] },
      { actions: ['dynamodb:Query'], resources: [`${table.tableArn}/index/${indexName}`] },
    ],
  };
}

export function sendsTo(queue: IQueue): Binding {
  return {
    value: queue.queueUrl,
    allow: [{ actions: ['sqs:SendMessage'], resources: [queue.queueArn] }],
  };
}

/** What an event source mapping needs, and a worker that decides itself when a message comes again. */
export function consumes(queue: IQueue): Binding {
  const actions = ['ReceiveMessage', 'DeleteMessage', 'GetQueueAttributes', 'ChangeMessageVisibility'];
  return {
    value: queue.queueUrl,
    allow: [{ actions: actions.map((action) => `sqs:${action}`), resources: [queue.queueArn] }],
  };
}
