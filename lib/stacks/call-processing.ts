import { Duration } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Rule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import * as binding from '../constructs/bindings.ts';
import { NodeFunction } from '../constructs/node-function.ts';
import { QueueWorker } from '../constructs/queue-worker.ts';
import { createRecordingsBucket } from '../constructs/recordings-bucket.ts';
import { droppedWhenLate, schedule } from '../constructs/schedule.ts';
import { StageStack } from '../constructs/stage-stack.ts';
import { createStateTable } from '../constructs/tables.ts';
import { WebhookApi } from '../constructs/webhook-api.ts';
import { transcriptionEndedOf } from '../events.ts';

/** Items of the state table: pacing, the shared access token, the sign that an account has parked work. */
const callItems = ['gate#', 'token#', 'parked#'];
/** And the sweep's own: what it did when, and its leases. */
const sweepItems = [...callItems, 'sweep#', 'lease#'];

/** RingCentral webhook -> call row, recording, voicemail -> transcript; the sweep finds what webhooks missed. */
export class CallProcessing extends Construct {
  readonly worker: QueueWorker<'transcribe-processor'>;
  readonly receiver: NodeFunction<'webhook-receiver'>;
  readonly sweep: NodeFunction<'call-sweep'>;
  private readonly stack: StageStack;
  private readonly state: Table;
  private readonly recordings: Bucket;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.stack = StageStack.of(this);
    this.state = createStateTable(this, 'State', 'CallyticsState');
    this.recordings = createRecordingsBucket(this, 'Recordings');
    this.worker = this.transcribeProcessor();
    const { queue, deadLetterQueue } = this.worker;
    this.receiver = this.webhookReceiver(queue);
    const api = new WebhookApi(this, 'Webhooks', this.receiver);
    this.sweep = this.callSweep(queue, api.url);
    schedule(this, 'CallSweepSchedule', this.sweep, {
      physicalName: 'CallSweepSchedule',
      description: 'Starts the call sweep every minute',
      every: Duration.minutes(1),
    });
    new Rule(this, 'TranscriptionRule', {
      ruleName: this.stack.named('TranscriptionRule'),
      description: 'Ended transcription jobs of this stage -> transcribe processor',
      eventPattern: transcriptionEndedOf(this.stack.config.name),
      // The same body as in the queue, so a redrive to the queue by name works for these messages too.
      targets: [new SqsQueue(queue, { deadLetterQueue })],
    });
  }

  private transcribeProcessor(): QueueWorker<'transcribe-processor'> {
    return new QueueWorker(this, 'Transcribe', {
      queueName: 'transcribe-queue',
      visibilityTimeout: Duration.seconds(720),
      retention: Duration.days(14),
      deliveryDelay: Duration.seconds(300),
      deadLetters: { queueName: 'transcribe-dlq', alarm: 'TranscribeDlqNotEmpty' },
      oldest: { alarm: 'TranscribeQueueOld', limit: Duration.hours(12), period: Duration.minutes(5) },
      batchSize: 1,
      maxConcurrency: 5,
      worker: {
        name: 'transcribe-processor',
        physicalName: 'TranscribeProcessorFunction',
        description:
          'Writes calls, fetches their call log, stores recordings and voicemails, has them transcribed',
        timeout: Duration.seconds(120),
        memorySize: 512,
        environment: (own) => ({
          ...this.callEnvironment(),
          STATE_TABLE_NAME: binding.usesItemsBelow(this.state, callItems),
          // Its clones after a 429 go to its own queue: at most five, below Lambda's loop detection.
          TRANSCRIBE_QUEUE_URL: binding.together(binding.consumes(own), binding.sendsTo(own)),
          RECORDINGS_BUCKET_NAME: binding.together(
            binding.transcribes(this.recordings, this.stack.config.name),
            binding.storesSound(this.recordings),
            binding.readsTranscripts(this.recordings),
          ),
        }),
      },
    });
  }

  private webhookReceiver(queue: Queue): NodeFunction<'webhook-receiver'> {
    const { ringCentral } = this.stack.config;
    return new NodeFunction(this, 'WebhookReceiver', {
      name: 'webhook-receiver',
      physicalName: 'WebhookReceiverFunction',
      description: 'Checks RingCentral webhooks and puts their events into transcribe-queue',
      // It answers within 2 s by itself; RingCentral waits 3 s.
      timeout: Duration.seconds(5),
      // CPU comes with memory: a cold start is part of those 3 s.
      memorySize: 512,
      environment: {
        TRANSCRIBE_QUEUE_URL: binding.sendsTo(queue),
        RINGCENTRAL_PARAMETER_PREFIX: binding.readsParametersBelow(this, ringCentral.parameterPrefix),
      },
    });
  }

  private callSweep(queue: Queue, webhookUrl: string): NodeFunction<'call-sweep'> {
    const { config } = this.stack;
    return new NodeFunction(this, 'CallSweep', {
      name: 'call-sweep',
      physicalName: 'CallSweepFunction',
      description: 'Sends parked calls on, finds late recordings and lost webhooks, keeps the subscription',
      // Longer than its rhythm: a lease keeps the next start out of the way of a long pass.
      timeout: Duration.seconds(110),
      memorySize: 512,
      asynchronous: droppedWhenLate,
      environment: {
        ...this.callEnvironment(),
        STATE_TABLE_NAME: binding.usesItemsBelow(this.state, sweepItems),
        TRANSCRIBE_QUEUE_URL: binding.sendsTo(queue),
        // It ends or restarts the jobs whose end nobody told; sound it never stores.
        RECORDINGS_BUCKET_NAME: binding.together(
          binding.transcribes(this.recordings, config.name),
          binding.readsTranscripts(this.recordings),
        ),
        WEBHOOK_URL: binding.setting(webhookUrl),
        RINGCENTRAL_ACCOUNT_IDS: binding.setting(config.ringCentral.accountIds.join(',')),
      },
    });
  }

  /** What processor and sweep have in common, with the same permissions. */
  private callEnvironment() {
    const { neonUrlParameter, stores, ringCentral, transcription } = this.stack.config;
    return {
      NEON_URL_PARAMETER: binding.readsParameter(this, neonUrlParameter),
      STORES_TABLE_NAME: binding.scansTable(this, stores),
      STORES_TABLE_REGION: binding.setting(stores.region),
      RINGCENTRAL_PARAMETER_PREFIX: binding.readsParametersBelow(this, ringCentral.parameterPrefix),
      TRANSCRIBE_LANGUAGE: binding.setting(transcription.language),
      TRANSCRIBE_REDACTION: binding.setting(transcription.redaction),
    };
  }
}
