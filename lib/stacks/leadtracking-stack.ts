import { Duration, Validations } from 'aws-cdk-lib';
import { AttributeType, type Table } from 'aws-cdk-lib/aws-dynamodb';
import { EventBus, Rule } from 'aws-cdk-lib/aws-events';
import { EventBus as EventBusTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { regions } from '../config.ts';
import * as binding from '../constructs/bindings.ts';
import { DeadLetterQueue } from '../constructs/dead-letter-queue.ts';
import { NodeFunction } from '../constructs/node-function.ts';
import { QueueWorker } from '../constructs/queue-worker.ts';
import { droppedWhenLate, schedule } from '../constructs/schedule.ts';
import { StageStack, type StageStackProps } from '../constructs/stage-stack.ts';
import { createStateTable, createTable } from '../constructs/tables.ts';
import { defaultBusArn, leadCreatedOf } from '../events.ts';
import { addMailAlarms } from './monitoring.ts';

const phoneIndex = 'phone-receivedAt-index';

/** us-east-1: mail -> lead in Neon -> LeadCreated, and its way to the other region. */
export class LeadTrackingStack extends StageStack {
  readonly retries: QueueWorker<'neon-retry-processor'>;
  readonly poller: NodeFunction<'poller'>;
  readonly forwardingDeadLetters: Queue;

  constructor(scope: Construct, props: StageStackProps) {
    super(scope, 'LeadTracking', regions.leads, props);
    // Watermarks, attempts, leases and the breaker.
    const state = createStateTable(this, 'State', 'LeadTrackingState');
    this.retries = this.retryProcessor(state);
    this.poller = this.imapPoller(state, this.retries.queue);
    schedule(this, 'ImapPollerSchedule', this.poller, {
      physicalName: 'ImapPollerSchedule',
      description: 'Starts the poller every five minutes',
      every: Duration.minutes(5),
    });
    this.forwardingDeadLetters = this.forwarding();
    addMailAlarms(this, this.poller, this.retries);
  }

  /** Transitional: goes away with `legacyLeadsTable`. */
  private legacyLeadsTable(): Table {
    const table = createTable(this, 'LegacyLeads', {
      tableName: this.named('LeadTracking-v2'),
      partitionKey: { name: 'id', type: AttributeType.STRING },
    });
    table.addGlobalSecondaryIndex({
      indexName: phoneIndex,
      partitionKey: { name: 'phone', type: AttributeType.STRING },
      sortKey: { name: 'receivedAt', type: AttributeType.STRING },
    });
    return table;
  }

  private retryProcessor(state: Table): QueueWorker<'neon-retry-processor'> {
    return new QueueWorker(this, 'NeonRetry', {
      // A work queue in spite of its name, which is the seed's.
      queueName: 'neon-write-dlq',
      visibilityTimeout: Duration.seconds(120),
      retention: Duration.days(7),
      deadLetters: { queueName: 'neon-write-final-dlq', alarm: 'NeonWriteFinalDlqNotEmpty' },
      oldest: { alarm: 'NeonWriteQueueOld', limit: Duration.hours(2), period: Duration.minutes(5) },
      batchSize: 5,
      maxConcurrency: 2,
      worker: {
        name: 'neon-retry-processor',
        physicalName: 'NeonRetryProcessor',
        description: 'Writes leads to Neon that the poller could not write, and publishes them',
        timeout: Duration.seconds(20),
        memorySize: 512,
        environment: (queue) => ({
          NEON_URL_PARAMETER: binding.readsParameter(this, this.config.neonUrlParameter),
          STATE_TABLE_NAME: binding.usesItems(state, ['Get', 'Update', 'Delete']),
          EVENT_BUS_NAME: binding.publishesToDefaultBus(this),
          NEON_WRITE_QUEUE_URL: binding.consumes(queue),
        }),
      },
    });
  }

  private imapPoller(state: Table, retryQueue: Queue): NodeFunction<'poller'> {
    const { config } = this;
    const mirror = config.neonMirrorUrlParameter;
    return new NodeFunction(this, 'ImapPoller', {
      name: 'poller',
      physicalName: 'ImapPollerFunction',
      description: 'Reads lead mail, stores each lead in Neon and publishes LeadCreated',
      timeout: Duration.seconds(240),
      memorySize: 1024,
      asynchronous: droppedWhenLate,
      environment: {
        IMAP_PARAMETER: binding.readsParameter(this, config.imapParameter),
        NEON_URL_PARAMETER: binding.readsParameter(this, config.neonUrlParameter),
        ...(mirror ? { NEON_MIRROR_URL_PARAMETER: binding.readsParameter(this, mirror) } : {}),
        STORES_TABLE_NAME: binding.scansTable(this, config.stores),
        STORES_TABLE_REGION: binding.setting(config.stores.region),
        ...(config.legacyLeadsTable
          ? { LEGACY_LEADS_TABLE_NAME: binding.putsAndQueries(this.legacyLeadsTable(), phoneIndex) }
          : {}),
        STATE_TABLE_NAME: binding.usesItems(state, ['Get', 'Update', 'Delete']),
        NEON_WRITE_QUEUE_URL: binding.sendsTo(retryQueue),
        EVENT_BUS_NAME: binding.publishesToDefaultBus(this),
      },
    });
  }

  /** Same-account delivery to the other region's bus: a role, no bus policy; the target's DLQ must be here. */
  private forwarding(): Queue {
    const deadLetters = new DeadLetterQueue(this, 'ForwardingDeadLetters', 'forwarding-dlq');
    deadLetters.watch('ForwardingDlqNotEmpty');
    Validations.of(deadLetters).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: 'It is a dead-letter queue, which EventBridge fills, not a queue in front of it',
    });
    const bus = EventBus.fromEventBusArn(this, 'CallsBus', defaultBusArn(this, regions.calls));
    new Rule(this, 'LeadTrackingForwarding', {
      ruleName: this.named('LeadTrackingForwarding'),
      description: `LeadCreated of this stage -> ${regions.calls}`,
      eventPattern: leadCreatedOf(this.config.name),
      targets: [new EventBusTarget(bus, { deadLetterQueue: deadLetters.queue })],
    });
    return deadLetters.queue;
  }
}
