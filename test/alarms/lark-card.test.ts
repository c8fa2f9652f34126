import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAlarm } from '../../src/alarms/cloudwatch-alarm.ts';
import { alarmCard, plainCard } from '../../src/alarms/lark-card.ts';
import {
  aCompositeAlarm,
  aMathAlarm,
  aMetricAlarm,
  logsPage,
  parsed,
  queuePage,
  seen,
  topics,
} from './notifications.ts';

const settings = { stage: 'prod', timeZone: 'America/New_York' };
const cardOf = (notification: Record<string, unknown>, topic = topics.page) =>
  alarmCard(parsed(notification), topic, settings);
/** ICU versions differ in the comma. */
const bothTimes = expect.stringMatching(/^2026-11-03 14:16 UTC\nTue,? 09:16 EST$/);
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

describe('the card of an alarm', () => {
  it('says what it means, since when, how many, how urgent, and where to look', () => {
    const notification = aMetricAlarm();
    expect(seen(cardOf(notification))).toEqual({
      colour: 'red',
      title: 'ALARM: LeadProcessorDlqNotEmpty-us-west-2',
      texts: [
        'Leads are stored, but their contact, task and timeline could not be written.',
        notification.NewStateReason,
      ],
      rows: {
        State: 'OK → ALARM',
        Since: bothTimes,
        'How many': '3 (ApproximateNumberOfMessagesVisible, MAXIMUM)',
        Limit: '≥ 1, 1 of 1 × 1 min',
        Severity: 'page: act now',
        Stage: 'callytics prod, us-west-2',
      },
      pages: {
        Runbook: 'https://git.example/callytics/docs/runbook.md#leadprocessordlqnotempty',
        Messages: queuePage,
        // Half an hour before the change to five minutes after it.
        'Log lines': `${logsPage}/log-events$3Fstart$3D${Date.parse('2026-11-03T13:46:00.472Z')}$26end$3D${Date.parse('2026-11-03T14:21:00.472Z')}`,
        Alarm:
          'https://us-west-2.console.aws.amazon.com/cloudwatch/home?region=us-west-2#alarmsV2:alarm/LeadProcessorDlqNotEmpty-us-west-2',
      },
    });
  });

  it('is orange when it can wait', () => {
    const { colour, rows } = seen(cardOf(aMetricAlarm(), topics.look));
    expect([colour, rows.Severity]).toEqual(['orange', 'look: in working hours']);
  });

  it.each(['page', 'look'] as const)('is green when the alarm is over (%s)', (severity) => {
    const over = aMetricAlarm({ NewStateValue: 'OK', OldStateValue: 'ALARM' });
    const { colour, title, rows } = seen(cardOf(over, topics[severity]));
    expect([colour, title, rows.State]).toEqual([
      'green',
      'RECOVERED: LeadProcessorDlqNotEmpty-us-west-2',
      'ALARM → OK',
    ]);
  });

  it('calls it no recovery when there was no alarm before', () => {
    const first = aMetricAlarm({ NewStateValue: 'OK', OldStateValue: 'INSUFFICIENT_DATA' });
    expect(seen(cardOf(first)).title).toBe('OK: LeadProcessorDlqNotEmpty-us-west-2');
  });

  it('shows missing data as such', () => {
    const silent = aMetricAlarm({
      NewStateValue: 'INSUFFICIENT_DATA',
      NewStateReason: 'Insufficient Data: 1 datapoint was unknown.',
    });
    const { colour, title, rows } = seen(cardOf(silent));
    expect([colour, title]).toEqual(['grey', 'INSUFFICIENT_DATA: LeadProcessorDlqNotEmpty-us-west-2']);
    expect(rows['How many']).toBe('no value (ApproximateNumberOfMessagesVisible, MAXIMUM)');
  });

  it('leads to the region of the alarm, not to ours, and to the queue without a described link', () => {
    const { pages, rows } = seen(
      cardOf(
        aMetricAlarm({
          AlarmName: 'NeonWriteQueueOld-us-east-1',
          AlarmDescription: null,
          AlarmArn: 'arn:aws:cloudwatch:us-east-1:123456789012:alarm:NeonWriteQueueOld-us-east-1',
        }),
        topics.look,
      ),
    );
    expect(rows.Stage).toBe('callytics prod, us-east-1');
    expect(pages).toEqual({
      Queue:
        'https://us-east-1.console.aws.amazon.com/sqs/v3/home?region=us-east-1#/queues/https%3A%2F%2Fsqs.us-east-1.amazonaws.com%2F123456789012%2Flead-processor-dlq-us-west-2',
      Alarm:
        'https://us-east-1.console.aws.amazon.com/cloudwatch/home?region=us-east-1#alarmsV2:alarm/NeonWriteQueueOld-us-east-1',
    });
  });

  it('tells an age as a time', () => {
    const old = aMetricAlarm({
      NewStateReason: 'Threshold Crossed: 2 datapoints [9000.0 (03/11/26 14:15:00), 7300.0 (…)] were …',
      Trigger: {
        MetricName: 'ApproximateAgeOfOldestMessage',
        Statistic: 'MAXIMUM',
        Period: 900,
        EvaluationPeriods: 3,
        DatapointsToAlarm: 2,
        Threshold: 7200,
        ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      },
    });
    const { rows, pages } = seen(cardOf(old));
    expect(rows['How many']).toBe('2.5 h (ApproximateAgeOfOldestMessage, MAXIMUM)');
    expect(rows.Limit).toBe('≥ 2 h, 2 of 3 × 15 min');
    // Three periods and one more are longer than the half hour.
    expect(pages['Log lines']).toContain(`start$3D${Date.parse('2026-11-03T13:16:00.472Z')}$26`);
  });

  it('names the expression of metric maths', () => {
    const { rows } = seen(cardOf(aMathAlarm()));
    expect(rows).toMatchObject({ 'How many': '3 (error rate)', Limit: '> 0.25, 2 of 3 × 5 min' });
  });

  it('names the alarms behind a composite one', () => {
    const { colour, rows, texts, pages } = seen(cardOf(aCompositeAlarm()));
    expect(colour).toBe('red');
    expect(rows).toEqual({
      State: 'OK → ALARM',
      Since: bothTimes,
      'Caused by': 'PollerNotRunning-us-east-1',
      Rule: 'ALARM("PollerNotRunning-us-east-1") OR ALARM("PollerErrors-us-east-1")',
      Severity: 'page: act now',
      Stage: 'callytics prod, us-east-1',
    });
    expect(texts).toEqual([aCompositeAlarm().NewStateReason]);
    expect(Object.keys(pages)).toEqual(['Alarm']);
  });
});

describe('the card of anything else', () => {
  it('shows it as it came', () => {
    const message = '{"requestContext":{"condition":"RetriesExhausted"}}';
    expect(seen(plainCard({ topicArn: topics.look, subject: undefined, message }, settings))).toEqual({
      colour: 'orange',
      title: 'Notification: callytics-alarms-look-test-us-east-1',
      texts: [message],
      rows: { Severity: 'look: in working hours', Stage: 'callytics prod, us-east-1' },
      pages: {},
    });
  });

  it('has the subject as its title, and is red where somebody must act', () => {
    const { colour, title } = seen(
      plainCard({ topicArn: topics.page, subject: 'Hello', message: 'x' }, settings),
    );
    expect([colour, title]).toEqual(['red', 'Hello']);
  });
});

describe('whatever an alarm holds', () => {
  const hostile = '<at id=all></at> **[click](https://evil.example)** ';

  it('only our own labels are markdown: nothing can mention people or hide a link', () => {
    const notification = aMetricAlarm({
      AlarmName: hostile,
      AlarmDescription: hostile,
      NewStateReason: hostile,
      OldStateValue: hostile,
      AlarmRule: hostile,
      TriggeringChildren: [{ Arn: `arn:aws:cloudwatch:us-west-2:1:alarm:${hostile}` }],
    });
    const markdown: string[] = [];
    JSON.stringify(cardOf(notification), (_key, value) => {
      if (value?.tag === 'lark_md') markdown.push(value.content);
      return value;
    });
    expect(markdown.length).toBeGreaterThan(0);
    expect(markdown.filter((content) => !/^\*\*[A-Z][a-z ]+\*\*$/.test(content))).toEqual([]);
    expect(seen(cardOf(notification)).title).toBe(`ALARM: ${hostile}`);
  });

  it('the card stays under Lark`s 20 KB, clipped with a mark', () => {
    const long = '😀'.repeat(30_000);
    const links = Array.from({ length: 20 }, (_, i) => `Link ${i}: https://x.example/${i}${'a'.repeat(570)}`);
    const trigger = { MetricName: long, Dimensions: [{ name: 'QueueName', value: 'q' }], Threshold: 1 };
    const alarm = aMetricAlarm({
      AlarmName: long,
      AlarmDescription: [long, ...links].join('\n'),
      NewStateReason: long,
      OldStateValue: long,
      AlarmRule: long,
      Trigger: trigger,
      TriggeringChildren: [{ Arn: `arn:aws:cloudwatch:us-west-2:1:alarm:${long}` }],
    });
    expect(bytes(cardOf(alarm))).toBeLessThan(20_000);
    expect(seen(cardOf(alarm)).title).toMatch(/^ALARM: (😀)+…$/u);
    const plain = plainCard({ topicArn: long, subject: long, message: long }, settings);
    expect(bytes(plain)).toBeLessThan(20_000);
  });

  it('there is a card, no larger than Lark takes', () => {
    const text = fc.string({ unit: 'binary', maxLength: 2_000 });
    const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
    const trigger = fc.record({
      MetricName: maybe(text),
      Statistic: maybe(text),
      Dimensions: maybe(fc.array(fc.record({ name: fc.constant('QueueName'), value: text }))),
      Period: maybe(fc.double({ noNaN: true })),
      EvaluationPeriods: maybe(fc.integer()),
      Threshold: maybe(fc.double({ noNaN: true })),
      ComparisonOperator: maybe(text),
    });
    const notification = fc.record({
      AlarmName: fc.string({ unit: 'binary', minLength: 1 }),
      AlarmDescription: maybe(text),
      AWSAccountId: text,
      NewStateValue: fc.constantFrom('ALARM', 'OK', 'INSUFFICIENT_DATA'),
      OldStateValue: text,
      NewStateReason: text,
      StateChangeTime: fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      AlarmArn: text.map((rest) => `arn:${rest}`),
      Trigger: maybe(trigger),
      AlarmRule: maybe(text),
      TriggeringChildren: maybe(fc.array(fc.record({ Arn: text }))),
    });
    fc.assert(
      fc.property(notification, text, (message, topicArn) => {
        const alarm = parseAlarm(JSON.stringify(message));
        expect(alarm).toBeDefined();
        if (alarm) expect(bytes(alarmCard(alarm, topicArn, settings))).toBeLessThan(20_000);
      }),
      { numRuns: 100 },
    );
  });
});
