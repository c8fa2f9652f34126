import { describe, expect, it } from 'vitest';
import { resolve, TemplateError } from '../../local/assembly/intrinsics.ts';
import type { Json, StackTemplate } from '../../local/assembly/template.ts';

/** As Fn::Sub writes it. */
const placeholder = (name: string) => `\${${name}}`;

const stack: StackTemplate = {
  name: 'LeadTracking',
  region: 'us-east-1',
  assets: new Map(),
  resources: {
    Queue: {
      Type: 'AWS::SQS::Queue',
      Properties: { QueueName: { 'Fn::Sub': `work-${placeholder('AWS::Region')}` } },
    },
    Unnamed: { Type: 'AWS::SQS::Queue' },
    Table: { Type: 'AWS::DynamoDB::GlobalTable', Properties: { TableName: 'State' } },
    Rule: { Type: 'AWS::Events::Rule', Properties: { Name: 'Lead' } },
    Bus: { Type: 'AWS::Events::EventBus', Properties: { Name: 'own' } },
    RuleOnBus: { Type: 'AWS::Events::Rule', Properties: { Name: 'Other', EventBusName: { Ref: 'Bus' } } },
    Alarm: { Type: 'AWS::CloudWatch::Alarm' },
  },
};

const at = (value: Json) =>
  resolve(
    value,
    stack,
    { origin: 'http://127.0.0.1:4566', webOrigin: () => 'http://127.0.0.1:8080' },
    'LeadTracking/Fn',
  );

describe('intrinsic functions', () => {
  it.each<[string, Json, Json]>([
    [
      'Ref of a queue: its URL at the local endpoint',
      { Ref: 'Queue' },
      'http://127.0.0.1:4566/000000000000/work-us-east-1',
    ],
    [
      'Ref of a queue without a name',
      { Ref: 'Unnamed' },
      'http://127.0.0.1:4566/000000000000/LeadTracking-Unnamed',
    ],
    [
      'GetAtt of a queue',
      { 'Fn::GetAtt': ['Queue', 'Arn'] },
      'arn:aws:sqs:us-east-1:000000000000:work-us-east-1',
    ],
    ['GetAtt as one string', { 'Fn::GetAtt': 'Queue.QueueName' }, 'work-us-east-1'],
    ['Ref of a table', { Ref: 'Table' }, 'State'],
    [
      'GetAtt of a table',
      { 'Fn::GetAtt': ['Table', 'Arn'] },
      'arn:aws:dynamodb:us-east-1:000000000000:table/State',
    ],
    [
      'GetAtt of a rule',
      { 'Fn::GetAtt': ['Rule', 'Arn'] },
      'arn:aws:events:us-east-1:000000000000:rule/Lead',
    ],
    [
      'GetAtt of a rule on another bus',
      { 'Fn::GetAtt': ['RuleOnBus', 'Arn'] },
      'arn:aws:events:us-east-1:000000000000:rule/own/Other',
    ],
    ['Join', { 'Fn::Join': ['-', ['a', { Ref: 'AWS::Region' }, 1]] }, 'a-us-east-1-1'],
    [
      'Sub with pseudo parameters, resources, attributes and variables',
      {
        'Fn::Sub': [
          ['AWS::Partition', 'Table', 'Queue.Arn', 'own', '!literal'].map(placeholder).join(' '),
          { own: { Ref: 'AWS::AccountId' } },
        ],
      },
      `aws State arn:aws:sqs:us-east-1:000000000000:work-us-east-1 000000000000 ${placeholder('literal')}`,
    ],
    ['Split', { 'Fn::Split': [':', 'a:b'] }, ['a', 'b']],
    [
      'Select of a Split',
      { 'Fn::Select': [5, { 'Fn::Split': [':', { 'Fn::GetAtt': ['Queue', 'Arn'] }] }] },
      'work-us-east-1',
    ],
    [
      'NoValue leaves property and element out',
      { a: { Ref: 'AWS::NoValue' }, b: [1, { Ref: 'AWS::NoValue' }] },
      { b: [1] },
    ],
    [
      'Condition in a policy is a plain key',
      { Condition: { Bool: { a: 'true' } } },
      { Condition: { Bool: { a: 'true' } } },
    ],
  ])('%s', (_, value, expected) => {
    expect(at(value)).toEqual(expected);
  });

  it.each<[string, Json, string]>([
    [
      'an unknown intrinsic',
      { deep: [{ 'Fn::ImportValue': 'x' }] },
      'LeadTracking/Fn.deep[0]: unknown intrinsic Fn::ImportValue',
    ],
    ['Fn::If', { 'Fn::If': ['c', 1, 2] }, 'unknown intrinsic Fn::If'],
    ['an unknown resource', { Ref: 'Nobody' }, 'LeadTracking/Fn.Ref: the template has no resource Nobody'],
    ['an unknown resource type', { Ref: 'Alarm' }, 'unknown resource type AWS::CloudWatch::Alarm (Alarm)'],
    ['an unknown attribute', { 'Fn::GetAtt': ['Queue', 'Color'] }, 'unknown attribute Queue.Color'],
    ['an unknown pseudo parameter', { Ref: 'AWS::Weather' }, 'no resource AWS::Weather'],
    ['an intrinsic beside other keys', { Ref: 'Queue', other: 1 }, 'Ref beside other keys'],
    ['Select out of range', { 'Fn::Select': [2, ['a', 'b']] }, 'there is no element 2'],
    ['Join of an object', { 'Fn::Join': ['', [{ a: 1 }]] }, 'a string is expected'],
  ])('%s throws with its path', (_, value, message) => {
    expect(() => at(value)).toThrow(TemplateError);
    expect(() => at(value)).toThrow(message);
  });
});
