import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { AlarmName } from '../alarms.ts';
import { queueLink } from '../console-links.ts';
import { StageStack } from './stage-stack.ts';

export interface DeadLetterQueueProps {
  readonly queueName: string;
  /** Goes off at the first message; its text says what is lost when nobody comes. */
  readonly alarm: AlarmName;
}

/** A queue whose consumer is a person: 14 days, an alarm at the first message and one before they expire. */
export class DeadLetterQueue extends Construct {
  readonly queue: Queue;
  readonly links: Readonly<Record<string, string>>;

  constructor(scope: Construct, id: string, props: DeadLetterQueueProps) {
    super(scope, id);
    const stack = StageStack.of(this);
    const queueName = stack.named(props.queueName);
    this.queue = new Queue(this, 'Queue', {
      queueName,
      retentionPeriod: Duration.days(14),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    this.links = { 'Dead letters': queueLink(this, queueName) };
    stack.alarms.add(props.alarm, {
      // Never NumberOfMessagesSent: it doesn't count what SQS itself moves here.
      metric: this.queue.metricApproximateNumberOfMessagesVisible({
        period: Duration.minutes(1),
        statistic: 'Maximum',
      }),
      atLeast: 1,
      links: this.links,
    });
    stack.alarms.add('DeadLettersOld', {
      subject: props.queueName,
      metric: this.queue.metricApproximateAgeOfOldestMessage({
        period: Duration.hours(1),
        statistic: 'Maximum',
      }),
      atLeast: Duration.days(10).toSeconds(),
      periods: 2,
      links: this.links,
    });
  }
}
