import * as z from 'zod';

/** CloudWatch writes null for what an alarm doesn't have. */
const text = z.string().nullish();
const number = z.number().nullish();

const dimensions = z.array(z.object({ name: z.string(), value: z.string() })).nullish();

const triggerSchema = z.object({
  MetricName: text,
  Namespace: text,
  Statistic: text,
  ExtendedStatistic: text,
  Dimensions: dimensions,
  /** Seconds. */
  Period: number,
  EvaluationPeriods: number,
  DatapointsToAlarm: number,
  Threshold: number,
  ComparisonOperator: text,
  /** In place of MetricName and its companions for an alarm on a metric maths expression. */
  Metrics: z
    .array(
      z.object({
        Id: z.string(),
        Label: text,
        Expression: text,
        ReturnData: z.boolean().nullish(),
        Period: number,
        MetricStat: z
          .object({ Period: number, Metric: z.object({ MetricName: text, Dimensions: dimensions }) })
          .nullish(),
      }),
    )
    .nullish(),
});

/** `2026-11-03T14:16:00.472+0000` */
const time = z
  .string()
  .transform((value) => new Date(value))
  .refine((date) => !Number.isNaN(date.getTime()));

const alarmSchema = z.object({
  AlarmName: z.string().min(1),
  AlarmDescription: text,
  AWSAccountId: z.string(),
  NewStateValue: z.enum(['ALARM', 'OK', 'INSUFFICIENT_DATA']),
  OldStateValue: z.string(),
  NewStateReason: z.string(),
  StateChangeTime: time,
  /** `arn:aws:cloudwatch:us-west-2:123456789012:alarm:name`; `Region` beside it is a name such as US West (Oregon). */
  AlarmArn: z.string().startsWith('arn:'),
  /** Of a metric alarm. */
  Trigger: triggerSchema.nullish(),
  /** Of a composite alarm: its condition, and the alarms that made it change. */
  AlarmRule: text,
  TriggeringChildren: z.array(z.object({ Arn: z.string() })).nullish(),
});

/** What CloudWatch sends to SNS when an alarm changes its state. */
export type CloudWatchAlarm = z.output<typeof alarmSchema>;
export type Trigger = z.output<typeof triggerSchema>;

/** Reads the message of an SNS notification; undefined when it is no alarm as CloudWatch sends it. */
export function parseAlarm(message: string): CloudWatchAlarm | undefined {
  try {
    return alarmSchema.safeParse(JSON.parse(message)).data;
  } catch {
    return undefined;
  }
}

/** The alarm's dimension of this name, on whichever of its metrics it is. */
export function dimensionOf({ Trigger }: CloudWatchAlarm, name: string): string | undefined {
  const metrics = Trigger?.Metrics?.map(({ MetricStat }) => MetricStat?.Metric.Dimensions) ?? [];
  return [Trigger?.Dimensions, ...metrics]
    .flatMap((list) => list ?? [])
    .find((dimension) => dimension.name === name)?.value;
}

/** Seconds of one period; undefined for a composite alarm. */
export function periodOf({ Trigger }: CloudWatchAlarm): number | undefined {
  const periods = Trigger?.Metrics?.map(({ Period, MetricStat }) => Period ?? MetricStat?.Period) ?? [];
  return [Trigger?.Period, ...periods].find((period) => typeof period === 'number');
}

/**
 * The newest value that made the alarm change. CloudWatch tells it in prose only, newest first:
 * `Threshold Crossed: 2 datapoints [3.0 (03/11/26 14:15:00), 1.0 (03/11/26 14:14:00)] were …`.
 * Undefined when there was no data, for composite alarms, and for a state set by hand.
 */
export function newestValue({ NewStateReason }: CloudWatchAlarm): number | undefined {
  const [, value] = /\[(-?\d[\d.]*(?:E[+-]?\d+)?) \(/.exec(NewStateReason) ?? [];
  return value === undefined ? undefined : Number(value);
}
