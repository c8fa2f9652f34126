import { fileURLToPath } from 'node:url';
import type { StackTemplate, TemplateResource } from '../../local/assembly/template.ts';
import { createJournal } from '../../local/journal.ts';
import { type LocalStage, startStage } from '../../local/stage.ts';

const assets = new Map([['bundle.zip', fileURLToPath(new URL('handlers', import.meta.url))]]);

type Resources = Record<string, TemplateResource>;
export interface Templates {
  leads: Resources;
  calls: Resources;
}

const arn = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });
const allow = (Action: string | string[], Resource: unknown) => ({ Effect: 'Allow', Action, Resource });
const callsBus = {
  'Fn::Join': [':', ['arn:aws:events:us-west-2', { Ref: 'AWS::AccountId' }, 'event-bus/default']],
};

export function role(service: string, ...statements: object[]): TemplateResource {
  return resource('AWS::IAM::Role', {
    AssumeRolePolicyDocument: {
      Statement: [{ Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: service } }],
    },
    Policies: [{ PolicyName: 'inline', PolicyDocument: { Statement: statements } }],
  });
}

export function resource(Type: string, Properties: object): TemplateResource {
  return { Type, Properties: Properties as NonNullable<TemplateResource['Properties']> };
}

function queuePolicy(queue: string, rule: string): TemplateResource {
  return resource('AWS::SQS::QueuePolicy', {
    Queues: [{ Ref: queue }],
    PolicyDocument: {
      Statement: [
        {
          Effect: 'Deny',
          Action: 'sqs:*',
          Principal: { AWS: '*' },
          Resource: arn(queue),
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        },
        {
          ...allow('sqs:SendMessage', arn(queue)),
          Principal: { Service: 'events.amazonaws.com' },
          Condition: { ArnEquals: { 'aws:SourceArn': arn(rule) } },
        },
      ],
    },
  });
}

function lambda(handler: string, roleId: string, environment: object, properties: object = {}) {
  return resource('AWS::Lambda::Function', {
    Code: { S3Bucket: 'assets', S3Key: 'bundle.zip' },
    Handler: handler,
    Runtime: 'nodejs24.x',
    Role: arn(roleId),
    Timeout: 10,
    MemorySize: 256,
    Environment: { Variables: environment },
    ...properties,
  });
}

/**
 * Two small stacks of the product's shape: a scheduled sender puts an event, a rule forwards it to the other
 * region, another rule hands it to a queue, and a worker writes it to a table.
 */
export function templates(): Templates {
  return {
    leads: {
      SenderRole: role(
        'lambda.amazonaws.com',
        allow('events:PutEvents', {
          'Fn::Join': [
            '',
            ['arn:aws:events:', { Ref: 'AWS::Region' }, ':', { Ref: 'AWS::AccountId' }, ':event-bus/default'],
          ],
        }),
      ),
      Sender: lambda('sender.handler', 'SenderRole', { STAGE: 'prod', EVENT_BUS_NAME: 'default' }),
      SenderConfig: resource('AWS::Lambda::EventInvokeConfig', {
        FunctionName: { Ref: 'Sender' },
        Qualifier: '$LATEST',
        MaximumRetryAttempts: 0,
      }),
      Schedule: resource('AWS::Events::Rule', {
        ScheduleExpression: 'rate(5 minutes)',
        State: 'ENABLED',
        Targets: [{ Id: 'Sender', Arn: arn('Sender') }],
      }),
      MaySend: resource('AWS::Lambda::Permission', {
        Action: 'lambda:InvokeFunction',
        FunctionName: arn('Sender'),
        Principal: 'events.amazonaws.com',
        SourceArn: arn('Schedule'),
      }),
      ForwardRole: role('events.amazonaws.com', allow('events:PutEvents', callsBus)),
      ForwardDlq: resource('AWS::SQS::Queue', { QueueName: 'forward-dlq' }),
      ForwardDlqPolicy: queuePolicy('ForwardDlq', 'Forward'),
      Forward: resource('AWS::Events::Rule', {
        Name: 'Forward',
        EventPattern: { source: ['lead-tracking'], detail: { stage: ['prod'] } },
        Targets: [
          {
            Id: 'Bus',
            Arn: callsBus,
            RoleArn: arn('ForwardRole'),
            DeadLetterConfig: { Arn: arn('ForwardDlq') },
          },
        ],
      }),
    },
    calls: {
      Dlq: resource('AWS::SQS::Queue', { QueueName: 'work-dlq' }),
      Work: resource('AWS::SQS::Queue', {
        QueueName: 'work',
        VisibilityTimeout: 30,
        RedrivePolicy: { deadLetterTargetArn: arn('Dlq'), maxReceiveCount: 2 },
      }),
      WorkPolicy: queuePolicy('Work', 'LeadRule'),
      LeadRule: resource('AWS::Events::Rule', {
        Name: 'LeadRule',
        EventPattern: { source: ['lead-tracking'], 'detail-type': ['LeadCreated'] },
        Targets: [{ Id: 'Work', Arn: arn('Work') }],
      }),
      Table: resource('AWS::DynamoDB::Table', {
        TableName: 'WorkState',
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        BillingMode: 'PAY_PER_REQUEST',
      }),
      WorkerRole: role(
        'lambda.amazonaws.com',
        allow(
          [
            'sqs:ReceiveMessage',
            'sqs:DeleteMessage',
            'sqs:GetQueueAttributes',
            'sqs:ChangeMessageVisibility',
          ],
          arn('Work'),
        ),
        allow('dynamodb:PutItem', arn('Table')),
      ),
      Worker: lambda('worker.handler', 'WorkerRole', {
        STATE_TABLE_NAME: { Ref: 'Table' },
        WORK_QUEUE_URL: { Ref: 'Work' },
      }),
      Mapping: resource('AWS::Lambda::EventSourceMapping', {
        EventSourceArn: arn('Work'),
        FunctionName: { Ref: 'Worker' },
        BatchSize: 5,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency: 2 },
      }),
    },
  };
}

export function stacksOf({ leads, calls }: Templates): StackTemplate[] {
  return [
    { name: 'Leads', region: 'us-east-1', resources: leads, assets },
    { name: 'Calls', region: 'us-west-2', resources: calls, assets },
  ];
}

/** The properties of a resource, to be changed by a test. */
export function propertiesOf(resources: Resources, id: string): Record<string, unknown> {
  const found = resources[id]?.Properties;
  if (!found) throw new Error(`no resource ${id}`);
  return found;
}

/** Starts the stacks; `change` breaks or adapts the templates first. The test closes the stage. */
export async function deploy(change: (templates: Templates) => void = () => undefined) {
  const changed = templates();
  change(changed);
  const journal = createJournal();
  const outside = { parameters: () => new Map(), tables: () => [], environment: {} };
  const stage = await startStage(stacksOf(changed), outside, journal);
  return { stage, journal };
}

/** Waits until nothing is under way and the queues with a consumer are empty. */
export async function untilIdle(stage: LocalStage, timeoutMs = 50_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!(await stage.isIdle())) {
    if (Date.now() > end) throw new Error('the stage is still busy');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
