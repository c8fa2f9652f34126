import { describe, expect, it } from 'vitest';
import {
  asList,
  placeholderApp,
  type Resource,
  readable,
  type Statement,
  statementsOf,
  type Template,
  templatesOf,
} from '../support/synthesized.ts';
import { functionsIn } from './template-functions.ts';

const templates = templatesOf(placeholderApp());
const functions = functionsIn(templates);

type Conditional = Statement & { Condition?: Record<string, Record<string, string | string[]>> };

/** `action resource`, one line a permission; behind it `operator key: values` of a condition. */
function permissionsOf(template: Template, role: string): string[] {
  return statementsOf(template, role)
    .flatMap(({ Action, Resource, Condition = {} }: Conditional) => {
      const conditions = Object.entries(Condition).flatMap(([operator, tests]) =>
        Object.entries(tests).map(([key, values]) => ` ${operator} ${key}: ${asList(values).join(' ')}`),
      );
      return asList(Action).flatMap((action) =>
        asList(Resource).map((resource) => `${action} ${resource}${conditions.join('')}`),
      );
    })
    .toSorted();
}

const account = 'AWS::AccountId';
const bucket = 'CallsRecordings815FF4C9';
const leadingKeys = 'ForAllValues:StringLike dynamodb:LeadingKeys:';
const processorItems = `${leadingKeys} gate#* token#* parked#*`;
const sweepItems = `${processorItems} sweep#* lease#*`;
const transcription = [
  `transcribe:GetTranscriptionJob arn:aws:transcribe:us-west-2:${account}:transcription-job/prod-*`,
  `transcribe:StartTranscriptionJob * StringEquals transcribe:OutputBucketName: ${bucket}`,
];
const callParameters = [
  `ssm:GetParameter arn:aws:ssm:us-west-2:${account}:parameter/callytics/ringcentral/*`,
  `ssm:GetParameter arn:aws:ssm:us-west-2:${account}:parameter/lead-tracking/neon-database-url`,
];

describe('permissions', () => {
  it.each([
    {
      FunctionName: 'ImapPollerFunction-us-east-1',
      expected: [
        'dynamodb:DeleteItem LeadTrackingState-us-east-1',
        'dynamodb:GetItem LeadTrackingState-us-east-1',
        'dynamodb:PutItem LeadTracking-v2-us-east-1',
        'dynamodb:Query LeadTracking-v2-us-east-1/index/phone-receivedAt-index',
        `dynamodb:Scan arn:aws:dynamodb:us-west-2:${account}:table/StoresV2`,
        'dynamodb:UpdateItem LeadTrackingState-us-east-1',
        `events:PutEvents arn:aws:events:us-east-1:${account}:event-bus/default`,
        'sqs:SendMessage neon-write-dlq-us-east-1',
        `ssm:GetParameter arn:aws:ssm:us-east-1:${account}:parameter/lead-tracking/imap`,
        `ssm:GetParameter arn:aws:ssm:us-east-1:${account}:parameter/lead-tracking/neon-database-url`,
        `ssm:GetParameter arn:aws:ssm:us-east-1:${account}:parameter/lead-tracking/neon-database-url-test`,
      ],
    },
    {
      FunctionName: 'NeonRetryProcessor-us-east-1',
      expected: [
        'dynamodb:DeleteItem LeadTrackingState-us-east-1',
        'dynamodb:GetItem LeadTrackingState-us-east-1',
        'dynamodb:UpdateItem LeadTrackingState-us-east-1',
        `events:PutEvents arn:aws:events:us-east-1:${account}:event-bus/default`,
        'sqs:ChangeMessageVisibility neon-write-dlq-us-east-1',
        'sqs:DeleteMessage neon-write-dlq-us-east-1',
        'sqs:GetQueueAttributes neon-write-dlq-us-east-1',
        'sqs:ReceiveMessage neon-write-dlq-us-east-1',
        `ssm:GetParameter arn:aws:ssm:us-east-1:${account}:parameter/lead-tracking/neon-database-url`,
      ],
    },
    {
      FunctionName: 'LeadProcessorFunction-test-us-west-2',
      expected: [
        `dynamodb:Scan arn:aws:dynamodb:us-west-2:${account}:table/StoresV2`,
        'sqs:ChangeMessageVisibility lead-processor-queue-test-us-west-2',
        'sqs:DeleteMessage lead-processor-queue-test-us-west-2',
        'sqs:GetQueueAttributes lead-processor-queue-test-us-west-2',
        'sqs:ReceiveMessage lead-processor-queue-test-us-west-2',
        `ssm:GetParameter arn:aws:ssm:us-west-2:${account}:parameter/lead-tracking/neon-database-url-test`,
      ],
    },
    {
      FunctionName: 'AlarmDispatcherFunction-us-west-2',
      expected: [
        'sns:Publish callytics-alarm-path-us-west-2',
        `ssm:GetParameter arn:aws:ssm:us-west-2:${account}:parameter/callytics/lark-webhook`,
      ],
    },
    {
      FunctionName: 'WebhookReceiverFunction-us-west-2',
      expected: [
        'sqs:SendMessage transcribe-queue-us-west-2',
        `ssm:GetParameter arn:aws:ssm:us-west-2:${account}:parameter/callytics/ringcentral/*`,
      ],
    },
    {
      FunctionName: 'TranscribeProcessorFunction-us-west-2',
      expected: [
        `dynamodb:GetItem CallyticsState-us-west-2 ${processorItems}`,
        `dynamodb:Scan arn:aws:dynamodb:us-west-2:${account}:table/StoresV2`,
        `dynamodb:UpdateItem CallyticsState-us-west-2 ${processorItems}`,
        `s3:AbortMultipartUpload ${bucket}/recordings/*`,
        `s3:AbortMultipartUpload ${bucket}/voicemails/*`,
        `s3:GetObject ${bucket}/recordings/*`,
        `s3:GetObject ${bucket}/transcripts/*`,
        `s3:GetObject ${bucket}/voicemails/*`,
        `s3:ListBucket ${bucket}`,
        `s3:PutObject ${bucket}/recordings/*`,
        `s3:PutObject ${bucket}/transcripts/*`,
        `s3:PutObject ${bucket}/voicemails/*`,
        'sqs:ChangeMessageVisibility transcribe-queue-us-west-2',
        'sqs:DeleteMessage transcribe-queue-us-west-2',
        'sqs:GetQueueAttributes transcribe-queue-us-west-2',
        'sqs:ReceiveMessage transcribe-queue-us-west-2',
        'sqs:SendMessage transcribe-queue-us-west-2',
        ...callParameters,
        ...transcription,
      ],
    },
    {
      FunctionName: 'CallSweepFunction-us-west-2',
      expected: [
        `dynamodb:GetItem CallyticsState-us-west-2 ${sweepItems}`,
        `dynamodb:Scan arn:aws:dynamodb:us-west-2:${account}:table/StoresV2`,
        `dynamodb:UpdateItem CallyticsState-us-west-2 ${sweepItems}`,
        `s3:GetObject ${bucket}/recordings/*`,
        `s3:GetObject ${bucket}/transcripts/*`,
        `s3:GetObject ${bucket}/voicemails/*`,
        `s3:ListBucket ${bucket}`,
        `s3:PutObject ${bucket}/transcripts/*`,
        'sqs:SendMessage transcribe-queue-us-west-2',
        ...callParameters,
        ...transcription,
      ],
    },
  ])('$FunctionName may do this and no more', ({ FunctionName, expected }) => {
    const own = functions.find((lambda) => lambda.FunctionName === FunctionName);
    const permissions = own ? permissionsOf(own.template, own.Role) : [];
    const logs = permissions.filter((permission) => permission.startsWith('logs:'));
    expect(logs).toEqual([
      `logs:CreateLogStream ${own?.LoggingConfig.LogGroup}`,
      `logs:PutLogEvents ${own?.LoggingConfig.LogGroup}`,
    ]);
    const others = [...new Set(permissions)].filter((permission) => !logs.includes(permission));
    expect(others).toEqual(expected);
  });

  it('lets only the two functions that call RingCentral touch the shared token', () => {
    const reading = functions.filter(({ template, Role }) =>
      permissionsOf(template, Role).some((permission) => /^dynamodb:\w+ CallyticsState/.test(permission)),
    );
    expect([...new Set(reading.map(({ name }) => name))].toSorted()).toEqual([
      'call-sweep',
      'transcribe-processor',
    ]);
  });

  it('gives every function a role of its own, which only Lambda takes', () => {
    const roles = functions.map(({ stack, Role }) => `${stack} ${Role}`);
    expect(new Set(roles).size).toBe(functions.length);
    for (const { template, Role } of functions) {
      expect(template.Resources[Role]?.Properties).toMatchObject({
        AssumeRolePolicyDocument: { Statement: [{ Principal: { Service: 'lambda.amazonaws.com' } }] },
      });
    }
  });

  const everything = Object.entries(templates).flatMap(([stack, template]) =>
    Object.entries(template.Resources).map(([id, resource]) => ({ stack, template, id, resource })),
  );

  it('attaches no managed policy, which would be wider than the bindings', () => {
    const managed = (resource: Resource) => resource.Properties?.ManagedPolicyArns !== undefined;
    expect(everything.filter(({ resource }) => managed(resource)).map(({ id }) => id)).toEqual([]);
  });

  /** Where AWS has no resource-level form (service authorization reference): the output bucket limits it instead. */
  const wildcardResources = ['test', 'prod'].flatMap((stage) =>
    ['CallsTranscribeWorkerRole', 'CallsCallSweepRole'].map(
      (role) => `${stage}-Callytics ${role} transcribe:StartTranscriptionJob`,
    ),
  );

  it('allows Resource "*" nowhere but on this list', () => {
    const found = everything
      .filter(({ resource }) => resource.Type === 'AWS::IAM::Policy')
      .flatMap(({ stack, template, id, resource }) => {
        const document = readable(template, resource.Properties.PolicyDocument) as { Statement: Statement[] };
        return document.Statement.filter(({ Resource }) =>
          asList(Resource).some((one) => one === '*'),
        ).flatMap(({ Action }) =>
          asList(Action).map((action) => `${stack} ${id.replace(/DefaultPolicy\w+$/, '')} ${action}`),
        );
      });
    expect(found.toSorted()).toEqual(wildcardResources.toSorted());
  });

  it('allows no action by wildcard', () => {
    const actions = everything
      .filter(({ resource }) => resource.Type === 'AWS::IAM::Policy')
      .flatMap(({ resource }) => (resource.Properties.PolicyDocument as { Statement: Statement[] }).Statement)
      .flatMap(({ Action }) => asList(Action));
    expect(actions.length).toBeGreaterThan(0);
    expect(actions.filter((action) => action.includes('*'))).toEqual([]);
  });
});
