import { describe, expect, it } from 'vitest';
import {
  everyResource,
  placeholderApp,
  statementsOf,
  type Template,
  templatesOf,
} from '../support/synthesized.ts';

const templates = templatesOf(placeholderApp());
const every = (type: string) => everyResource(templates, type);

describe('events', () => {
  it('A15 the bus is the account`s own, which is always there, and somebody checks that events arrive', () => {
    const publishers = every('AWS::Lambda::Function').filter(({ Properties }) =>
      JSON.stringify(Properties.Environment).includes('EVENT_BUS_NAME'),
    );
    expect(publishers).toHaveLength(4);
    for (const { Properties, stack } of publishers) {
      expect(Properties.Environment).toMatchObject({ Variables: { EVENT_BUS_NAME: 'default' } });
      const publishing = statementsOf(templates[stack] as Template, String(Properties.Role)).filter(
        ({ Action }) => Action === 'events:PutEvents',
      );
      expect(publishing.map(({ Resource }) => Resource)).toEqual([
        'arn:aws:events:us-east-1:AWS::AccountId:event-bus/default',
      ]);
    }
    const alarms = every('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties.AlarmName);
    expect(alarms).toContain('LeadsWithoutTimeline-us-east-1');
  });

  it.each(['prod', 'test'])(
    'A17 %s forwards from where the event is born, by a role, with dead letters there',
    (stage) => {
      const infix = stage === 'prod' ? '' : 'test-';
      const bus = 'arn:aws:events:us-west-2:AWS::AccountId:event-bus/default';
      const deadLetters = `forwarding-dlq-${infix}us-east-1`;
      const name = `LeadTrackingForwarding-${infix}us-east-1`;
      const forwarding = every('AWS::Events::Rule').filter(
        ({ stack, Properties }) =>
          stack.startsWith(`${stage}-`) && JSON.stringify(Properties.Targets).includes('event-bus'),
      );
      expect(forwarding).toEqual([
        expect.objectContaining({
          region: 'us-east-1',
          Properties: expect.objectContaining({
            Name: name,
            EventPattern: {
              source: ['lead-tracking'],
              'detail-type': ['LeadCreated'],
              detail: { stage: [stage] },
            },
            Targets: [
              {
                Id: 'Target0',
                Arn: bus,
                RoleArn: expect.any(String),
                DeadLetterConfig: { Arn: deadLetters },
              },
            ],
          }),
        }),
      ]);

      const template = templates[`${stage}-LeadTracking`] as Template;
      const targets = forwarding[0]?.Properties.Targets as { RoleArn: string }[] | undefined;
      expect(statementsOf(template, targets?.[0]?.RoleArn ?? '')).toEqual([
        { Action: 'events:PutEvents', Effect: 'Allow', Resource: bus },
      ]);
      const policy = every('AWS::SQS::QueuePolicy').find(({ Properties }) =>
        (Properties.Queues as string[]).includes(deadLetters),
      );
      expect(policy?.Properties).toMatchObject({
        PolicyDocument: {
          Statement: expect.arrayContaining([
            expect.objectContaining({
              Action: 'sqs:SendMessage',
              Principal: { Service: 'events.amazonaws.com' },
              Resource: deadLetters,
              Condition: { ArnEquals: { 'aws:SourceArn': name } },
            }),
          ]),
        },
      });
    },
  );
});

describe('deploying', () => {
  const nameProperty: Record<string, string> = {
    'AWS::SQS::Queue': 'QueueName',
    'AWS::Lambda::Function': 'FunctionName',
    'AWS::DynamoDB::Table': 'TableName',
    'AWS::Events::Rule': 'Name',
    'AWS::SNS::Topic': 'TopicName',
    'AWS::CloudWatch::Alarm': 'AlarmName',
    'AWS::ApiGatewayV2::Api': 'Name',
  };

  it('A19 only what others call by name has a fixed name, and no two stages share one', () => {
    const fixed = Object.entries(nameProperty).flatMap(([type, property]) =>
      every(type).map(({ Properties, region }) => `${region} ${type} ${Properties[property]}`),
    );
    expect(fixed.filter((name) => name.endsWith('undefined'))).toEqual([]);
    expect(new Set(fixed).size).toBe(fixed.length);
    for (const type of ['AWS::IAM::Role', 'AWS::Logs::LogGroup', 'AWS::S3::Bucket']) {
      for (const { Properties } of every(type)) {
        const { RoleName, LogGroupName, BucketName } = Properties;
        expect([RoleName, LogGroupName, BucketName]).toEqual([undefined, undefined, undefined]);
      }
    }
  });

  it('A20 log groups are resources of their own under generated names: none can be there already', () => {
    expect(every('Custom::LogRetention')).toEqual([]);
    const writers = [...every('AWS::Lambda::Function'), ...every('AWS::ApiGatewayV2::Stage')];
    expect(every('AWS::Logs::LogGroup').length).toBe(writers.length);
  });

  it('A21 stacks refer to each other by names and regions that are constants, never by export', () => {
    for (const template of Object.values(templates)) {
      expect(template.Outputs).toBeUndefined();
      expect(JSON.stringify(template)).not.toMatch(/Fn::ImportValue|Custom::CrossRegion/);
    }
  });

  it('A23 no template has a circle of references, and no queue names its sources', () => {
    for (const [stack, { Resources }] of Object.entries(templates)) {
      const edges = new Map(
        Object.entries(Resources).map(([id, resource]) => [
          id,
          Object.keys(Resources).filter(
            (other) => other !== id && JSON.stringify(resource).includes(`"${other}"`),
          ),
        ]),
      );
      const settled = new Set<string>();
      for (let before = -1; before < settled.size; ) {
        before = settled.size;
        for (const [id, targets] of edges)
          if (targets.every((target) => settled.has(target))) settled.add(id);
      }
      expect(
        [...edges.keys()].filter((id) => !settled.has(id)),
        stack,
      ).toEqual([]);
    }
    expect(every('AWS::SQS::Queue').filter(({ Properties }) => Properties.RedriveAllowPolicy)).toEqual([]);
  });
});
