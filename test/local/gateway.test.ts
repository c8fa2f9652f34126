import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createJournal, type Journal } from '../../local/journal.ts';
import { type LocalStage, startStage } from '../../local/stage.ts';
import { propertiesOf, resource, role, stacksOf, templates } from './templates.ts';

const arn = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });
const allow = (Action: string | string[], Resource: unknown, more: object = {}) => ({
  Effect: 'Allow',
  Action,
  Resource,
  ...more,
});

let stage: LocalStage;
let journal: Journal;

beforeAll(async () => {
  const { leads, calls } = templates();
  leads.CallerRole = role(
    'lambda.amazonaws.com',
    allow(['sqs:SendMessage', 'sqs:GetQueueUrl'], arn('ForwardDlq')),
    allow('ssm:GetParameter', 'arn:aws:ssm:us-east-1:000000000000:parameter/own/*'),
    allow('events:PutEvents', 'arn:aws:events:us-east-1:000000000000:event-bus/*'),
    allow(['dynamodb:PutItem', 'dynamodb:GetItem'], arn('State'), {
      Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['token#*'] } },
    }),
  );
  leads.State = resource('AWS::DynamoDB::Table', { ...propertiesOf(calls, 'Table'), TableName: 'WorkState' });
  leads.Caller = resource('AWS::Lambda::Function', {
    ...propertiesOf(leads, 'Sender'),
    Handler: 'caller.handler',
    Role: arn('CallerRole'),
  });
  journal = createJournal();
  const parameters = new Map([['us-east-1', new Map([['/own/secret', 'value']])]]);
  const outside = { parameters: () => parameters, tables: () => [], environment: {} };
  stage = await startStage(stacksOf({ leads, calls }), outside, journal);
});
afterAll(() => stage.close());

/** One SDK call of the function `Caller`, whose answer or error comes back. */
async function call(service: string, command: string, input: object, region?: string) {
  const result = await stage.functions.get('Leads-Caller')?.invoke({ service, command, input, region });
  return (result?.ok ? result.payload : result) as Record<string, unknown>;
}

const queueUrl = () => `${stage.origin}/000000000000/forward-dlq`;

describe('the AWS endpoint, seen by the unmodified SDK', { timeout: 60_000 }, () => {
  it('a queue URL stays with the gateway, there and back', async () => {
    expect(await call('sqs', 'GetQueueUrlCommand', { QueueName: 'forward-dlq' })).toEqual({
      QueueUrl: queueUrl(),
    });
    const sent = await call('sqs', 'SendMessageCommand', { QueueUrl: queueUrl(), MessageBody: 'hello' });
    expect(sent.MessageId).toMatch(/^[0-9a-f-]{36}$/);
    expect(await stage.queues.depth('arn:aws:sqs:us-east-1:000000000000:forward-dlq')).toMatchObject({
      visible: 1,
    });
  });

  it.each<[string, string, () => [string, object, string?]]>([
    [
      'another queue',
      'sqs:SendMessage',
      () => [
        'SendMessageCommand',
        { QueueUrl: `${stage.origin}/000000000000/work`, MessageBody: 'x' },
        'us-west-2',
      ],
    ],
    [
      'the queue in another region',
      'sqs:SendMessage',
      () => ['SendMessageCommand', { QueueUrl: queueUrl(), MessageBody: 'x' }, 'us-west-2'],
    ],
  ])('%s: AccessDenied', async (_, action, input) => {
    const [command, request, region] = input();
    const error = await call('sqs', command, request, region);
    expect(error).toMatchObject({ name: expect.stringMatching(/^AccessDenied/), attempts: 1 });
    expect(error.message).toContain(
      `is not authorized to perform: ${action} on resource: arn:aws:sqs:us-west-2`,
    );
  });

  it('a parameter that is granted, one that is missing, one that is not granted', async () => {
    expect(
      await call('ssm', 'GetParameterCommand', { Name: '/own/secret', WithDecryption: true }),
    ).toMatchObject({
      Parameter: { Value: 'value', Type: 'SecureString' },
    });
    const sealed = await call('ssm', 'GetParameterCommand', { Name: '/own/secret' });
    expect(JSON.stringify(sealed)).not.toContain('"value"');
    expect(await call('ssm', 'GetParameterCommand', { Name: '/own/other' })).toMatchObject({
      name: 'ParameterNotFound',
    });
    expect(await call('ssm', 'GetParameterCommand', { Name: '/other' })).toMatchObject({
      name: 'AccessDeniedException',
      message: expect.stringContaining(
        'ssm:GetParameter on resource: arn:aws:ssm:us-east-1:000000000000:parameter/other',
      ),
    });
  });

  it('items by leading keys, and a table of the same name in each region', async () => {
    const item = (pk: string) => ({ TableName: 'WorkState', Item: { pk: { S: pk } } });
    expect(await call('dynamodb', 'PutItemCommand', item('token#1'))).toEqual({});
    expect(await call('dynamodb', 'PutItemCommand', item('mail#1'))).toMatchObject({
      name: 'AccessDeniedException',
    });
    const key = { TableName: 'WorkState', Key: { pk: { S: 'token#1' } } };
    expect(await call('dynamodb', 'GetItemCommand', key)).toEqual({ Item: { pk: { S: 'token#1' } } });
    expect(await call('dynamodb', 'GetItemCommand', key, 'us-west-2')).toMatchObject({
      name: 'AccessDeniedException',
    });
  });

  it('PutEvents judges each entry', async () => {
    const good = { Source: 'lead-tracking', DetailType: 'LeadCreated', Detail: '{"stage":"none"}' };
    const answer = await call('events', 'PutEventsCommand', {
      Entries: [
        good,
        { ...good, Detail: 'no JSON' },
        { ...good, Source: undefined },
        { ...good, EventBusName: 'nowhere' },
      ],
    });
    expect(answer).toEqual({
      FailedEntryCount: 3,
      Entries: [
        { EventId: expect.any(String) },
        { ErrorCode: 'MalformedDetail', ErrorMessage: expect.any(String) },
        { ErrorCode: 'InvalidArgument', ErrorMessage: expect.any(String) },
        { ErrorCode: 'InvalidArgument', ErrorMessage: expect.any(String) },
      ],
    });
    expect(await call('events', 'PutEventsCommand', { Entries: Array(11).fill(good) })).toMatchObject({
      name: 'ValidationException',
    });
  });

  it('an operation that is not known is an error that names it', async () => {
    expect(await call('events', 'ListRulesCommand', {})).toMatchObject({
      name: 'UnknownOperationException',
      message: "the local EventBridge doesn't know the operation ListRules",
      attempts: 1,
    });
    await call('sqs', 'PurgeQueueCommand', { QueueUrl: queueUrl() });
    expect(journal.errors).toContainEqual({
      kind: 'unknown_operation',
      where: 'Leads-Caller',
      message: "the local SQS doesn't know the operation PurgeQueue",
    });
  });

  it('SQS refuses a delay of more than 15 minutes', async () => {
    const tooLong = { QueueUrl: queueUrl(), MessageBody: 'x', DelaySeconds: 901 };
    expect(await call('sqs', 'SendMessageCommand', tooLong)).toMatchObject({ name: 'InvalidParameterValue' });
  });

  it('an unknown access key is nobody', async () => {
    const authorization = 'AWS4-HMAC-SHA256 Credential=AKIASTRANGER/20261103/us-east-1/sqs/aws4_request';
    const answer = await fetch(stage.origin, { method: 'POST', headers: { authorization }, body: '{}' });
    expect([answer.status, await answer.json()]).toEqual([
      403,
      expect.objectContaining({ __type: 'UnrecognizedClientException' }),
    ]);
    expect((await fetch(stage.origin)).status).toBe(403);
  });
});
