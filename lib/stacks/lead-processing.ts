import { Duration } from 'aws-cdk-lib';
import { Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import * as binding from '../constructs/bindings.ts';
import { QueueWorker } from '../constructs/queue-worker.ts';
import { StageStack } from '../constructs/stage-stack.ts';
import { leadCreatedOf } from '../events.ts';

/** LeadCreated -> contact, task and timeline. */
export class LeadProcessing extends Construct {
  readonly worker: QueueWorker<'lead-processor'>;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const stack = StageStack.of(this);
    const { config } = stack;

    this.worker = new QueueWorker(this, 'LeadProcessor', {
      queueName: 'lead-processor-queue',
      visibilityTimeout: Duration.seconds(300),
      retention: Duration.days(4),
      deadLetters: { queueName: 'lead-processor-dlq', alarm: 'LeadProcessorDlqNotEmpty' },
      oldest: { alarm: 'LeadProcessorQueueOld', limit: Duration.minutes(2), period: Duration.minutes(1) },
      batchSize: 1,
      maxConcurrency: 10,
      worker: {
        name: 'lead-processor',
        physicalName: 'LeadProcessorFunction',
        description: 'Writes contact, task and timeline of a new lead',
        timeout: Duration.seconds(50),
        memorySize: 512,
        environment: (own) => ({
          NEON_URL_PARAMETER: binding.readsParameter(this, config.neonUrlParameter),
          STORES_TABLE_NAME: binding.scansTable(this, config.stores),
          STORES_TABLE_REGION: binding.setting(config.stores.region),
          DEFAULT_TIME_ZONE: binding.setting(config.defaultTimeZone),
          QUIET_HOURS: binding.setting(config.quietHours),
          LEAD_PROCESSOR_QUEUE_URL: binding.consumes(own),
        }),
      },
    });

    const { queue, deadLetterQueue } = this.worker;
    const stages = config.mirrorFromProd ? [config.name, 'prod'] : [config.name];
    new Rule(this, 'LeadCreatedRule', {
      ruleName: stack.named('LeadCreatedRule'),
      description: `LeadCreated of ${stages.join(' and ')} -> lead processor`,
      eventPattern: leadCreatedOf(...stages),
      // The same body as in the queue, so a redrive to the queue by name works for these messages too.
      targets: [new SqsQueue(queue, { deadLetterQueue })],
    });
  }
}
