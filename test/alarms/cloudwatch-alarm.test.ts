import { describe, expect, it } from 'vitest';
import { dimensionOf, newestValue, parseAlarm, periodOf } from '../../src/alarms/cloudwatch-alarm.ts';
import { aCompositeAlarm, aMathAlarm, aMetricAlarm, parsed } from './notifications.ts';

const reason = (NewStateReason: string) => parsed(aMetricAlarm({ NewStateReason }));

describe('an alarm notification', () => {
  it('is read with its time, which CloudWatch writes without a colon in the zone', () => {
    expect(parsed(aMetricAlarm())).toMatchObject({
      AlarmName: 'LeadProcessorDlqNotEmpty-us-west-2',
      NewStateValue: 'ALARM',
      StateChangeTime: new Date('2026-11-03T14:16:00.472Z'),
    });
  });

  it('has a dimension and a period, on a maths expression too', () => {
    expect(dimensionOf(parsed(aMetricAlarm()), 'QueueName')).toBe('lead-processor-dlq-us-west-2');
    expect(dimensionOf(parsed(aMathAlarm()), 'FunctionName')).toBe('CallSweepFunction-us-west-2');
    expect(dimensionOf(parsed(aCompositeAlarm()), 'QueueName')).toBeUndefined();
    expect([aMetricAlarm(), aMathAlarm(), aCompositeAlarm()].map((alarm) => periodOf(parsed(alarm)))).toEqual(
      [60, 300, undefined],
    );
  });

  it.each([
    ['3.0 (03/11/26 14:15:00)', 3],
    ['130.5 (03/11/26 14:15:00), 121.0 (03/11/26 14:14:00)', 130.5],
    ['1.0E-4 (03/11/26 14:15:00)', 0.0001],
    ['-2.0 (03/11/26 14:15:00)', -2],
  ])('tells the newest of [%s]', (datapoints, value) => {
    expect(
      newestValue(reason(`Threshold Crossed: datapoints [${datapoints}] were over the threshold (1.0).`)),
    ).toBe(value);
  });

  it.each([
    'Threshold Crossed: no datapoints were received for 3 periods and 3 missing datapoints were treated as [Breaching].',
    'Insufficient Data: 1 datapoint was unknown.',
    'testing the alarm path',
  ])('tells no value of: %s', (text) => {
    expect(newestValue(reason(text))).toBeUndefined();
  });
});

describe('what is no alarm notification', () => {
  it.each([
    ['text', 'You have chosen to subscribe to the topic.'],
    ['JSON of another kind', '{"requestContext":{"condition":"RetriesExhausted"}}'],
    ['null', 'null'],
    ['a state that CloudWatch does not have', JSON.stringify(aMetricAlarm({ NewStateValue: 'BROKEN' }))],
    ['a time that is none', JSON.stringify(aMetricAlarm({ StateChangeTime: 'yesterday' }))],
    ['a trigger of another shape', JSON.stringify(aMetricAlarm({ Trigger: { Threshold: 'high' } }))],
    ['no ARN', JSON.stringify(aMetricAlarm({ AlarmArn: undefined }))],
  ])('is not taken for one: %s', (_kind, message) => {
    expect(parseAlarm(message)).toBeUndefined();
  });
});
