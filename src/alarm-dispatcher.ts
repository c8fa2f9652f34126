import type { Context, SNSEvent, SNSEventRecord } from 'aws-lambda';
import { parseAlarm } from './alarms/cloudwatch-alarm.ts';
import { alarmCard, type CardSettings, plainCard } from './alarms/lark-card.ts';
import { createLarkBot, isWebhookRefused, type LarkBot } from './alarms/lark-client.ts';
import { severityOf } from './alarms/topic.ts';
import { readEnvironment } from './platform/environment.ts';
import { errorCode } from './platform/errors.ts';
import { lazyService } from './platform/lazy-service.ts';
import { logEvents } from './platform/log-events.ts';
import { createLog, type Log } from './platform/logger.ts';
import { createMeter, type Meter } from './platform/metrics.ts';
import { createParameterClient, type ParameterClient } from './platform/parameter-client.ts';
import { createParameters } from './platform/parameters.ts';

/** Where the people who get the cards are; the stores' own zones don't matter here. */
const opsTimeZone = 'America/New_York';
/** Kept back from the invocation's time for the last log lines. */
const wrapUpMs = 2_000;

export interface AlarmDispatcher {
  lark: ParameterClient<LarkBot>;
  settings: CardSettings;
  log: Log;
  meter: Meter;
}

/** Some notifications of an event didn't reach Lark: Lambda is to try again, and then to tell the second topic. */
export class AlarmNotDeliveredError extends Error {
  override name = 'AlarmNotDeliveredError';
}

const service = lazyService(async (): Promise<AlarmDispatcher> => {
  const env = readEnvironment('alarm-dispatcher');
  return {
    lark: createParameterClient(
      createParameters(),
      env.LARK_WEBHOOK_PARAMETER,
      (url) => createLarkBot(url),
      isWebhookRefused,
    ),
    settings: { stage: env.STAGE, timeZone: opsTimeZone },
    log: createLog(),
    meter: createMeter(),
  };
});

/** The alarm topics of both regions. */
export async function handler(event: SNSEvent, context: Context): Promise<void> {
  const dispatcher = await service();
  const deadline = new Date(Date.now() + context.getRemainingTimeInMillis() - wrapUpMs);
  await dispatchAlarms(dispatcher, event, deadline);
}

/**
 * One card for each notification, each by itself: one that fails doesn't hold up the others. A retry shows
 * those that had arrived once more, as SNS may do too: harmless, a card tells its time.
 *
 * @throws AlarmNotDeliveredError
 */
export async function dispatchAlarms(
  dispatcher: AlarmDispatcher,
  event: SNSEvent,
  deadline: Date,
): Promise<void> {
  try {
    const delivered = await Promise.all(event.Records.map((record) => deliver(dispatcher, record, deadline)));
    const failed = delivered.filter((arrived) => !arrived).length;
    if (failed > 0) {
      throw new AlarmNotDeliveredError(`${failed} of ${delivered.length} notifications not delivered`);
    }
  } finally {
    dispatcher.meter.flush();
  }
}

/** Never rejects: whether the card arrived. */
async function deliver(
  { lark, settings, log, meter }: AlarmDispatcher,
  { Sns }: SNSEventRecord,
  deadline: Date,
): Promise<boolean> {
  const { MessageId, TopicArn, Subject, Message } = Sns;
  const alarm = parseAlarm(Message);
  const fields = {
    message_id: MessageId,
    alarm: alarm?.AlarmName ?? null,
    state: alarm?.NewStateValue ?? null,
    severity: severityOf(TopicArn),
  };
  try {
    const message = alarm
      ? alarmCard(alarm, TopicArn, settings)
      : plainCard({ topicArn: TopicArn, subject: Subject, message: Message }, settings);
    await lark.run((bot) => bot.send(message, deadline));
    meter.count('AlarmDelivered');
    log.info(logEvents.alarmDelivered, fields);
    return true;
  } catch (error) {
    meter.count('AlarmDelivered', 0);
    log.error(logEvents.alarmNotDelivered, { ...fields, error_code: errorCode(error) });
    return false;
  }
}
