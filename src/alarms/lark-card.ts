import {
  type CloudWatchAlarm,
  dimensionOf,
  newestValue,
  periodOf,
  type Trigger,
} from './cloudwatch-alarm.ts';
import { alarmLink, logLinesLink, queueLink } from './console-links.ts';
import { type Link, parseDescription } from './description.ts';
import {
  buttons,
  type Colour,
  card,
  type LarkMessage,
  longParagraph,
  note,
  paragraph,
  table,
} from './lark-message.ts';
import { regionOf, resourceOf, type Severity, severityOf } from './topic.ts';

export interface CardSettings {
  stage: string;
  /** IANA zone of the people who get the card; times are told in UTC too. */
  timeZone: string;
}

const minuteMs = 60_000;
/** A message reaches a dead-letter queue after three receives, up to a quarter of an hour after the fault. */
const shortestWindowMs = 30 * minuteMs;
const longestWindowMs = 24 * 60 * minuteMs;
/** Log lines appear a little after their fault, and the first retry's lines help too. */
const afterChangeMs = 5 * minuteMs;

const urgency: Record<Severity, string> = { page: 'page: act now', look: 'look: in working hours' };

const operators: Record<string, string> = {
  GreaterThanOrEqualToThreshold: '≥',
  GreaterThanThreshold: '>',
  LessThanOrEqualToThreshold: '≤',
  LessThanThreshold: '<',
};

/** The card of an alarm's state change: what, since when, how many, and where to look. */
export function alarmCard(alarm: CloudWatchAlarm, topicArn: string, settings: CardSettings): LarkMessage {
  const { AlarmName, AlarmRule, NewStateValue, OldStateValue, StateChangeTime, Trigger } = alarm;
  const severity = severityOf(topicArn);
  const recovered = OldStateValue === 'ALARM' && NewStateValue === 'OK';
  const { meaning, links } = parseDescription(alarm.AlarmDescription ?? '');
  return card(colourOf(alarm, severity), `${recovered ? 'RECOVERED' : NewStateValue}: ${AlarmName}`, [
    paragraph(meaning),
    table({
      State: `${OldStateValue} → ${NewStateValue}`,
      Since: timeIn(StateChangeTime, settings.timeZone),
      'How many': Trigger ? howMany(alarm, Trigger) : undefined,
      Limit: Trigger ? limitOf(alarm, Trigger) : undefined,
      'Caused by': causeOf(alarm),
      Rule: AlarmRule ?? undefined,
      Severity: urgency[severity],
      Stage: placeOf(settings, regionOf(alarm.AlarmArn)),
    }),
    note(alarm.NewStateReason),
    buttons(pagesOf(alarm, links)),
  ]);
}

/** The card of a notification that is no alarm as CloudWatch sends it: shown as it came, never dropped. */
export function plainCard(
  { topicArn, subject, message }: { topicArn: string; subject?: string | undefined; message: string },
  settings: CardSettings,
): LarkMessage {
  const severity = severityOf(topicArn);
  return card(severity === 'page' ? 'red' : 'orange', subject || `Notification: ${resourceOf(topicArn)}`, [
    longParagraph(message),
    table({ Severity: urgency[severity], Stage: placeOf(settings, regionOf(topicArn)) }),
  ]);
}

function colourOf({ NewStateValue }: CloudWatchAlarm, severity: Severity): Colour {
  if (NewStateValue === 'OK') return 'green';
  if (NewStateValue === 'INSUFFICIENT_DATA') return 'grey';
  return severity === 'page' ? 'red' : 'orange';
}

/** Holds the app's name, so that the bot's keyword check can ask for it. */
function placeOf({ stage }: CardSettings, region: string): string {
  return `callytics ${stage}, ${region}`;
}

function timeIn(time: Date, timeZone: string): string {
  const local = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
  });
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC\n${local.format(time)}`;
}

function howMany(alarm: CloudWatchAlarm, trigger: Trigger): string {
  const value = newestValue(alarm);
  const metric = metricOf(trigger);
  const measure = [metric, trigger.Statistic ?? trigger.ExtendedStatistic].filter(Boolean).join(', ');
  return `${value === undefined ? 'no value' : amount(value, metric)} (${measure})`;
}

function limitOf(alarm: CloudWatchAlarm, trigger: Trigger): string | undefined {
  const { ComparisonOperator, Threshold, EvaluationPeriods, DatapointsToAlarm } = trigger;
  if (typeof Threshold !== 'number') return undefined;
  const operator = operators[ComparisonOperator ?? ''] ?? ComparisonOperator ?? '';
  const period = periodOf(alarm);
  const periods = EvaluationPeriods ?? 1;
  const rhythm = period ? `, ${DatapointsToAlarm ?? periods} of ${periods} × ${duration(period)}` : '';
  return `${operator} ${amount(Threshold, metricOf(trigger))}${rhythm}`;
}

function metricOf({ MetricName, Metrics }: Trigger): string {
  const result = Metrics?.find(({ ReturnData }) => ReturnData) ?? Metrics?.[0];
  return MetricName ?? result?.Label ?? result?.Expression ?? result?.Id ?? 'metric';
}

/** Ages are in seconds (SQS`s and ours); everything else is counted. */
function amount(value: number, metric: string): string {
  if (/Age(?![a-z])/.test(metric)) return duration(value);
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 });
}

function duration(seconds: number): string {
  const units = { d: 86_400, h: 3_600, min: 60 };
  const [unit, size] = Object.entries(units).find(([, length]) => seconds >= length) ?? ['s', 1];
  return `${(seconds / size).toLocaleString('en-US', { maximumFractionDigits: 1 })} ${unit}`;
}

function causeOf({ TriggeringChildren }: CloudWatchAlarm): string | undefined {
  const names = TriggeringChildren?.map(({ Arn }) => resourceOf(Arn).replace(/^alarm:/, '')) ?? [];
  return names.length > 0 ? names.join(', ') : undefined;
}

function pagesOf(alarm: CloudWatchAlarm, links: readonly Link[]): Link[] {
  const region = regionOf(alarm.AlarmArn);
  const queueName = dimensionOf(alarm, 'QueueName');
  const window = windowOf(alarm);
  const described = links.map(({ label, url }) => {
    const lines = logLinesLink(url, window);
    return lines ? { label: 'Log lines', url: lines } : { label, url };
  });
  return [
    ...described,
    ...(queueName ? [{ label: 'Queue', url: queueLink(region, alarm.AWSAccountId, queueName) }] : []),
    { label: 'Alarm', url: alarmLink(region, alarm.AlarmName) },
  ];
}

/** The time whose log lines tell what led to the change. */
function windowOf(alarm: CloudWatchAlarm): { from: Date; to: Date } {
  const changedAt = alarm.StateChangeTime.getTime();
  const periods = (alarm.Trigger?.EvaluationPeriods ?? 1) + 1;
  const evaluatedMs = periods * (periodOf(alarm) ?? 0) * 1_000;
  const before = Math.min(Math.max(evaluatedMs, shortestWindowMs), longestWindowMs);
  return { from: new Date(changedAt - before), to: new Date(changedAt + afterChangeMs) };
}
