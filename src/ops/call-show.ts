import type { Store } from '../leads/store.ts';
import { StoresUnavailableError } from '../leads/store-directory.ts';
import { type CallLook, lookForCalls } from './call-messages.ts';
import { parseCallQuery } from './call-query.ts';
import { callWayText } from './call-way-text.ts';
import { readCallWays, type ShownCall, shownCalls } from './call-ways.ts';
import type { Command, CommandContext, ExitCode } from './command.ts';
import { type CommandLine, type CommandShape, UsageError } from './command-line.ts';
import { findStage } from './deployment.ts';
import { openStage, type StageAccess } from './stage-access.ts';
import { field, terminalLog } from './terminal.ts';

export const callShow: Command = {
  name: 'call show',
  usage: 'call show WHICH --stage NAME [--json]',
  summary: "Shows a call's whole way: row, call log, recordings, voicemail, transcripts, timeline, messages.",
  options: ['stage', 'json', 'help'],
  help: `WHICH is a telephony session id (s-…) or a phone number. Changes nothing.
Shows the ${shownCalls} newest calls. Transcripts are shown by their length; --json has their text.

transcribe-dlq is looked into, which hides each message from others for a second. Of transcribe-queue only the
numbers of messages are shown, since there a look would count as a receive.`,
  run,
};

async function run({ args, options }: CommandLine<CommandShape>, context: CommandContext): Promise<ExitCode> {
  const { deployment, terminal } = context;
  const [which, ...others] = args;
  if (which === undefined || others.length > 0) {
    throw new UsageError("'call show' needs one telephony session id or phone number.");
  }
  const query = parseCallQuery(which);
  const stage = openStage(deployment, findStage(deployment, options.stage), terminalLog(terminal));
  const calls = await stage.neon((db) => readCallWays(db, query));
  const sessions = new Set(calls.map(({ call }) => call.telephonySessionId));
  if (query.kind === 'telephony session') sessions.add(query.telephonySessionId);
  const queues = await lookForCalls(stage.queue, sessions);
  const found = calls.length + queues.reduce((sum, { messages }) => sum + messages.length, 0);

  if (options.json) terminal.out(JSON.stringify({ query, calls, queues }));
  else {
    for (const way of calls) {
      const store = await findStore(stage, way.call);
      terminal.out(`${callWayText(way, stage.timeZoneOf(store), store?.franchise)}\n`);
    }
    terminal.out(queueText(queues));
  }
  if (found === 0) terminal.err(`Nothing found of ${query.kind} ${which} in stage ${stage.settings.name}.`);
  return found === 0 ? 1 : 0;
}

function queueText(queues: readonly CallLook[]): string {
  return [
    'Queues',
    ...queues.flatMap(({ queue, depth, looked, messages }) => [
      field(
        queue,
        `${depth.visible} visible, ${depth.inFlight} in flight, ${depth.delayed} delayed${looked === undefined ? '' : `; looked at ${looked}`}`,
      ),
      ...messages.map(({ messageId, kind, sentAt }) =>
        field('', `${kind} message ${messageId}, sent ${sentAt.toISOString()}`),
      ),
    ]),
  ].join('\n');
}

/** Without StoresV2 the name is missing and the zone is the stage's: the call is what is asked for. */
async function findStore({ directory }: StageAccess, { storeId }: ShownCall): Promise<Store | undefined> {
  if (storeId === null) return undefined;
  return directory.findById(storeId).catch((error: unknown) => {
    if (error instanceof StoresUnavailableError) return undefined;
    throw error;
  });
}
