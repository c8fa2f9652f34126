import { DescribeTableCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import {
  EventBridgeClient,
  ListRulesCommand,
  ListTargetsByRuleCommand,
  PutEventsCommand,
  RemoveTargetsCommand,
  type Target,
} from '@aws-sdk/client-eventbridge';
import {
  GetQueueAttributesCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import * as z from 'zod';
import { call, type Moto, motoCredentials } from './moto.ts';

const functionsSchema = z.object({
  Functions: z.array(
    z.object({
      FunctionName: z.string(),
      Runtime: z.string(),
      Handler: z.string(),
      Timeout: z.number(),
      CodeSize: z.number(),
      Environment: z.object({ Variables: z.record(z.string(), z.string()) }),
    }),
  ),
});
const mappingsSchema = z.object({
  EventSourceMappings: z.array(
    z.object({
      EventSourceArn: z.string(),
      FunctionArn: z.string(),
      BatchSize: z.number(),
      FunctionResponseTypes: z.array(z.string()),
      ScalingConfig: z.object({ MaximumConcurrency: z.number() }),
      State: z.string(),
    }),
  ),
});
const logGroupsSchema = z.object({
  logGroups: z.array(z.object({ logGroupName: z.string(), retentionInDays: z.number() })),
});

/** What moto's own APIs say is there in one region. */
export function deployedIn(moto: Moto, region: string) {
  const client = { region, endpoint: moto.endpoint, credentials: motoCredentials };
  const sqs = new SQSClient(client);
  const events = new EventBridgeClient(client);
  const tables = new DynamoDBClient(client);
  const nameIn = (url: string) => url.split('/').at(-1) ?? '';
  const queueUrls = async () => (await sqs.send(new ListQueuesCommand())).QueueUrls ?? [];
  const lambda = async (resource: string) =>
    JSON.parse(await call(moto, { service: 'lambda', region, path: `/2015-03-31/${resource}/` }));
  /** An API with form fields and XML: the texts of one element. */
  const query = async (service: string, body: string, element: string) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await call(moto, { service, region, headers, body });
    return [...answer.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'gs'))].map(
      ([, text]) => text ?? '',
    );
  };

  return {
    /** Attributes by queue name. */
    async queues(): Promise<Record<string, Record<string, string>>> {
      const all = await queueUrls();
      const attributes = async (QueueUrl: string) => {
        const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
        return [nameIn(QueueUrl), (await sqs.send(asked)).Attributes ?? {}] as const;
      };
      return Object.fromEntries(await Promise.all(all.map(attributes)));
    },
    async functions() {
      return functionsSchema.parse(await lambda('functions')).Functions;
    },
    async eventSourceMappings() {
      return mappingsSchema.parse(await lambda('event-source-mappings')).EventSourceMappings;
    },
    /** Rules of the default bus by name, with their targets. */
    async rules() {
      const rules = (await events.send(new ListRulesCommand())).Rules ?? [];
      const described = rules.map(async ({ Name: name = '', EventPattern, ScheduleExpression, State }) => {
        const found = await events.send(new ListTargetsByRuleCommand({ Rule: name }));
        const targets: Target[] = found.Targets ?? [];
        const pattern: unknown = EventPattern && JSON.parse(EventPattern);
        return [name, { pattern, schedule: ScheduleExpression, state: State, targets }] as const;
      });
      return Object.fromEntries(await Promise.all(described));
    },
    async tables() {
      const names = (await tables.send(new ListTablesCommand())).TableNames ?? [];
      const describe = async (TableName: string) =>
        [TableName, (await tables.send(new DescribeTableCommand({ TableName }))).Table] as const;
      return Object.fromEntries(await Promise.all(names.map(describe)));
    },
    async topics(): Promise<string[]> {
      return (await query('sns', 'Action=ListTopics&Version=2010-03-31', 'TopicArn')).map(
        (arn) => arn.split(':').at(-1) ?? '',
      );
    },
    /** The stages' dashboards by name, with their bodies. */
    async dashboards(): Promise<Record<string, string>> {
      const names = await query('monitoring', 'Action=ListDashboards&Version=2010-08-01', 'DashboardName');
      const read = async (name: string) => {
        const asked = `Action=GetDashboard&DashboardName=${name}&Version=2010-08-01`;
        return [name, (await query('monitoring', asked, 'DashboardBody')).join('')] as const;
      };
      return Object.fromEntries(await Promise.all(names.map(read)));
    },
    async logGroups() {
      const headers = {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': 'Logs_20140328.DescribeLogGroups',
      };
      const answer = await call(moto, { service: 'logs', region, headers, body: '{}' });
      return logGroupsSchema.parse(JSON.parse(answer)).logGroups;
    },
    /** A gap of moto's: to it every event matches a rule without a pattern, and it can't invoke a function. */
    async removeSchedules(): Promise<void> {
      const rules = (await events.send(new ListRulesCommand())).Rules ?? [];
      for (const { Name } of rules.filter(({ ScheduleExpression }) => ScheduleExpression)) {
        const { Targets = [] } = await events.send(new ListTargetsByRuleCommand({ Rule: Name }));
        await events.send(new RemoveTargetsCommand({ Rule: Name, Ids: Targets.map(({ Id = '' }) => Id) }));
      }
    },
    /** @throws Error when the bus refuses the event */
    async publish(event: { Source: string; DetailType: string; Detail: string }): Promise<void> {
      const { FailedEntryCount } = await events.send(new PutEventsCommand({ Entries: [event] }));
      if (FailedEntryCount !== 0) throw new Error(`${region} refuses ${event.DetailType}`);
    },
    /** The messages that wait in all queues, as [queue, body]. */
    async receiveAll(): Promise<[string, string][]> {
      const receive = async (QueueUrl: string) => {
        const asked = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 0 });
        const { Messages = [] } = await sqs.send(asked);
        return Messages.map(({ Body = '' }): [string, string] => [nameIn(QueueUrl), Body]);
      };
      return (await Promise.all((await queueUrls()).map(receive))).flat();
    },
  };
}
