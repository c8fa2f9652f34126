import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deployedIn } from './deployed.ts';
import { createDeployment, type Deployment, ignoredByMoto, passedOver } from './deployment.ts';
import { expectedFunctions } from './expected-functions.ts';
import { type Moto, startMoto } from './moto.ts';
import { arn, day, finished, inBothStages, stacks, stages } from './stages.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'callytics-deploy-'));
let moto: Moto | undefined;
let skipped = '';
let deployment: Deployment | undefined;
/** Of the first deployment: what moto and what the command line wrote. */
let log = '';
let output = '';

beforeAll(async () => {
  const started = await startMoto();
  if ('missing' in started) {
    skipped = started.missing;
    console.warn(`SKIPPED: deployment against moto, ${skipped}. To have it: pip install 'moto[server]'`);
    return;
  }
  moto = started;
  deployment = createDeployment(moto, directory);
  await deployment.bootstrap();
  const before = moto.log().length;
  output = await deployment.deploy();
  log = moto.log().slice(before);
});
beforeEach(({ skip }) => skip(!moto, skipped));
afterAll(async () => {
  await moto?.stop();
  rmSync(directory, { recursive: true, force: true });
});

function deployed(region: string) {
  if (!moto) throw new Error(skipped);
  return deployedIn(moto, region);
}

describe('cdk deploy against moto', () => {
  it('makes every stack of both stages in one account', () => {
    expect(finished(output)).toEqual(stacks);
  });

  // With something to change it ends in an error of moto's, which can't update these stacks.
  it('has nothing to change when it is done again', async () => {
    expect(finished((await deployment?.deploy()) ?? '')).toEqual(
      stacks.map((stack) => `${stack} (no changes)`),
    );
  });

  it('passes over no other resource types than those known', () => {
    expect(passedOver(log)).toEqual(Object.keys(ignoredByMoto).toSorted());
  });

  it.each([
    {
      region: 'us-east-1',
      queues: ['forwarding-dlq', 'neon-write-dlq', 'neon-write-final-dlq'],
      functions: ['ImapPollerFunction', 'NeonRetryProcessor'],
      rules: ['ImapPollerSchedule', 'LeadTrackingForwarding'],
      tables: ['LeadTracking-v2', 'LeadTrackingState'],
      dashboards: [],
    },
    {
      region: 'us-west-2',
      queues: ['lead-processor-dlq', 'lead-processor-queue', 'transcribe-dlq', 'transcribe-queue'],
      functions: [
        'AlarmDispatcherFunction',
        'CallSweepFunction',
        'LeadProcessorFunction',
        'TranscribeProcessorFunction',
        'WebhookReceiverFunction',
      ],
      rules: ['CallSweepSchedule', 'LeadCreatedRule', 'TranscriptionRule'],
      tables: ['CallyticsState'],
      dashboards: ['callytics'],
    },
  ])('$region: both stages side by side, and nothing else', async ({ region, ...names }) => {
    const there = deployed(region);
    const functions = (await there.functions()).map(({ FunctionName }) => FunctionName);
    const topics = ['callytics-alarm-path', 'callytics-alarms-look', 'callytics-alarms-page'];
    expect(Object.keys(await there.queues()).toSorted()).toEqual(inBothStages(region, names.queues));
    expect(functions.toSorted()).toEqual(inBothStages(region, names.functions));
    expect(Object.keys(await there.rules()).toSorted()).toEqual(inBothStages(region, names.rules));
    expect(Object.keys(await there.tables()).toSorted()).toEqual(inBothStages(region, names.tables));
    expect(Object.keys(await there.dashboards()).toSorted()).toEqual(inBothStages(region, names.dashboards));
    expect((await there.topics()).toSorted()).toEqual(inBothStages(region, topics));
  });
});

describe.each(stages)('$stage, as moto has it', ({ stage, infix, retention, leadsOf }) => {
  const east = `${infix}us-east-1`;
  const west = `${infix}us-west-2`;

  it.each([
    ['us-east-1', 'neon-write-dlq', 120, 7 * day, 'neon-write-final-dlq', 0],
    ['us-west-2', 'lead-processor-queue', 300, 4 * day, 'lead-processor-dlq', 0],
    ['us-west-2', 'transcribe-queue', 720, 14 * day, 'transcribe-dlq', 300],
  ])('%s work queue %s', async (region, name, visibility, kept, deadLetters, delay) => {
    const { [`${name}-${infix}${region}`]: queue = {} } = await deployed(region).queues();
    expect(queue).toMatchObject({
      VisibilityTimeout: String(visibility),
      MessageRetentionPeriod: String(kept),
      DelaySeconds: String(delay),
    });
    expect(JSON.parse(queue.RedrivePolicy ?? 'null')).toEqual({
      deadLetterTargetArn: arn('sqs', region, `${deadLetters}-${infix}${region}`),
      maxReceiveCount: 3,
    });
  });

  it.each([
    ['us-east-1', 'neon-write-final-dlq'],
    ['us-east-1', 'forwarding-dlq'],
    ['us-west-2', 'lead-processor-dlq'],
    ['us-west-2', 'transcribe-dlq'],
  ])('%s dead-letter queue %s', async (region, name) => {
    const { [`${name}-${infix}${region}`]: queue = {} } = await deployed(region).queues();
    expect(queue.MessageRetentionPeriod).toBe(String(14 * day));
    expect(queue.RedrivePolicy).toBeUndefined();
  });

  it.each(expectedFunctions(stage, infix))(
    '$region function $name: time-out, and its environment without a hole',
    async (expected) => {
      const functions = await deployed(expected.region).functions();
      const found = functions.find(({ FunctionName }) => FunctionName === expected.name);
      expect(found).toMatchObject({
        Runtime: 'nodejs24.x',
        Handler: 'index.handler',
        Timeout: expected.timeout,
      });
      expect(found?.Environment.Variables).toEqual({
        STAGE: stage,
        LOG_LEVEL: 'INFO',
        POWERTOOLS_SERVICE_NAME: expected.service,
        POWERTOOLS_METRICS_NAMESPACE: 'Callytics',
        ...expected.environment,
      });
      // The bundle with its SDK has been uploaded and found again.
      expect(found?.CodeSize).toBeGreaterThan(50_000);
    },
  );

  it.each([
    ['us-east-1', 'NeonRetryProcessor', 'neon-write-dlq', 5, 2],
    ['us-west-2', 'LeadProcessorFunction', 'lead-processor-queue', 1, 10],
    ['us-west-2', 'TranscribeProcessorFunction', 'transcribe-queue', 1, 5],
  ])('%s: %s works off %s', async (region, name, queue, batchSize, concurrency) => {
    const EventSourceArn = arn('sqs', region, `${queue}-${infix}${region}`);
    const mappings = await deployed(region).eventSourceMappings();
    expect(mappings.filter((mapping) => mapping.EventSourceArn === EventSourceArn)).toEqual([
      {
        EventSourceArn,
        FunctionArn: arn('lambda', region, `function:${name}-${infix}${region}`),
        BatchSize: batchSize,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency: concurrency },
        State: 'Enabled',
      },
    ]);
  });

  it.each([
    ['us-east-1', 'ImapPollerSchedule', 'ImapPollerFunction', 'rate(5 minutes)'],
    ['us-west-2', 'CallSweepSchedule', 'CallSweepFunction', 'rate(1 minute)'],
  ])('%s: %s starts its function', async (region, name, lambda, schedule) => {
    const { [`${name}-${infix}${region}`]: rule } = await deployed(region).rules();
    expect(rule).toMatchObject({ schedule, state: 'ENABLED' });
    expect(rule?.targets).toMatchObject([
      {
        Arn: arn('lambda', region, `function:${lambda}-${infix}${region}`),
        RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
      },
    ]);
    expect(rule?.targets).toHaveLength(1);
  });

  it('takes ended transcription jobs of its own into its queue', async () => {
    const { [`TranscriptionRule-${west}`]: rule } = await deployed('us-west-2').rules();
    expect(rule?.pattern).toMatchObject({ detail: { TranscriptionJobName: [{ prefix: `${stage}-` }] } });
    expect(rule?.targets).toMatchObject([
      {
        Arn: arn('sqs', 'us-west-2', `transcribe-queue-${west}`),
        DeadLetterConfig: { Arn: arn('sqs', 'us-west-2', `transcribe-dlq-${west}`) },
      },
    ]);
  });

  it('sends LeadCreated over: its own from us-east-1, and what its rule lets in to the queue', async () => {
    const leadCreated = { source: ['lead-tracking'], 'detail-type': ['LeadCreated'] };
    const { [`LeadTrackingForwarding-${east}`]: forwarding } = await deployed('us-east-1').rules();
    expect(forwarding?.pattern).toEqual({ ...leadCreated, detail: { stage: [stage] } });
    expect(forwarding?.targets).toMatchObject([
      {
        Arn: arn('events', 'us-west-2', 'event-bus/default'),
        RoleArn: expect.stringContaining(`:role/${stage}-LeadTracking-`),
        DeadLetterConfig: { Arn: arn('sqs', 'us-east-1', `forwarding-dlq-${east}`) },
      },
    ]);
    const { [`LeadCreatedRule-${west}`]: arrival } = await deployed('us-west-2').rules();
    expect(arrival?.pattern).toEqual({ ...leadCreated, detail: { stage: leadsOf } });
    expect(arrival?.targets).toMatchObject([
      {
        Arn: arn('sqs', 'us-west-2', `lead-processor-queue-${west}`),
        DeadLetterConfig: { Arn: arn('sqs', 'us-west-2', `lead-processor-dlq-${west}`) },
      },
    ]);
  });

  it('has its tables: state by key, legacy leads with their index, both on demand', async () => {
    const tables = await deployed('us-east-1').tables();
    const onDemand = { BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' }, TableStatus: 'ACTIVE' };
    expect(tables[`LeadTrackingState-${east}`]).toMatchObject({
      ...onDemand,
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    });
    expect(tables[`LeadTracking-v2-${east}`]).toMatchObject({
      ...onDemand,
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
    });
  });

  it.each([
    ['us-east-1', 'LeadTracking', 2],
    // One for each of five functions, one for the HTTP API.
    ['us-west-2', 'Callytics', 6],
  ])('%s: log groups that keep for the stage`s days', async (region, stack, count) => {
    const groups = await deployed(region).logGroups();
    const own = groups.filter(({ logGroupName }) => logGroupName.startsWith(`${stage}-${stack}-`));
    expect(own.map(({ retentionInDays }) => retentionInDays)).toEqual(Array(count).fill(retention));
  });

  it('has its dashboard, with nothing left to resolve', async () => {
    const { [`callytics-${west}`]: body = '' } = await deployed('us-west-2').dashboards();
    expect(body).toContain(arn('cloudwatch', 'us-east-1', `alarm:PollerNotRunning-${east}`));
    expect(body).not.toMatch(/Fn::|"Ref"|\$\{/);
  });
});

/** Last, since it takes the schedules away. */
describe('events in moto', () => {
  beforeAll(async () => {
    if (!moto) return;
    await deployed('us-east-1').removeSchedules();
    await deployed('us-west-2').removeSchedules();
  });

  it.each(stages)('LeadCreated of $stage reaches each stage that wants it, once', async ({ stage }) => {
    const Detail = JSON.stringify({ stage, mailKey: 'made for this test' });
    await deployed('us-east-1').publish({ Source: 'lead-tracking', DetailType: 'LeadCreated', Detail });
    const received = await deployed('us-west-2').receiveAll();
    const takers = stages.filter(({ leadsOf }) => leadsOf.includes(stage));
    expect(received.map(([queue]) => queue).toSorted()).toEqual(
      takers.map(({ infix }) => `lead-processor-queue-${infix}us-west-2`).toSorted(),
    );
    for (const [, body] of received) expect(JSON.parse(body)).toMatchObject({ detail: JSON.parse(Detail) });
    expect(await deployed('us-east-1').receiveAll()).toEqual([]);
  });

  it('each stage gets its own ended transcription jobs, once', async () => {
    const { publish, queues } = deployed('us-west-2');
    for (const { stage } of stages) {
      const Detail = JSON.stringify({
        TranscriptionJobName: `${stage}-rec-5512`,
        TranscriptionJobStatus: 'COMPLETED',
      });
      await publish({ Source: 'aws.transcribe', DetailType: 'Transcribe Job State Change', Detail });
    }
    const all = await queues();
    // They wait for the queue's delay.
    const waiting = (name: string) =>
      Number(all[name]?.ApproximateNumberOfMessages) + Number(all[name]?.ApproximateNumberOfMessagesDelayed);
    for (const { infix } of stages) {
      expect(waiting(`transcribe-queue-${infix}us-west-2`)).toBe(1);
      expect(waiting(`transcribe-dlq-${infix}us-west-2`)).toBe(0);
    }
  });
});
