import { describe, expect, it } from 'vitest';
import { everyResource, placeholderApp, templatesOf } from '../support/synthesized.ts';

const templates = templatesOf(placeholderApp());

describe.each([
  { stage: 'prod', infix: '', recordings: 365, keeps: true },
  { stage: 'test', infix: 'test-', recordings: 30, keeps: false },
])('calls of $stage', ({ stage, infix, recordings, keeps }) => {
  const west = `${infix}us-west-2`;
  const resources = (type: string) =>
    everyResource(templates, type).filter(({ stack }) => stack === `${stage}-Callytics`);
  const properties = (type: string) => resources(type).map(({ Properties }) => Properties);
  const kept = {
    DeletionPolicy: keeps ? 'Retain' : 'Delete',
    UpdateReplacePolicy: keeps ? 'Retain' : 'Delete',
  };

  it('routes ended transcription jobs of its own stage to transcribe-queue, undeliverable ones beside it', () => {
    const Name = `TranscriptionRule-${west}`;
    const rule = properties('AWS::Events::Rule').find((one) => one.Name === Name);
    expect(rule).toMatchObject({
      EventPattern: {
        source: ['aws.transcribe'],
        'detail-type': ['Transcribe Job State Change'],
        detail: {
          TranscriptionJobName: [{ prefix: `${stage}-` }],
          TranscriptionJobStatus: ['COMPLETED', 'FAILED'],
        },
      },
      State: 'ENABLED',
      Targets: [{ Arn: `transcribe-queue-${west}`, DeadLetterConfig: { Arn: `transcribe-dlq-${west}` } }],
    });
    const policies = properties('AWS::SQS::QueuePolicy').filter((policy) =>
      JSON.stringify(policy).includes(`"aws:SourceArn":"${Name}"`),
    );
    expect(policies.flatMap(({ Queues }) => Queues as string[]).toSorted()).toEqual(
      [`transcribe-dlq-${west}`, `transcribe-queue-${west}`].toSorted(),
    );
  });

  it('keeps sound and transcripts to itself, encrypted, and for the stage`s days', () => {
    expect(resources('AWS::S3::Bucket')).toMatchObject([
      {
        Properties: {
          BucketEncryption: {
            ServerSideEncryptionConfiguration: [
              { ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } },
            ],
          },
          PublicAccessBlockConfiguration: {
            BlockPublicAcls: true,
            BlockPublicPolicy: true,
            IgnorePublicAcls: true,
            RestrictPublicBuckets: true,
          },
          OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
          LifecycleConfiguration: {
            Rules: [
              { Id: 'Expire', Status: 'Enabled', ExpirationInDays: recordings },
              {
                Id: 'AbandonedUploads',
                Status: 'Enabled',
                AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
              },
            ],
          },
        },
        ...kept,
      },
    ]);
    const insecure = { Bool: { 'aws:SecureTransport': 'false' } };
    expect(properties('AWS::S3::BucketPolicy')).toMatchObject([
      {
        PolicyDocument: {
          Statement: [{ Effect: 'Deny', Action: 's3:*', Principal: { AWS: '*' }, Condition: insecure }],
        },
      },
    ]);
  });

  it('has one way in from outside: RingCentral`s POST to the webhook receiver', () => {
    expect(properties('AWS::ApiGatewayV2::Api')).toMatchObject([
      { Name: `callytics-webhooks-${west}`, ProtocolType: 'HTTP' },
    ]);
    expect(properties('AWS::ApiGatewayV2::Route')).toMatchObject([
      { RouteKey: 'POST /ringcentral/{accountId}', AuthorizationType: 'NONE' },
    ]);
    expect(properties('AWS::ApiGatewayV2::Integration')).toMatchObject([
      {
        IntegrationType: 'AWS_PROXY',
        IntegrationUri: `WebhookReceiverFunction-${west}`,
        PayloadFormatVersion: '2.0',
      },
    ]);
    const fromOutside = properties('AWS::Lambda::Permission').filter(
      ({ Principal }) => Principal === 'apigateway.amazonaws.com',
    );
    expect(fromOutside).toMatchObject([{ FunctionName: `WebhookReceiverFunction-${west}` }]);
    expect(fromOutside[0]?.SourceArn).toMatch(/\/\*\/\*\/ringcentral\/\{accountId\}$/);
  });

  it('throttles it, and logs requests without telling who sent what', () => {
    const stages = properties('AWS::ApiGatewayV2::Stage');
    expect(stages).toMatchObject([
      {
        StageName: '$default',
        AutoDeploy: true,
        DefaultRouteSettings: { ThrottlingRateLimit: 200, ThrottlingBurstLimit: 500 },
        AccessLogSettings: { DestinationArn: expect.stringMatching(/^CallsWebhooksAccessLogs/) },
      },
    ]);
    const [settings] = stages.map(({ AccessLogSettings }) => AccessLogSettings as { Format: string });
    const logged = Object.values<string>(JSON.parse(settings?.Format ?? ''));
    expect(logged.filter((text) => /identity|path|header|query|authorizer|domain/i.test(text))).toEqual([]);
  });

  it('tells the sweep the address that RingCentral posts to', () => {
    const sweep = properties('AWS::Lambda::Function').find(
      ({ FunctionName }) => FunctionName === `CallSweepFunction-${west}`,
    );
    const [api] = resources('AWS::ApiGatewayV2::Api');
    expect(sweep?.Environment).toMatchObject({
      Variables: {
        WEBHOOK_URL: `https://${api?.Properties.Name}.execute-api.us-west-2.AWS::URLSuffix/ringcentral`,
      },
    });
  });

  it('keeps its state by `pk` until `ttl`', () => {
    expect(resources('AWS::DynamoDB::Table')).toMatchObject([
      {
        Properties: {
          TableName: `CallyticsState-${west}`,
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
          KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
          TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: keeps },
        },
        ...kept,
      },
    ]);
  });
});
