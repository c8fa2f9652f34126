import { randomUUID } from 'node:crypto';
import type { Store } from '../leads/store.ts';
import { appendMail } from '../mail/imap-append.ts';
import { parseMail } from '../mail/parse.ts';
import { recipientOf } from '../mail/recipients.ts';
import type { Command, CommandContext, ExitCode } from './command.ts';
import { type CommandLine, type CommandShape, type Options, readCount, UsageError } from './command-line.ts';
import { findStage } from './deployment.ts';
import { openMailArchive } from './mail-archive.ts';
import type { Script } from './run.ts';
import { followMail, type StepEnd } from './smoke-follow.ts';
import { buildSmokeMail, chooseFreePhone } from './smoke-mail.ts';
import { readSmokeState, type SmokeState } from './smoke-steps.ts';
import { openStage, type StageAccess } from './stage-access.ts';
import { terminalLog } from './terminal.ts';

/** The stage whose tasks people act on. */
const liveStage = 'prod';
/** The poller's five minutes, and some for the way. */
const defaultWaitSeconds = 420;
const pollMs = 1_000;

const command: Command = {
  name: '',
  usage: '--stage NAME [--to ADDRESS] [--wait SECONDS] [--yes] [--json]',
  summary: 'Sends a known mail through a deployed stage and reports each step.',
  options: ['stage', 'to', 'wait', 'yes', 'json', 'help'],
  help: `Puts the mail of an invented person with a fictional telephone number into the stage's mailbox (IMAP APPEND:
nobody is sent a mail) and follows it: ledger line, lead row, event, SEEN, contact, task, timeline row. Ends with 1
at the first step that doesn't come, and says where to look.

  --to ADDRESS   whose lead it is to be: a store's leadEmail, or lead-tracking+ID@…
                 Default: the first store of StoresV2, by leadEmail; ${liveStage} has no default
  --wait SECONDS how long to wait for each step (default ${defaultWaitSeconds}: the poller runs every five minutes)
  --yes          needed for ${liveStage}, where staff of the store get a real task: without it nothing is sent

Nothing is removed afterwards: what is left is listed, with the SQL that removes it.`,
  run,
};

/** `npm run smoke`. */
export const smoke: Script = { call: 'npm run smoke --', about: command.summary, commands: [command] };

async function run({ args, options }: CommandLine<CommandShape>, context: CommandContext): Promise<ExitCode> {
  const { deployment, terminal } = context;
  if (args.length > 0) throw new UsageError(`'${args[0]}' is one argument too many.`);
  const waitMs = (readCount(options, 'wait') ?? defaultWaitSeconds) * 1_000;
  const settings = findStage(deployment, options.stage);
  const live = settings.name === liveStage;
  if (live && options.to === undefined) {
    throw new UsageError(`--to is needed for ${liveStage}: the store's staff get a real task.`);
  }
  const stage = openStage(deployment, settings, terminalLog(terminal));
  const { store, to } = await chooseStore(stage, options.to);
  const say = options.json ? () => undefined : terminal.out;
  say(`Smoke test of stage ${settings.name}: a lead for ${store.franchise}, to ${to}`);
  if (live && !options.yes) {
    say('Dry run: nothing was sent. --yes sends it.');
    if (options.json) terminal.out(JSON.stringify({ dryRun: true, store: store.storeId, to }));
    return 0;
  }
  const result = await sendAndFollow(stage, store, to, { waitMs, say });
  if (options.json)
    terminal.out(JSON.stringify({ stage: settings.name, store: store.storeId, to, ...result }));
  say(`${result.ok ? 'The lead went all the way.' : 'The lead did not arrive.'} Left behind:`);
  for (const line of result.left) say(line);
  return result.ok ? 0 : 1;
}

/** @throws Error when no store has the address, or there is none at all */
async function chooseStore(
  { directory }: StageAccess,
  to: Options['to'],
): Promise<{ store: Store; to: string }> {
  if (to !== undefined) {
    const match = await directory.findByRecipients([recipientOf('to', to)]);
    if (!match) throw new Error(`No store of StoresV2 has ${to}. Nothing was sent.`);
    return { store: match.store, to };
  }
  const [store] = (await directory.all()).sort((a, b) => (a.leadEmail < b.leadEmail ? -1 : 1));
  if (!store) throw new Error('StoresV2 has no store. Nothing was sent.');
  return { store, to: store.leadEmail };
}

async function sendAndFollow(
  stage: StageAccess,
  store: Store,
  to: string,
  { waitMs, say }: { waitMs: number; say(text: string): void },
) {
  const imap = await stage.imap();
  const folder = imap.mailboxes[0] ?? 'INBOX';
  const phone = await stage.neon((db) => chooseFreePhone(db, store.storeId));
  const mail = buildSmokeMail({ id: randomUUID(), stage: stage.settings.name, to, phone, now: new Date() });
  const { mailKey } = await parseMail(mail.source);
  await appendMail(imap, folder, mail.source);

  const sentAt = performance.now();
  const steps: (StepEnd & { seconds: number })[] = [];
  const tell = (end: StepEnd) => {
    const seconds = Math.round((performance.now() - sentAt) / 100) / 10;
    steps.push({ ...end, seconds });
    say(`  ${end.ok ? 'ok    ' : 'FAILED'} ${seconds.toFixed(1).padStart(6)} s  ${end.step}: ${end.detail}`);
  };
  tell({ step: 'mail in the mailbox', ok: true, detail: `${folder}, mail key ${mailKey}` });
  const archive = openMailArchive(imap);
  const { ok, state } = await followMail({
    read: () => stage.neon((db) => readSmokeState(db, mailKey)),
    context: {
      storeId: store.storeId.toLowerCase(),
      timeZone: stage.timeZoneOf(store),
      isSeen: async (line) => (await archive.at(line))?.seen === true,
    },
    waitMs,
    pollMs,
    tell,
  });
  await archive.close();
  return { ok, phone, mailKey, steps, left: leftBehind(mail.messageId, folder, mailKey, state) };
}

/** What the run has made, and the SQL that removes it: on purpose nothing that this program does. */
function leftBehind(
  messageId: string,
  folder: string,
  mailKey: string,
  { lead, contact }: SmokeState,
): string[] {
  const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
  return [
    `-- the mail ${messageId} in ${folder}; copies in the test mirror and in LeadTracking-v2, where the stage has them`,
    ...(lead
      ? [
          `delete from tasks where source_lead_id = ${literal(lead.id)};`,
          `delete from contact_timeline where entity_type = 'lead' and entity_id = ${literal(lead.id)};`,
          `delete from leads where id = ${literal(lead.id)};`,
        ]
      : []),
    ...(contact
      ? [
          `delete from contacts where phone = ${literal(contact.phone)} and store_id = ${literal(contact.storeId)};`,
        ]
      : []),
    `delete from lead_mails where mail_key = ${literal(mailKey)};`,
  ];
}
