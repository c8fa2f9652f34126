import { describe, expect, it } from 'vitest';
import { placeholderApp, readable, resourcesOf, type Template, templatesOf } from '../support/synthesized.ts';

const templates = templatesOf(placeholderApp());
const template = (name: string): Template => templates[name] ?? { Resources: {} };

function properties(stack: string, type: string): Record<string, unknown>[] {
  return resourcesOf(template(stack), type).map(
    (resource) => readable(template(stack), resource.Properties) as Record<string, unknown>,
  );
}
const find = (stack: string, type: string, match: Record<string, unknown>) =>
  properties(stack, type).find((resource) =>
    Object.entries(match).every(([key, value]) => resource[key] === value),
  );

const stages = [
  { stage: 'prod', infix: '', retention: 90 },
  { stage: 'test', infix: 'test-', retention: 14 },
];

describe.each(stages)('$stage', ({ stage, infix, retention }) => {
  const leads = `${stage}-LeadTracking`;
  const calls = `${stage}-Callytics`;
  const east = `${infix}us-east-1`;
  const west = `${infix}us-west-2`;
  const day = 86_400;

  it.each([
    [leads, `neon-write-dlq-${east}`, 120, 7 * day, `neon-write-final-dlq-${east}`, {}],
    [calls, `lead-processor-queue-${west}`, 300, 4 * day, `lead-processor-dlq-${west}`, {}],
    [calls, `transcribe-queue-${west}`, 720, 14 * day, `transcribe-dlq-${west}`, { DelaySeconds: 300 }],
  ])(
    '%s: work queue %s',
    (stack, QueueName, VisibilityTimeout, MessageRetentionPeriod, deadLetterTargetArn, delay) => {
      expect(find(stack, 'AWS::SQS::Queue', { QueueName })).toEqual({
        QueueName,
        VisibilityTimeout,
        MessageRetentionPeriod,
        ...delay,
        RedrivePolicy: { deadLetterTargetArn, maxReceiveCount: 3 },
        SqsManagedSseEnabled: true,
      });
    },
  );

  it.each([
    [leads, `neon-write-final-dlq-${east}`],
    [leads, `forwarding-dlq-${east}`],
    [calls, `lead-processor-dlq-${west}`],
    [calls, `transcribe-dlq-${west}`],
  ])('%s: dead-letter queue %s', (stack, QueueName) => {
    expect(find(stack, 'AWS::SQS::Queue', { QueueName })).toEqual({
      QueueName,
      MessageRetentionPeriod: 14 * day,
      SqsManagedSseEnabled: true,
    });
  });

  it('refuses plain HTTP on every queue and topic', () => {
    for (const stack of [leads, calls]) {
      const policies = [
        ...properties(stack, 'AWS::SQS::QueuePolicy'),
        ...properties(stack, 'AWS::SNS::TopicPolicy'),
      ];
      const guarded = policies
        .filter((policy) => JSON.stringify(policy).includes('"aws:SecureTransport":"false"'))
        .flatMap((policy) => (policy.Queues ?? policy.Topics) as string[]);
      const all = [...properties(stack, 'AWS::SQS::Queue'), ...properties(stack, 'AWS::SNS::Topic')];
      expect(guarded.toSorted()).toEqual(
        all.map(({ QueueName, TopicName }) => QueueName ?? TopicName).toSorted(),
      );
    }
  });

  it.each([
    [leads, `NeonRetryProcessor-${east}`, `neon-write-dlq-${east}`, 5, 2],
    [calls, `LeadProcessorFunction-${west}`, `lead-processor-queue-${west}`, 1, 10],
    [calls, `TranscribeProcessorFunction-${west}`, `transcribe-queue-${west}`, 1, 5],
  ])('%s: event source of %s', (stack, FunctionName, EventSourceArn, BatchSize, MaximumConcurrency) => {
    expect(find(stack, 'AWS::Lambda::EventSourceMapping', { FunctionName })).toEqual({
      FunctionName,
      EventSourceArn,
      BatchSize,
      ScalingConfig: { MaximumConcurrency },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
  });

  it('has no other event sources', () => {
    const sources = [leads, calls].map(
      (stack) => properties(stack, 'AWS::Lambda::EventSourceMapping').length,
    );
    expect(sources).toEqual([1, 2]);
  });

  it.each([
    [leads, `ImapPollerFunction-${east}`, 240],
    [leads, `NeonRetryProcessor-${east}`, 20],
    [calls, `LeadProcessorFunction-${west}`, 50],
    [calls, `AlarmDispatcherFunction-${west}`, 40],
    [calls, `WebhookReceiverFunction-${west}`, 5],
    [calls, `TranscribeProcessorFunction-${west}`, 120],
    [calls, `CallSweepFunction-${west}`, 110],
  ])('%s: function %s', (stack, FunctionName, Timeout) => {
    const found = find(stack, 'AWS::Lambda::Function', { FunctionName });
    expect(found).toMatchObject({
      Timeout,
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      LoggingConfig: { LogFormat: 'JSON', ApplicationLogLevel: 'INFO' },
    });
  });

  it('gives each function and the HTTP API its own log group with the stage`s retention', () => {
    for (const stack of [leads, calls]) {
      const groups = resourcesOf(template(stack), 'AWS::Logs::LogGroup');
      expect(groups.map(({ Properties }) => Properties)).toEqual(
        groups.map(() => ({ RetentionInDays: retention })),
      );
      const used = properties(stack, 'AWS::Lambda::Function').map(
        ({ LoggingConfig }) => (LoggingConfig as { LogGroup: string }).LogGroup,
      );
      const others = groups.map(({ id }) => id).filter((id) => !used.includes(id));
      expect(new Set(used).size).toBe(used.length);
      expect(others).toEqual(stack === calls ? ['CallsWebhooksAccessLogsEB7A626B'] : []);
    }
  });

  it.each([
    [leads, `ImapPollerSchedule-${east}`, `ImapPollerFunction-${east}`, 'rate(5 minutes)'],
    [calls, `CallSweepSchedule-${west}`, `CallSweepFunction-${west}`, 'rate(1 minute)'],
  ])(
    '%s: %s starts its function, once: no retry, nothing older than a minute',
    (stack, Name, FunctionName, ScheduleExpression) => {
      expect(find(stack, 'AWS::Events::Rule', { Name })).toMatchObject({
        ScheduleExpression,
        State: 'ENABLED',
        Targets: [
          {
            Arn: FunctionName,
            RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
          },
        ],
      });
      expect(find(stack, 'AWS::Lambda::EventInvokeConfig', { FunctionName })).toEqual({
        FunctionName,
        Qualifier: '$LATEST',
        MaximumRetryAttempts: 0,
        MaximumEventAgeInSeconds: 60,
      });
    },
  );

  it('routes LeadCreated of its own stage to the lead processor`s queue', () => {
    const rule = find(calls, 'AWS::Events::Rule', { Name: `LeadCreatedRule-${west}` });
    expect(rule).toMatchObject({
      EventPattern: {
        source: ['lead-tracking'],
        'detail-type': ['LeadCreated'],
        detail: { stage: stage === 'prod' ? ['prod'] : ['test', 'prod'] },
      },
      Targets: [
        { Arn: `lead-processor-queue-${west}`, DeadLetterConfig: { Arn: `lead-processor-dlq-${west}` } },
      ],
    });
  });

  it('keeps the state table`s items by `pk` until their `ttl`, and the legacy leads with their phone index', () => {
    const recovery = { PointInTimeRecoveryEnabled: stage === 'prod' };
    expect(properties(leads, 'AWS::DynamoDB::Table')).toEqual([
      {
        TableName: `LeadTrackingState-${east}`,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
        PointInTimeRecoverySpecification: recovery,
      },
      {
        TableName: `LeadTracking-v2-${east}`,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [
          { AttributeName: 'id', AttributeType: 'S' },
          { AttributeName: 'phone', AttributeType: 'S' },
          { AttributeName: 'receivedAt', AttributeType: 'S' },
        ],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        GlobalSecondaryIndexes: [
          {
            IndexName: 'phone-receivedAt-index',
            KeySchema: [
              { AttributeName: 'phone', KeyType: 'HASH' },
              { AttributeName: 'receivedAt', KeyType: 'RANGE' },
            ],
            Projection: { ProjectionType: 'ALL' },
          },
        ],
        PointInTimeRecoverySpecification: recovery,
      },
    ]);
    for (const { DeletionPolicy, UpdateReplacePolicy } of resourcesOf(
      template(leads),
      'AWS::DynamoDB::Table',
    )) {
      expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(
        Array(2).fill(stage === 'prod' ? 'Retain' : 'Delete'),
      );
    }
  });
});
