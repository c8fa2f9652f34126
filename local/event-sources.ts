import { availableParallelism } from 'node:os';
import type { EventSourceMappingPlan } from './assembly/event-source-mappings.ts';
import { decide } from './assembly/iam.ts';
import type { QueuePlan } from './assembly/queues.ts';
import type { RolePlan } from './assembly/roles.ts';
import type { Journal } from './journal.ts';
import type { LocalFunction } from './runtime/function.ts';
import type { InvocationResult } from './runtime/runtime-api.ts';
import type { Queues, SqsMessage } from './services/sqs.ts';

/** A running mapping: it reads its queue until it is stopped. */
export interface EventSource {
  stop(): Promise<void>;
}

/** Lambda would refuse to create the mapping. */
class MappingRefusedError extends Error {
  override name = 'MappingRefusedError';
}

/** Lambda begins with up to five batches at a time; each needs a process, so here as many as there are cores. */
const maximumParallelBatches = Math.max(2, Math.min(5, availableParallelism()));
const waitSeconds = 1;

/** Lambda reads the queue as the function's role. */
const requiredActions = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];

/**
 * Refuses what Lambda refuses (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html).
 *
 * @throws MappingRefusedError
 */
export function checkMapping(
  mapping: EventSourceMappingPlan,
  queue: QueuePlan,
  fn: LocalFunction['plan'],
  role: RolePlan,
): void {
  if (queue.visibilitySeconds < fn.timeoutSeconds) {
    throw new MappingRefusedError(
      `${mapping.path}: the visibility time-out of ${queue.name} (${queue.visibilitySeconds} s) is shorter than the time-out of ${fn.name} (${fn.timeoutSeconds} s)`,
    );
  }
  if (queue.region !== fn.region) {
    throw new MappingRefusedError(`${mapping.path}: ${queue.name} and ${fn.name} are in different regions`);
  }
  for (const action of requiredActions) {
    const request = { action, resource: queue.arn, principal: `AWS:${role.arn}` };
    const context = { 'aws:SecureTransport': ['true'] };
    if (decide({ ...request, context }, { identity: role.statements }) !== 'allowed') {
      throw new MappingRefusedError(`${mapping.path}: ${role.arn} may not ${action} on ${queue.name}`);
    }
  }
}

/**
 * Reads the queue and invokes the function with batches, as Lambda's event source mapping does: what
 * succeeded is deleted, the rest comes back when its visibility time-out ends.
 */
export function startEventSource(
  mapping: EventSourceMappingPlan,
  fn: LocalFunction,
  queues: Queues,
  journal: Journal,
): EventSource {
  const parallel = Math.min(mapping.maximumConcurrency ?? maximumParallelBatches, maximumParallelBatches);
  const running = new Set<Promise<void>>();
  let stopped = false;

  async function readQueue(): Promise<void> {
    while (!stopped) {
      if (running.size >= parallel) {
        await Promise.race(running);
        continue;
      }
      const messages = await queues.receive(mapping.queueArn, mapping.batchSize, waitSeconds);
      if (messages.length === 0) continue;
      const batch = processBatch(messages).finally(() => running.delete(batch));
      running.add(batch);
    }
    await Promise.all(running);
  }

  async function processBatch(messages: SqsMessage[]): Promise<void> {
    const records = messages.map((message) => sqsRecord(message, mapping.queueArn, fn.plan.region));
    const result = await fn.invoke({ Records: records });
    const failed = failedMessages(result, messages, mapping.reportBatchItemFailures);
    if (failed.problem) journal.fail('mapping_failed', fn.plan.name, failed.problem);
    else if (result.ok && failed.ids.size > 0) {
      journal.fail('handler_error', fn.plan.name, `${failed.ids.size} of ${messages.length} messages failed`);
    }
    for (const message of messages) {
      if (!failed.ids.has(message.MessageId)) await queues.delete(mapping.queueArn, message.ReceiptHandle);
    }
  }

  const loop = readQueue().catch((error: unknown) => {
    if (!stopped) journal.fail('mapping_failed', mapping.path, String(error));
  });
  return {
    async stop() {
      stopped = true;
      await loop;
    },
  };
}

interface FailedMessages {
  ids: Set<string>;
  problem?: string;
}

/**
 * The messages that stay in the queue. An answer that Lambda can't read fails the whole batch
 * (https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html).
 */
export function failedMessages(
  result: InvocationResult,
  messages: readonly Pick<SqsMessage, 'MessageId'>[],
  reportBatchItemFailures: boolean,
): FailedMessages {
  const all = new Set(messages.map(({ MessageId }) => MessageId));
  if (!result.ok) return { ids: all };
  if (!reportBatchItemFailures) return { ids: new Set() };
  const { batchItemFailures } = (result.payload ?? {}) as { batchItemFailures?: unknown };
  if (batchItemFailures === undefined || batchItemFailures === null) return { ids: new Set() };
  if (!Array.isArray(batchItemFailures)) return { ids: all, problem: 'batchItemFailures is not a list' };
  const ids = batchItemFailures.map(
    (failure) => (failure as { itemIdentifier?: unknown } | null)?.itemIdentifier,
  );
  const strange = ids.find((id) => typeof id !== 'string' || !all.has(id));
  if (ids.length > 0 && (strange !== undefined || ids.includes(undefined))) {
    return {
      ids: all,
      problem: `batchItemFailures names no message of the batch: ${JSON.stringify(strange)}`,
    };
  }
  return { ids: new Set(ids as string[]) };
}

/** The message as the handler gets it; SQS's own names start with a capital. */
function sqsRecord(message: SqsMessage, queueArn: string, region: string) {
  const attributes = Object.entries(message.MessageAttributes ?? {});
  return {
    messageId: message.MessageId,
    receiptHandle: message.ReceiptHandle,
    body: message.Body,
    attributes: message.Attributes ?? {},
    messageAttributes: Object.fromEntries(
      attributes.map(([name, { DataType, StringValue, BinaryValue }]) => [
        name,
        { dataType: DataType, stringValue: StringValue, binaryValue: BinaryValue },
      ]),
    ),
    md5OfBody: message.MD5OfBody,
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: region,
  };
}
