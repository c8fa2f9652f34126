import type { Store } from '../leads/store.ts';
import { StoresUnavailableError } from '../leads/store-directory.ts';
import type { Command, CommandContext, ExitCode } from './command.ts';
import { type CommandLine, type CommandShape, UsageError } from './command-line.ts';
import { findStage } from './deployment.ts';
import { lookIntoQueues } from './lead-messages.ts';
import { parseLeadQuery } from './lead-query.ts';
import { leadWayText, otherMailText, queueText } from './lead-way-text.ts';
import { readLeadWays, type ShownLead, shownLeads } from './lead-ways.ts';
import { openStage, type StageAccess } from './stage-access.ts';
import { terminalLog } from './terminal.ts';

export const leadsShow: Command = {
  name: 'leads show',
  usage: 'leads show WHO --stage NAME [--json]',
  summary: "Shows a lead's whole way: mail, row, event, contact, task, timeline, messages in queues.",
  options: ['stage', 'json', 'help'],
  help: `WHO is a lead id (in quotes), a mail key, an e-mail address or a phone number. Changes nothing.
Shows the ${shownLeads} newest leads, and mails of that person that made no lead.

Dead-letter queues are looked into, which hides each message from others for a second. The work queues are not,
since there a look would count as a receive: of them only the numbers of messages are shown.`,
  run,
};

async function run({ args, options }: CommandLine<CommandShape>, context: CommandContext): Promise<ExitCode> {
  const { deployment, terminal } = context;
  const [who, ...others] = args;
  if (who === undefined || others.length > 0) {
    throw new UsageError("'leads show' needs one lead id, mail key, e-mail address or phone number.");
  }
  const query = parseLeadQuery(who);
  const stage = openStage(deployment, findStage(deployment, options.stage), terminalLog(terminal));

  const ways = await stage.neon((db) => readLeadWays(db, query));
  const queues = await lookIntoQueues(stage.queue, query, ways);
  const found =
    ways.leads.length +
    ways.otherMails.length +
    queues.reduce((sum, { messages }) => sum + messages.length, 0);

  if (options.json) {
    terminal.out(JSON.stringify({ query, ...ways, queues }));
  } else {
    for (const way of ways.leads) {
      const store = await findStore(stage, way.lead);
      terminal.out(`${leadWayText(way, stage.timeZoneOf(store), store?.franchise)}\n`);
    }
    for (const mail of ways.otherMails) terminal.out(`${otherMailText(mail)}\n`);
    terminal.out(queueText(queues));
  }
  if (found === 0) terminal.err(`Nothing found of ${query.kind} ${who} in stage ${stage.settings.name}.`);
  return found === 0 ? 1 : 0;
}

/** Without StoresV2 the name is missing and the zone is the stage's: the lead is what is asked for. */
async function findStore({ directory }: StageAccess, { storeId }: ShownLead): Promise<Store | undefined> {
  if (storeId === null) return undefined;
  return directory.findById(storeId).catch((error: unknown) => {
    if (error instanceof StoresUnavailableError) return undefined;
    throw error;
  });
}
