/** `page`: somebody gets up for it. `look`: somebody looks at it in working hours. */
export type Severity = 'page' | 'look';

/** The topic to which alarms of a severity go, without stage and region. */
export function alarmTopicName(severity: Severity): string {
  return `callytics-alarms-${severity}`;
}

/**
 * How urgent a notification is, by the topic it came from: the notification itself doesn't say.
 * One from a topic that isn't ours counts as urgent.
 */
export function severityOf(topicArn: string): Severity {
  return resourceOf(topicArn).startsWith(alarmTopicName('look')) ? 'look' : 'page';
}

/** `arn:aws:sns:us-west-2:123456789012:name` -> `us-west-2`. Empty for what is no ARN. */
export function regionOf(arn: string): string {
  return arn.split(':')[3] ?? '';
}

/** `arn:aws:cloudwatch:us-west-2:123456789012:alarm:name` -> `alarm:name`. Empty for what is no ARN. */
export function resourceOf(arn: string): string {
  return arn.split(':').slice(5).join(':');
}
