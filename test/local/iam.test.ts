import { describe, expect, it } from 'vitest';
import { type AccessRequest, decide, parsePolicy } from '../../local/assembly/iam.ts';
import type { Json } from '../../local/assembly/template.ts';

const queue = 'arn:aws:sqs:us-east-1:000000000000:work';
const rule = 'arn:aws:events:us-east-1:000000000000:rule/Lead';

function request(change: Partial<AccessRequest> = {}): AccessRequest {
  return {
    action: 'sqs:SendMessage',
    resource: queue,
    principal: 'AWS:arn:aws:iam::000000000000:role/poller',
    context: { 'aws:SecureTransport': ['true'] },
    ...change,
  };
}

function policy(...statements: Json[]) {
  return parsePolicy({ Version: '2012-10-17', Statement: statements }, 'Stack/Policy');
}

const allow = (Action: Json, Resource: Json, more: object = {}) =>
  ({ Effect: 'Allow', Action, Resource, ...more }) as Json;
const deny = (Action: Json, Resource: Json, more: object = {}) =>
  ({ Effect: 'Deny', Action, Resource, ...more }) as Json;

describe('identity policies', () => {
  it.each<[string, Json, string]>([
    ['action and resource named', allow('sqs:SendMessage', queue), 'allowed'],
    [
      'one of several',
      allow(['sqs:DeleteMessage', 'sqs:SendMessage'], ['arn:aws:sqs:::x', queue]),
      'allowed',
    ],
    ['wildcards', allow('sqs:Send*', 'arn:aws:sqs:*:*:w?rk'), 'allowed'],
    ['actions in another case', allow('SQS:sendmessage', queue), 'allowed'],
    ['another action', allow('sqs:ReceiveMessage', queue), 'not granted'],
    ['another resource', allow('sqs:*', `${queue}-dlq`), 'not granted'],
    ['a resource that only begins alike', allow('sqs:*', queue.slice(0, -1)), 'not granted'],
    ['a dot is no wildcard', allow('sqs:*', queue.replace('work', 'w.rk')), 'not granted'],
  ])('%s', (_, statement, decision) => {
    expect(decide(request(), { identity: policy(statement) })).toBe(decision);
  });

  it('nothing grants nothing', () => {
    expect(decide(request(), { identity: [] })).toBe('not granted');
  });

  it('Deny wins over Allow, wherever it stands', () => {
    const statements = policy(allow('sqs:*', '*'), deny('sqs:SendMessage', queue));
    expect(decide(request(), { identity: statements })).toBe('explicitly denied');
    expect(decide(request({ action: 'sqs:DeleteMessage' }), { identity: statements })).toBe('allowed');
    const resource = policy(deny('sqs:*', queue, { Principal: '*' }));
    expect(decide(request(), { identity: policy(allow('sqs:*', '*')), resource })).toBe('explicitly denied');
  });
});

describe('resource policies', () => {
  const forRule = policy(
    deny('sqs:*', queue, {
      Principal: { AWS: '*' },
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    }),
    allow('sqs:SendMessage', queue, {
      Principal: { Service: 'events.amazonaws.com' },
      Condition: { ArnEquals: { 'aws:SourceArn': rule } },
    }),
  );
  const fromRule = (sourceArn: string, secure = 'true') =>
    request({
      principal: 'Service:events.amazonaws.com',
      context: { 'aws:SecureTransport': [secure], 'aws:SourceArn': [sourceArn] },
    });

  it('lets the named rule send, and no other', () => {
    expect(decide(fromRule(rule), { resource: forRule })).toBe('allowed');
    expect(decide(fromRule(`${rule}2`), { resource: forRule })).toBe('not granted');
    expect(decide(request(), { resource: forRule })).toBe('not granted');
  });

  it('enforceSSL denies what is not encrypted', () => {
    expect(decide(fromRule(rule, 'false'), { resource: forRule })).toBe('explicitly denied');
  });

  it('a policy for one role allows that role without an identity policy', () => {
    const statements = policy(
      allow('sqs:SendMessage', queue, { Principal: { AWS: 'arn:aws:iam::000000000000:role/poller' } }),
    );
    expect(decide(request(), { resource: statements })).toBe('allowed');
    expect(
      decide(request({ principal: 'AWS:arn:aws:iam::000000000000:role/other' }), { resource: statements }),
    ).toBe('not granted');
  });
});

describe('conditions', () => {
  const decideWith = (Condition: Json, context: AccessRequest['context']) =>
    decide(request({ context }), { identity: policy(allow('sqs:*', '*', { Condition })) }) === 'allowed';
  const keys = 'dynamodb:LeadingKeys';

  it.each<[string, Json, AccessRequest['context'], boolean]>([
    [
      'StringEquals, one of the values',
      { StringEquals: { 'events:source': ['a', 'b'] } },
      { 'events:source': ['b'] },
      true,
    ],
    [
      'StringEquals, another value',
      { StringEquals: { 'events:source': 'a' } },
      { 'events:source': ['A'] },
      false,
    ],
    ['StringEquals, key absent', { StringEquals: { 'events:source': 'a' } }, {}, false],
    ['StringEqualsIfExists, key absent', { StringEqualsIfExists: { 'events:source': 'a' } }, {}, true],
    ['StringNotEquals, key absent', { StringNotEquals: { 'events:source': 'a' } }, {}, true],
    [
      'StringNotEquals, excluded value',
      { StringNotEquals: { 'events:source': ['a', 'b'] } },
      { 'events:source': ['b'] },
      false,
    ],
    [
      'StringLike',
      { StringLike: { 'events:source': 'lead-*' } },
      { 'events:source': ['lead-tracking'] },
      true,
    ],
    [
      'ForAllValues, all match',
      { 'ForAllValues:StringLike': { [keys]: ['token#*'] } },
      { [keys]: ['token#1', 'token#2'] },
      true,
    ],
    [
      'ForAllValues, one does not',
      { 'ForAllValues:StringLike': { [keys]: ['token#*'] } },
      { [keys]: ['token#1', 'mail#1'] },
      false,
    ],
    ['ForAllValues, key absent', { 'ForAllValues:StringLike': { [keys]: ['token#*'] } }, {}, true],
    [
      'ForAnyValue, one matches',
      { 'ForAnyValue:StringEquals': { [keys]: ['a'] } },
      { [keys]: ['b', 'a'] },
      true,
    ],
    ['ForAnyValue, key absent', { 'ForAnyValue:StringEquals': { [keys]: ['a'] } }, {}, false],
    [
      'ArnLike does not cross a colon',
      { ArnLike: { 'aws:SourceArn': 'arn:aws:events:*:rule/Lead' } },
      { 'aws:SourceArn': [rule] },
      false,
    ],
    [
      'ArnLike by part',
      { ArnLike: { 'aws:SourceArn': 'arn:aws:events:*:*:rule/*' } },
      { 'aws:SourceArn': [rule] },
      true,
    ],
    [
      'two conditions are both needed',
      { Bool: { 'aws:SecureTransport': 'true' }, StringEquals: { 'events:source': 'a' } },
      { 'aws:SecureTransport': ['true'] },
      false,
    ],
  ])('%s', (_, condition, context, expected) => {
    expect(decideWith(condition, context)).toBe(expected);
  });

  it.each<[string, Json, string]>([
    [
      'an unknown operator',
      allow('sqs:*', '*', { Condition: { NumericLessThan: { 'events:source': '1' } } }),
      'unknown condition operator NumericLessThan',
    ],
    [
      'an unknown key',
      allow('sqs:*', '*', { Condition: { StringEquals: { 'aws:ViaAWSService': 'x' } } }),
      'unknown condition key aws:ViaAWSService',
    ],
    ['NotAction', { Effect: 'Allow', NotAction: 'sqs:*', Resource: '*' }, 'unknown key NotAction'],
    ['NotResource', { Effect: 'Allow', Action: 'sqs:*', NotResource: '*' }, 'unknown key NotResource'],
    ['a policy variable', allow('sqs:*', 'arn:aws:sqs:::$'.concat('{aws:username}')), 'a policy variable'],
    ['a wrong effect', { Effect: 'Perhaps', Action: 'sqs:*', Resource: '*' }, 'unknown effect Perhaps'],
  ])('%s throws with its path', (_, statement, message) => {
    expect(() => policy(statement)).toThrow(`Stack/Policy.Statement[0]: ${message}`);
  });
});
