import type { SQSRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { alarmTexts } from '../../lib/alarms.ts';
import { readWork } from '../../src/calls/message.ts';
import { redrive } from '../../src/calls/redrive.ts';
import { FakeClock, recordingLog, recordingMeter } from '../support/fakes.ts';
import { asList, everyResource, placeholderApp, statementsOf, templatesOf } from '../support/synthesized.ts';

const templates = templatesOf(placeholderApp());

const every = (type: string) => everyResource(templates, type);

interface Queue {
  QueueName: string;
  RedrivePolicy?: { deadLetterTargetArn: string; maxReceiveCount: number };
}
interface Alarm {
  AlarmName: string;
  AlarmDescription: string;
  /** Of an alarm on several metrics. */
  Metrics?: { MetricStat?: { Metric: { Namespace: string; MetricName: string } } }[];
  Namespace: string;
  MetricName: string;
  Statistic: string;
  EvaluationPeriods: number;
  DatapointsToAlarm: number;
  Dimensions?: { Name: string; Value: string }[];
}

const functions = every('AWS::Lambda::Function');
const mappings = every('AWS::Lambda::EventSourceMapping').map(({ Properties }) => Properties);
const queues = every('AWS::SQS::Queue').map(({ Properties }) => Properties as unknown as Queue);
const workQueues = queues.filter(({ RedrivePolicy }) => RedrivePolicy);
const deadLetterQueues = queues.filter(({ RedrivePolicy }) => !RedrivePolicy);
const alarms = every('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties as unknown as Alarm);
const alarmsOn = ({ QueueName }: Queue) =>
  alarms.filter(({ Dimensions = [] }) => Dimensions.some(({ Value }) => Value === QueueName));

/** The resources on which a function may do an action. */
function allowed(functionName: string, action: string): string[] {
  const lambda = functions.find(({ Properties }) => Properties.FunctionName === functionName);
  const template = templates[lambda?.stack ?? ''];
  if (!lambda || !template) throw new Error(`no function ${functionName}`);
  return statementsOf(template, String(lambda.Properties.Role))
    .filter(({ Action }) => asList(Action).includes(action))
    .flatMap(({ Resource }) => asList(Resource));
}

describe('loops', () => {
  it('A1 only the transcribe processor can send to a queue that leads back to it', () => {
    const consumersOf = (queue: string) =>
      mappings
        .filter(({ EventSourceArn }) => EventSourceArn === queue)
        .map(({ FunctionName }) => String(FunctionName));
    const reachable = (name: string, seen = new Set<string>()): Set<string> => {
      for (const next of allowed(name, 'sqs:SendMessage').flatMap(consumersOf)) {
        if (!seen.has(next)) reachable(next, seen.add(next));
      }
      return seen;
    };
    const names = functions.map(({ Properties }) => String(Properties.FunctionName));
    expect([...reachable('ImapPollerFunction-us-east-1')]).toEqual(['NeonRetryProcessor-us-east-1']);
    expect(names.filter((name) => reachable(name).has(name)).toSorted()).toEqual([
      'TranscribeProcessorFunction-test-us-west-2',
      'TranscribeProcessorFunction-us-west-2',
    ]);
  });

  it('A1 its clones end after six invocations in a row, far below the sixteen that Lambda allows', async () => {
    const clock = new FakeClock();
    const sent: string[] = [];
    const queue = { send: async (body: unknown) => void sent.push(JSON.stringify(body)) };
    const dependencies = { queue, clock, log: recordingLog(), meter: recordingMeter(), random: () => 0 };
    const refused = { kind: 'redrive', step: 'call_log', retryAfterSeconds: 60, group: 'heavy' } as const;
    const call = { accountId: '900100', telephonySessionId: 's-1', redriveCount: 0 };
    const attributes = { SentTimestamp: String(clock.now().getTime()) };
    let invocations = 1;
    let work: ReturnType<typeof readWork> = { kind: 'session', ...call };
    while (work.kind === 'session' && (await redrive(dependencies, work, refused)) && invocations < 17) {
      work = readWork({ body: sent.at(-1), attributes } as SQSRecord);
      invocations += 1;
    }
    expect(invocations).toBe(6);
    expect(sent).toHaveLength(5);
  });

  it('A2 a message is tried far less often than Lambda lets a chain be long, and a cut chain is alarmed', () => {
    expect(workQueues.map(({ RedrivePolicy }) => RedrivePolicy?.maxReceiveCount)).toEqual(
      workQueues.map(() => 3),
    );
    const watched = alarms
      .filter(({ MetricName }) => MetricName === 'RecursiveInvocationsDropped')
      .map(({ Dimensions }) => Dimensions?.[0]?.Value);
    expect(watched.toSorted()).toEqual(functions.map(({ Properties }) => Properties.FunctionName).toSorted());
  });

  it('A3 every function says explicitly what happens in a loop', () => {
    expect(functions.map(({ Properties }) => Properties.RecursiveLoop)).toEqual(
      functions.map(() => 'Terminate'),
    );
  });

  it('A4 no function replays a dead-letter queue: redrive is SQS`s own', () => {
    const dead = deadLetterQueues.map(({ QueueName }) => QueueName);
    expect(dead).toHaveLength(8);
    for (const { Properties } of functions) {
      expect(
        allowed(String(Properties.FunctionName), 'sqs:ReceiveMessage').filter((queue) =>
          dead.includes(queue),
        ),
      ).toEqual([]);
    }
  });

  it('A5 no layer or wrapper takes the lineage out of the trace header', () => {
    for (const { Properties } of functions) {
      expect(Properties.Layers).toBeUndefined();
      const { Variables } = Properties.Environment as { Variables: object };
      expect(Object.keys(Variables)).not.toContain('AWS_LAMBDA_EXEC_WRAPPER');
      expect(Object.keys(Variables)).not.toContain('NODE_OPTIONS');
    }
  });

  it('A26 whatever fails ends after a fixed number of receives in a queue that nothing empties by itself', () => {
    const dead = new Set(deadLetterQueues.map(({ QueueName }) => QueueName));
    for (const { RedrivePolicy } of workQueues) expect(dead).toContain(RedrivePolicy?.deadLetterTargetArn);
    expect(
      mappings.map(({ EventSourceArn }) => String(EventSourceArn)).filter((queue) => dead.has(queue)),
    ).toEqual([]);
  });
});

describe('concurrency and receives', () => {
  it('A9 concurrency is limited at the event source, by 2 or more, and never reserved', () => {
    for (const mapping of mappings) {
      const { MaximumConcurrency } = mapping.ScalingConfig as { MaximumConcurrency: number };
      expect(MaximumConcurrency).toBeGreaterThanOrEqual(2);
    }
    for (const { Properties } of functions) expect(Properties.ReservedConcurrentExecutions).toBeUndefined();
  });

  it('A10 no queue gives up after one receive (three, as decided), and its dead letters are seen', () => {
    expect(workQueues).toHaveLength(6);
    for (const { RedrivePolicy } of workQueues) expect(RedrivePolicy?.maxReceiveCount).toBe(3);
    for (const queue of deadLetterQueues) {
      expect(alarmsOn(queue).map(({ MetricName }) => MetricName)).toContain(
        'ApproximateNumberOfMessagesVisible',
      );
    }
  });

  it('A11 throttling can`t use up the receives of neon-write-dlq: two at a time, nothing reserved', () => {
    const retry = mappings.find(({ FunctionName }) => FunctionName === 'NeonRetryProcessor-us-east-1');
    expect(retry?.ScalingConfig).toEqual({ MaximumConcurrency: 2 });
    expect(alarms.map(({ AlarmName }) => AlarmName)).toContain(
      'FunctionThrottled-neon-retry-processor-us-east-1',
    );
  });
});

describe('alarms', () => {
  it('A12 no alarm waits for NumberOfMessagesSent or -Received, which don`t count what SQS moves', () => {
    const onQueues = alarms.filter(({ Namespace }) => Namespace === 'AWS/SQS');
    expect(onQueues.filter(({ MetricName }) => /^NumberOf/.test(MetricName))).toEqual([]);
    for (const queue of deadLetterQueues) {
      const visible = alarmsOn(queue).filter(
        ({ MetricName }) => MetricName === 'ApproximateNumberOfMessagesVisible',
      );
      expect(visible.map(({ Statistic }) => Statistic)).toEqual(['Maximum']);
    }
  });

  it('A13 no alarm counts messages in flight or adds metrics of queues up', () => {
    const added = alarms.flatMap(({ Metrics = [] }) => Metrics.flatMap(({ MetricStat }) => MetricStat ?? []));
    const names = [...alarms, ...added.map(({ Metric }) => Metric)].map(({ MetricName }) => MetricName);
    expect(names.filter((name) => /NotVisible/.test(name ?? ''))).toEqual([]);
    expect(added.filter(({ Metric }) => Metric.Namespace === 'AWS/SQS')).toEqual([]);
  });

  it('A27 each dead-letter queue calls somebody at its first message; age alarms need two periods', () => {
    for (const queue of deadLetterQueues) {
      const pages = alarmsOn(queue).map(
        ({ AlarmName }) => AlarmName.split('-')[0] as keyof typeof alarmTexts,
      );
      expect(pages.map((name) => alarmTexts[name].severity).toSorted()).toEqual(['look', 'page']);
    }
    const age = alarms.filter(({ MetricName }) => MetricName === 'ApproximateAgeOfOldestMessage');
    expect(age.length).toBe(deadLetterQueues.length + workQueues.length);
    for (const { EvaluationPeriods, DatapointsToAlarm } of age) {
      expect(Math.min(EvaluationPeriods, DatapointsToAlarm)).toBeGreaterThanOrEqual(2);
    }
  });

  it('A28 a dead-letter alarm leads to the article and the console page of its own queue', () => {
    for (const queue of deadLetterQueues) {
      const [page] = alarmsOn(queue).filter(
        ({ MetricName }) => MetricName === 'ApproximateNumberOfMessagesVisible',
      );
      const article = page?.AlarmName.split('-')[0]?.toLowerCase();
      expect(page?.AlarmDescription).toContain(`docs/runbook.md#${article}`);
      expect(page?.AlarmDescription).toMatch(
        new RegExp(`#/queues/https%3A%2F%2Fsqs\\..*%2F${queue.QueueName}(\\n|$)`),
      );
    }
  });
});
