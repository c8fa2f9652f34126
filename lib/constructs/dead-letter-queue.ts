import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { AlarmName } from '../alarms.ts';
import { queueLink } from '../console-links.ts';
import { StageStack } from './stage-stack.ts';

/** A queue whose consumer is a person: 14 days, the longest that SQS keeps a message. */
export class DeadLetterQueue extends Construct {
  readonly queue: Queue;
  private readonly queueName: string;

  constructor(scope: Construct, id: string, queueName: string) {
    super(scope, id);
    this.queueName = queueName;
    this.queue = new Queue(this, 'Queue', {
      queueName: StageStack.of(this).named(queueName),
      retentionPeriod: Duration.days(14),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
  }

  /**
   * Calls that person: at the first message, and once more before messages expire.
   *
   * @param alarm its text says what is lost when nobody comes
   * @param links where to read why messages end here
   */
  watch(alarm: AlarmName, links: Readonly<Record<string, string>> = {}): void {
    const stack = StageStack.of(this);
    const all = { Messages: queueLink(this, stack.named(this.queueName)), ...links };
    stack.alarms.add(alarm, {
      // Never NumberOfMessagesSent: it doesn't count what SQS itself moves here.
      metric: this.queue.metricApproximateNumberOfMessagesVisible({
        period: Duration.minutes(1),
        statistic: 'Maximum',
      }),
      atLeast: 1,
      links: all,
    });
    stack.alarms.add('DeadLettersOld', {
      subject: this.queueName,
      metric: this.queue.metricApproximateAgeOfOldestMessage({
        period: Duration.hours(1),
        statistic: 'Maximum',
      }),
      atLeast: Duration.days(10).toSeconds(),
      periods: 2,
      links: all,
    });
  }
}
