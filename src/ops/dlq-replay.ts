import * as z from 'zod';
import { errorCode } from '../platform/errors.ts';
import type { BusEvent, EventBus } from '../platform/events.ts';
import { callOfMessage } from './call-messages.ts';
import type { Command, CommandContext, ExitCode } from './command.ts';
import { type CommandLine, type CommandShape, readCount, UsageError } from './command-line.ts';
import { type DeadLetterQueueName, deadLetterQueues } from './dead-letter-queues.ts';
import { type Deployment, findStage } from './deployment.ts';
import { mailOfMessage, parseJson } from './message-mail.ts';
import { messagesOf, type OperatorQueue, peek, type QueueMessage } from './queues.ts';
import { openStage, type StageAccess } from './stage-access.ts';
import { list, terminalLog } from './terminal.ts';

const names = Object.keys(deadLetterQueues).join(', ');
/** How many messages a dry run shows. */
const shown = 10;
/** Time to send one batch of ten; what is not deleted by then is in the queue again, whatever happens here. */
const holdSeconds = 60;
/** So many failures in a row say that the destination is at fault, not the messages. */
const failuresToStop = 3;

export const dlqReplay: Command = {
  name: 'dlq replay',
  usage: 'dlq replay QUEUE --stage NAME [--max N] [--yes] [--json]',
  summary: 'Sends the messages of a dead-letter queue back to where they belong.',
  options: ['stage', 'max', 'yes', 'json', 'help'],
  help: `QUEUE is one of ${names}.

Without --yes: shows up to ${shown} of the messages (each is hidden from others for a second) and changes nothing.
With --yes: each message is sent to its queue (for forwarding-dlq: published on the event bus) and only then
deleted. Messages that were sent after the start stay: what fails again at once is not sent in a circle.

  --max N        at most N messages (default: all that are there)

Mend the cause first. Safe to run twice, and to interrupt: a message is at worst delivered twice, which ends
in the same rows. It is a new message then: three receives again.`,
  run,
};

/** Sends a message where it belongs. */
type Deliver = (message: QueueMessage) => Promise<void>;

async function run(line: CommandLine<CommandShape>, context: CommandContext): Promise<ExitCode> {
  const { args, options } = line;
  const [typed = '', ...others] = args;
  const name = baseNameOf(typed, context.deployment, options.stage);
  if (!isDeadLetterQueue(name) || others.length > 0) {
    throw new UsageError(`'dlq replay' takes the name of one dead-letter queue: ${names}.`);
  }
  const maximum = readCount(options, 'max') ?? Number.POSITIVE_INFINITY;
  const stage = openStage(
    context.deployment,
    findStage(context.deployment, options.stage),
    terminalLog(context.terminal),
  );
  const { side, destination } = deadLetterQueues[name];
  const queue = await stage.queue(name, side);
  const job = { queue, destination, json: options.json === true, context };
  if (!options.yes) return preview(job, Math.min(maximum, shown));
  return replay(job, await deliveryTo(stage, name), maximum);
}

/** Alarms and the console have the whole name, such as `transcribe-dlq-us-west-2`. */
function baseNameOf(typed: string, { regions, physicalName }: Deployment, stage: string | undefined): string {
  const known = Object.entries(deadLetterQueues).find(
    ([base, { side }]) => stage !== undefined && physicalName(base, stage, regions[side]) === typed,
  );
  return known?.[0] ?? typed;
}

function isDeadLetterQueue(name: string): name is DeadLetterQueueName {
  return Object.hasOwn(deadLetterQueues, name);
}

interface Job {
  queue: OperatorQueue;
  destination: string;
  json: boolean;
  context: CommandContext;
}

async function preview({ queue, destination, json, context }: Job, maximum: number): Promise<ExitCode> {
  const { visible } = await queue.depth();
  const messages = (await peek(queue, maximum)).map(summarize);
  const { out } = context.terminal;
  if (json) {
    out(JSON.stringify({ queue: queue.name, destination, dryRun: true, visible, messages }));
    return 0;
  }
  out(`${queue.name}: about ${visible} messages, would go to: ${destination}`);
  for (const message of messages) out(describe(message));
  out(messages.length === 0 ? 'Nothing to replay.' : 'Dry run: nothing was changed. --yes sends them.');
  return 0;
}

interface Replayed extends ReturnType<typeof summarize> {
  /** A code; absent when it was sent. */
  problem?: string;
}

async function replay(
  { queue, destination, json, context }: Job,
  deliver: Deliver,
  maximum: number,
): Promise<ExitCode> {
  const { out } = context.terminal;
  const messages: Replayed[] = [];
  const start = new Date();
  let failuresInARow = 0;
  for await (const message of messagesOf(queue, holdSeconds, maximum)) {
    // It has failed again meanwhile: it must not go round in a circle.
    if (message.sentAt >= start) continue;
    const problem = await replayOne(queue, deliver, message);
    const replayed = { ...summarize(message), ...(problem ? { problem } : {}) };
    failuresInARow = problem ? failuresInARow + 1 : 0;
    messages.push(replayed);
    if (!json) out(describe(replayed));
    if (failuresInARow >= failuresToStop) break;
  }
  const failed = messages.filter(({ problem }) => problem).length;
  const sent = messages.length - failed;
  if (json) out(JSON.stringify({ queue: queue.name, destination, dryRun: false, sent, failed, messages }));
  else {
    out(`${sent} sent to: ${destination}${failed > 0 ? `; ${failed} left in ${queue.name}` : ''}.`);
    if (failuresInARow >= failuresToStop) out(`Stopped after ${failuresToStop} failures in a row.`);
  }
  return failed > 0 ? 1 : 0;
}

/** Sent first, deleted second: a message that is in both places is delivered twice, one that is in none is lost. */
async function replayOne(
  queue: OperatorQueue,
  deliver: Deliver,
  message: QueueMessage,
): Promise<string | undefined> {
  try {
    await deliver(message);
    await queue.delete(message);
    return undefined;
  } catch (error) {
    return errorCode(error);
  }
}

async function deliveryTo(stage: StageAccess, name: DeadLetterQueueName): Promise<Deliver> {
  const { side, destination } = deadLetterQueues[name];
  if (destination === 'event bus') return publishAgain(stage.bus);
  const queue = await stage.queue(destination, side);
  return ({ body }) => queue.send(body);
}

const envelopeSchema = z
  .object({ source: z.string(), 'detail-type': z.string(), detail: z.record(z.string(), z.unknown()) })
  .transform(({ source, 'detail-type': detailType, detail }): BusEvent => ({ source, detailType, detail }));

/** The body is no event: it stays where it is. */
class NoEventError extends Error {
  override name = 'NoEventError';
}

function publishAgain(bus: EventBus): Deliver {
  return async ({ body }) => {
    const { data } = envelopeSchema.safeParse(parseJson(body));
    if (!data) throw new NoEventError('The message is no EventBridge event');
    await bus.publish(data);
  };
}

function summarize({ id, body, sentAt, errorCode: code }: QueueMessage) {
  return {
    messageId: id,
    sentAt,
    ...(code && { errorCode: code }),
    ...mailOfMessage(body),
    ...callOfMessage(body),
  };
}

function describe({ messageId, sentAt, errorCode: code, problem, ...message }: Replayed): string {
  const { kind, mailKey, leadId, telephonySessionId } = message;
  return `  ${messageId}  ${list(
    kind,
    `sent ${sentAt.toISOString()}`,
    mailKey && `mail ${mailKey}`,
    leadId,
    telephonySessionId && `call ${telephonySessionId}`,
    code && `EventBridge said ${code}`,
    problem && `LEFT: ${problem}`,
  )}`;
}
