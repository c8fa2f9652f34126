import type { Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import {
  type AlarmDispatcher,
  AlarmNotDeliveredError,
  dispatchAlarms,
  handler,
} from '../src/alarm-dispatcher.ts';
import { createLarkBot, isWebhookRefused } from '../src/alarms/lark-client.ts';
import type { LarkMessage } from '../src/alarms/lark-message.ts';
import { createParameterClient } from '../src/platform/parameter-client.ts';
import { answer, delivered, fakeLark, refused } from './alarms/fake-lark.ts';
import { aCompositeAlarm, aMetricAlarm, seen, snsEvent } from './alarms/notifications.ts';
import { recordingLog, recordingMeter } from './support/fakes.ts';

const soon = () => new Date(Date.now() + 10_000);

/** A dispatcher to the webhook that its parameter names; `renewed` is what the parameter says by now. */
function aDispatcher(url: string, renewed = url) {
  const reads = { fresh: 0 };
  const parameters = {
    get: async () => url,
    refresh: async () => {
      reads.fresh += 1;
      return renewed;
    },
  };
  const fakes = { log: recordingLog(), meter: recordingMeter() };
  const dispatcher: AlarmDispatcher = {
    ...fakes,
    lark: createParameterClient(
      parameters,
      '/callytics/lark-webhook',
      (value) => createLarkBot(value, { sleep: async () => {} }),
      isWebhookRefused,
    ),
    settings: { stage: 'prod', timeZone: 'America/New_York' },
  };
  return { ...fakes, dispatcher, reads };
}

const titles = (got: { body: unknown }[]) =>
  got.map(({ body }) => seen(body as LarkMessage).title).toSorted();

describe('an alarm', () => {
  it('becomes a card', async () => {
    const lark = await fakeLark();
    const { dispatcher, log, meter } = aDispatcher(lark.url);
    await dispatchAlarms(dispatcher, snsEvent(aMetricAlarm()), soon());
    expect(titles(lark.got)).toEqual(['ALARM: LeadProcessorDlqNotEmpty-us-west-2']);
    expect(meter.totals).toEqual({ AlarmDelivered: 1 });
    expect(log.lines).toEqual([
      {
        level: 'info',
        event: 'alarm.delivered',
        fields: {
          message_id: 'message-1',
          alarm: 'LeadProcessorDlqNotEmpty-us-west-2',
          state: 'ALARM',
          severity: 'page',
        },
      },
    ]);
  });

  it('that is none is a card all the same', async () => {
    const lark = await fakeLark();
    await dispatchAlarms(aDispatcher(lark.url).dispatcher, snsEvent('hello'), soon());
    expect(seen(lark.got[0]?.body as LarkMessage)).toMatchObject({
      title: 'ALARM: something',
      texts: ['hello'],
    });
  });

  it('that comes twice is the same card twice', async () => {
    const lark = await fakeLark();
    const { dispatcher } = aDispatcher(lark.url);
    await dispatchAlarms(dispatcher, snsEvent(aMetricAlarm()), soon());
    await dispatchAlarms(dispatcher, snsEvent(aMetricAlarm()), soon());
    expect(lark.got).toHaveLength(2);
    expect(lark.got[0]).toEqual(lark.got[1]);
  });
});

describe('a failure', () => {
  it('fails the invocation, although Lark answered 200', async () => {
    const lark = await fakeLark(refused(19_024, 'Key Words Not Found'));
    const { dispatcher, log, meter } = aDispatcher(lark.url);
    await expect(dispatchAlarms(dispatcher, snsEvent(aMetricAlarm()), soon())).rejects.toThrow(
      new AlarmNotDeliveredError('1 of 1 notifications not delivered'),
    );
    expect(meter.totals).toEqual({ AlarmDelivered: 0 });
    expect(log.lines).toEqual([
      expect.objectContaining({
        level: 'error',
        event: 'alarm.not_delivered',
        fields: expect.objectContaining({ message_id: 'message-1', error_code: 'lark_19024' }),
      }),
    ]);
    expect(JSON.stringify(log.lines)).not.toContain('the-secret');
  });

  it('of one notification doesn`t hold up the others', async () => {
    const lark = await fakeLark(refused(19_024, 'Key Words Not Found'));
    const { dispatcher, meter } = aDispatcher(lark.url);
    const event = snsEvent(aMetricAlarm(), 'hello', aCompositeAlarm());
    await expect(dispatchAlarms(dispatcher, event, soon())).rejects.toThrow('1 of 3 notifications');
    expect(lark.got).toHaveLength(3);
    expect(meter.totals).toEqual({ AlarmDelivered: 2 });
  });

  it('that passes is no failure', async () => {
    const lark = await fakeLark(answer(500, 'oops'), refused(11_232, 'frequency limited'), delivered);
    const { dispatcher, log } = aDispatcher(lark.url);
    await dispatchAlarms(dispatcher, snsEvent(aMetricAlarm()), soon());
    expect(log.lines.map(({ event }) => event)).toEqual(['alarm.delivered']);
  });
});

describe('the webhook', () => {
  it('of a bot that was replaced is found without a deploy', async () => {
    const gone = await fakeLark(refused(19_001, 'param invalid: incoming webhook access token invalid'));
    const renewed = await fakeLark();
    const { dispatcher, reads } = aDispatcher(gone.url, renewed.url);
    await dispatchAlarms(dispatcher, snsEvent(aMetricAlarm()), soon());
    expect([gone.got.length, renewed.got.length, reads.fresh]).toEqual([1, 1, 1]);
  });

  it('that was mistyped is read again', async () => {
    const lark = await fakeLark();
    const { dispatcher } = aDispatcher('htps//typo', lark.url);
    await dispatchAlarms(dispatcher, snsEvent(aMetricAlarm()), soon());
    expect(lark.got).toHaveLength(1);
  });

  it('is not read again for a refusal of the message', async () => {
    const lark = await fakeLark(refused(19_024, 'Key Words Not Found'));
    const { dispatcher, reads } = aDispatcher(lark.url);
    await expect(dispatchAlarms(dispatcher, snsEvent(aMetricAlarm()), soon())).rejects.toThrow();
    expect(reads.fresh).toBe(0);
  });
});

describe('the handler', () => {
  it('names the variables that are missing', async () => {
    const context = { getRemainingTimeInMillis: () => 30_000 } as Context;
    await expect(handler(snsEvent(aMetricAlarm()), context)).rejects.toThrow(
      /alarm-dispatcher: missing environment variables .*LARK_WEBHOOK_PARAMETER/,
    );
  });
});
