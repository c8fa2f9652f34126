import { buildApp } from 'fauxqs';
import type { QueuePlan } from '../assembly/queues.ts';
import { localAccount } from '../assembly/template.ts';
import {
  type AwsAnswer,
  type AwsCall,
  type AwsService,
  awsError,
  awsJson,
  UnknownOperationError,
} from './aws-service.ts';

/** A received message as SQS describes it. */
export interface SqsMessage {
  MessageId: string;
  ReceiptHandle: string;
  Body: string;
  MD5OfBody: string;
  Attributes?: Record<string, string>;
  MessageAttributes?: Record<string, MessageAttribute>;
}

export interface MessageAttribute {
  DataType: string;
  StringValue?: string;
  BinaryValue?: string;
}

export interface QueueDepth {
  visible: number;
  inFlight: number;
  delayed: number;
}

/** The queues from inside: what event source mappings, rules and the page do with them, without IAM. */
export interface Queues {
  plans: readonly QueuePlan[];
  find(arn: string): QueuePlan | undefined;
  send(arn: string, body: string, attributes?: Record<string, MessageAttribute>): Promise<void>;
  /** Long-polls for up to `waitSeconds`. */
  receive(arn: string, maximum: number, waitSeconds: number): Promise<SqsMessage[]>;
  delete(arn: string, receiptHandle: string): Promise<void>;
  depth(arn: string): Promise<QueueDepth>;
  /** Moves every visible message of a dead-letter queue back to the queue it serves; the number moved. */
  redrive(deadLetterArn: string): Promise<number>;
  close(): Promise<void>;
}

/** The IAM action of each operation that functions may call. */
const actions: Record<string, string> = {
  SendMessage: 'sqs:SendMessage',
  SendMessageBatch: 'sqs:SendMessage',
  ReceiveMessage: 'sqs:ReceiveMessage',
  DeleteMessage: 'sqs:DeleteMessage',
  DeleteMessageBatch: 'sqs:DeleteMessage',
  ChangeMessageVisibility: 'sqs:ChangeMessageVisibility',
  ChangeMessageVisibilityBatch: 'sqs:ChangeMessageVisibility',
  GetQueueAttributes: 'sqs:GetQueueAttributes',
  GetQueueUrl: 'sqs:GetQueueUrl',
};

const maximumDelaySeconds = 900;

/**
 * fauxqs in process, with the queues of the templates. Its own URLs hold the region; outside, every queue URL
 * has the gateway's origin, or else the SDK would leave for the URL's host.
 *
 * @param delayScale what delays are multiplied with, 1 as in AWS: shorter ones for who watches a run
 */
export async function startQueues(plans: readonly QueuePlan[], origin: string, delayScale = 1) {
  const scaled = (delaySeconds: number) => Math.ceil(delaySeconds * delayScale);
  const fauxqs = buildApp({ logger: false });
  const call = async (region: string, operation: string, body: unknown): Promise<AwsAnswer> => {
    const {
      statusCode,
      body: text,
      headers,
    } = await fauxqs.inject({
      method: 'POST',
      url: '/',
      headers: {
        host: 'fauxqs',
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `AmazonSQS.${operation}`,
        authorization: `AWS4-HMAC-SHA256 Credential=local/20260101/${region}/sqs/aws4_request`,
      },
      payload: JSON.stringify(body),
    });
    const queryError = headers['x-amzn-query-error'];
    return {
      status: statusCode,
      body: text,
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        ...(queryError ? { 'x-amzn-query-error': String(queryError) } : {}),
      },
    };
  };
  const succeed = async (region: string, operation: string, body: unknown) => {
    const answer = await call(region, operation, body);
    if (answer.status !== 200) throw new Error(`SQS ${operation}: ${answer.body}`);
    return JSON.parse(answer.body);
  };

  const urls = new Map<string, string>();
  for (const plan of [...plans].sort(deadLetterQueuesFirst)) {
    const answer = await succeed(plan.region, 'CreateQueue', {
      QueueName: plan.name,
      Attributes: {
        VisibilityTimeout: String(plan.visibilitySeconds),
        DelaySeconds: String(scaled(plan.delaySeconds)),
        MessageRetentionPeriod: String(plan.retentionSeconds),
        ...(plan.redrive
          ? {
              RedrivePolicy: JSON.stringify({
                deadLetterTargetArn: plan.redrive.deadLetterArn,
                maxReceiveCount: plan.redrive.maxReceiveCount,
              }),
            }
          : {}),
      },
    });
    urls.set(plan.arn, answer.QueueUrl);
  }

  const find = (arn: string) => plans.find((plan) => plan.arn === arn);
  const onQueue = (arn: string, operation: string, body: object) => {
    const plan = find(arn);
    if (!plan) throw new Error(`no queue ${arn}`);
    return succeed(plan.region, operation, { QueueUrl: urls.get(arn), ...body });
  };

  const queues: Queues = {
    plans,
    find,
    async send(arn, body, attributes = {}) {
      await onQueue(arn, 'SendMessage', { MessageBody: body, MessageAttributes: attributes });
    },
    async receive(arn, maximum, waitSeconds) {
      const answer = await onQueue(arn, 'ReceiveMessage', {
        MaxNumberOfMessages: maximum,
        WaitTimeSeconds: waitSeconds,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      });
      return answer.Messages ?? [];
    },
    async delete(arn, receiptHandle) {
      await onQueue(arn, 'DeleteMessage', { ReceiptHandle: receiptHandle });
    },
    async depth(arn) {
      const { Attributes } = await onQueue(arn, 'GetQueueAttributes', { AttributeNames: ['All'] });
      return {
        visible: Number(Attributes.ApproximateNumberOfMessages),
        inFlight: Number(Attributes.ApproximateNumberOfMessagesNotVisible),
        delayed: Number(Attributes.ApproximateNumberOfMessagesDelayed),
      };
    },
    async redrive(deadLetterArn) {
      const source = plans.find(({ redrive }) => redrive?.deadLetterArn === deadLetterArn);
      if (!source) throw new Error(`${deadLetterArn} is not the dead-letter queue of a queue`);
      let moved = 0;
      for (;;) {
        const messages = await queues.receive(deadLetterArn, 10, 0);
        if (messages.length === 0) return moved;
        for (const { Body, MessageAttributes, ReceiptHandle } of messages) {
          await queues.send(source.arn, Body, MessageAttributes);
          await queues.delete(deadLetterArn, ReceiptHandle);
          moved++;
        }
      }
    },
    close: () => fauxqs.close(),
  };

  const service: AwsService = {
    needs({ operation, region, body }) {
      const action = actions[operation];
      if (!action) throw new UnknownOperationError('SQS', operation);
      const name = String(
        body.QueueName ??
          String(body.QueueUrl ?? '')
            .split('/')
            .at(-1),
      );
      const resource = `arn:aws:sqs:${region}:${localAccount}:${name}`;
      return [{ action, resource, resourcePolicy: find(resource)?.policy ?? [] }];
    },
    async handle({ operation, region, body }: AwsCall) {
      if (Number(body.DelaySeconds ?? 0) > maximumDelaySeconds) {
        return awsError(
          400,
          'InvalidParameterValue',
          `DelaySeconds must be >= 0 and <= ${maximumDelaySeconds}.`,
        );
      }
      const answer = await call(region, operation, {
        ...withScaledDelays(body),
        ...internalUrl(region, body.QueueUrl),
      });
      if (operation !== 'GetQueueUrl' || answer.status !== 200) return answer;
      return awsJson({ QueueUrl: `${origin}/${localAccount}/${body.QueueName}` });
    },
  };

  function withScaledDelays(body: AwsCall['body']): AwsCall['body'] {
    const { DelaySeconds, Entries } = body;
    return {
      ...body,
      ...(DelaySeconds === undefined ? {} : { DelaySeconds: scaled(Number(DelaySeconds)) }),
      ...(Array.isArray(Entries) ? { Entries: Entries.map(withScaledDelays) } : {}),
    };
  }

  /** The SDK's queue URL as fauxqs knows it. An unknown one stays: fauxqs answers QueueDoesNotExist. */
  function internalUrl(region: string, url: unknown): { QueueUrl?: string } {
    if (typeof url !== 'string') return {};
    const known = urls.get(`arn:aws:sqs:${region}:${localAccount}:${url.split('/').at(-1)}`);
    return { QueueUrl: known ?? url };
  }

  return { queues, service };
}

function deadLetterQueuesFirst(a: QueuePlan, b: QueuePlan): number {
  return Number(a.redrive !== undefined) - Number(b.redrive !== undefined);
}
