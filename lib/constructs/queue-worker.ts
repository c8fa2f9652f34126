import type { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { FunctionName } from '../../src/platform/environment.ts';
import type { AlarmName } from '../alarms.ts';
import { queueLink } from '../console-links.ts';
import { DeadLetterQueue } from './dead-letter-queue.ts';
import { type Bindings, NodeFunction, type NodeFunctionProps } from './node-function.ts';
import { StageStack } from './stage-stack.ts';

/** As in the seed. Throttling, which counts as a receive too, is kept out by maxConcurrency. */
const maxReceiveCount = 3;

export interface QueueWorkerProps<F extends FunctionName> {
  readonly queueName: string;
  readonly visibilityTimeout: Duration;
  readonly retention: Duration;
  /** How long a message waits that is sent without a delay of its own. Default: not at all. */
  readonly deliveryDelay?: Duration;
  /** Where a message goes after its third failure. */
  readonly deadLetters: { readonly queueName: string; readonly alarm: AlarmName };
  /** How long a message may wait for its work. */
  readonly oldest: { readonly alarm: AlarmName; readonly limit: Duration; readonly period: Duration };
  readonly batchSize: number;
  readonly maxConcurrency: number;
  /** The function; its own queue is handed in, for the variable that names it. */
  readonly worker: Omit<NodeFunctionProps<F>, 'environment' | 'asynchronous'> & {
    readonly environment: (queue: Queue) => Bindings<F>;
  };
}

/** A queue, the function that works it off, the dead-letter queue behind it, and their alarms. */
export class QueueWorker<F extends FunctionName> extends Construct {
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;
  readonly function: NodeFunction<F>;
  /** Console links for further alarms on this queue. */
  readonly links: Readonly<Record<string, string>>;

  constructor(scope: Construct, id: string, props: QueueWorkerProps<F>) {
    super(scope, id);
    const stack = StageStack.of(this);
    const queueName = stack.named(props.queueName);
    const deadLetters = new DeadLetterQueue(this, 'DeadLetters', props.deadLetters.queueName);
    this.deadLetterQueue = deadLetters.queue;
    this.queue = new Queue(this, 'Queue', {
      queueName,
      visibilityTimeout: props.visibilityTimeout,
      retentionPeriod: props.retention,
      ...(props.deliveryDelay ? { deliveryDelay: props.deliveryDelay } : {}),
      deadLetterQueue: { queue: this.deadLetterQueue, maxReceiveCount },
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    this.function = new NodeFunction(this, 'Worker', {
      ...props.worker,
      environment: props.worker.environment(this.queue),
    });
    this.function.lambda.addEventSourceMapping('Messages', {
      eventSourceArn: this.queue.queueArn,
      batchSize: props.batchSize,
      maxConcurrency: props.maxConcurrency,
      // Without it a batch of which one message failed is worked off again as a whole.
      reportBatchItemFailures: true,
    });

    deadLetters.watch(props.deadLetters.alarm, this.function.links);
    this.links = { Queue: queueLink(this, queueName), ...this.function.links };
    stack.alarms.add(props.oldest.alarm, {
      metric: this.queue.metricApproximateAgeOfOldestMessage({
        period: props.oldest.period,
        statistic: 'Maximum',
      }),
      atLeast: props.oldest.limit.toSeconds(),
      // The metric jumps when a message is taken: one high value alone says nothing.
      periods: 2,
      links: this.links,
    });
  }
}
