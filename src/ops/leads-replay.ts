import { publishLeadCreated } from '../leads/publish.ts';
import type { MailPosition } from '../leads/take-mail.ts';
import { parseMail } from '../mail/parse.ts';
import { systemClock } from '../platform/clock.ts';
import { errorCode } from '../platform/errors.ts';
import type { Command, CommandContext, ExitCode } from './command.ts';
import { type CommandLine, type CommandShape, UsageError } from './command-line.ts';
import { findStage } from './deployment.ts';
import { type MailArchive, openMailArchive } from './mail-archive.ts';
import { carryOut, planReplay, type ReplayDependencies, stateOf } from './replay-mail.ts';
import { type Reading, readAgain } from './replay-reading.ts';
import { type Replayed, replayedText } from './replay-report.ts';
import { type ReplayChoice, readChoice, selectionHelp } from './replay-selection.ts';
import { findEntry, findTargets, type LedgerEntry, type ReplaySelection } from './replay-targets.ts';
import { openStage, type StageAccess } from './stage-access.ts';
import { noMeter, terminalLog } from './terminal.ts';

export const leadsReplay: Command = {
  name: 'leads replay',
  usage:
    'leads replay (MAIL_KEY|LEAD_ID … | --quarantined | --unmapped | --uid N) --stage NAME [--yes] [--json]',
  summary: 'Reads mails again, stores what they tell now, and publishes what was not published.',
  options: [
    'stage',
    'yes',
    'json',
    'help',
    'quarantined',
    'unmapped',
    'since',
    'max',
    'uid',
    'mailbox',
    'stored',
  ],
  help: `${selectionHelp}

A mail is read from the mailbox (read-only) by its UID, else by its Message-ID, else from the text that its lead
holds; --stored reads that text without asking the mailbox. Without --yes nothing is written: shown is what the
mail is now and what it would be. With --yes it is stored under its mail key in this stage's Neon (neither in
the test mirror nor in the transitional table), its line points to the lead that it tells of now, and
LeadCreated is published unless it is out already. Safe any number of times.`,
  run,
};

/** One mail to read again; `entry` is what the ledger has of it. */
interface Target {
  position: MailPosition;
  entry?: LedgerEntry;
  read(): Promise<Reading | undefined>;
}

async function run(line: CommandLine<CommandShape>, context: CommandContext): Promise<ExitCode> {
  const { yes = false, json = false, stored = false } = line.options;
  const { terminal, deployment } = context;
  const choice = readChoice(line, systemClock.now());
  if (stored && choice.kind === 'uid')
    throw new UsageError('--uid is about the mailbox, --stored leaves it alone.');
  const log = terminalLog(terminal);
  const stage = openStage(deployment, findStage(deployment, line.options.stage), log);
  const publishing = { bus: stage.bus, stage: stage.settings.name, log, meter: noMeter };
  const deps: ReplayDependencies = {
    neon: stage.neon,
    directory: stage.directory,
    publish: (persisted) => publishLeadCreated(publishing, persisted),
    now: () => systemClock.now(),
  };
  const archive = stored ? undefined : openMailArchive(await stage.imap());
  try {
    const targets = await chooseTargets(stage, archive, choice);
    if ('notFound' in targets) {
      terminal.err(`Not found in stage ${stage.settings.name}: ${targets.notFound}. Nothing was changed.`);
      return 1;
    }
    const mails: Replayed[] = [];
    for (const target of targets) {
      const replayed = await replay(deps, target, yes);
      mails.push(replayed);
      if (!json) terminal.out(replayedText(replayed));
    }
    if (json) terminal.out(JSON.stringify({ dryRun: !yes, mails }));
    else
      terminal.out(
        `Mails: ${mails.length}. ${yes ? '' : 'Dry run: nothing was changed. --yes does it.'}`.trim(),
      );
    return mails.some(({ problem }) => problem !== undefined) ? 1 : 0;
  } finally {
    await archive?.close();
  }
}

async function chooseTargets(
  { neon }: StageAccess,
  archive: MailArchive | undefined,
  choice: ReplayChoice,
): Promise<Target[] | { notFound: string }> {
  if (choice.kind === 'uid') return targetByUid(neon, archive, choice);
  const entries = await neon((db) => findTargets(db, choice));
  const missing = missingNames(choice, entries);
  if (missing.length > 0) return { notFound: missing.join(', ') };
  return entries.map((entry) => ({
    position: positionOf(entry),
    entry,
    read: () => readAgain(archive, entry),
  }));
}

/** A typing error in one name must not let the others go ahead. */
function missingNames(selection: ReplaySelection, entries: readonly LedgerEntry[]): string[] {
  if (selection.kind !== 'named') return [];
  const known = new Set(entries.flatMap(({ line }) => [line.mailKey, line.leadId]));
  return [...selection.mailKeys, ...selection.leadIds].filter((name) => !known.has(name));
}

async function targetByUid(
  neon: StageAccess['neon'],
  archive: MailArchive | undefined,
  { mailbox, uid }: { mailbox: string; uid: number },
): Promise<Target[] | { notFound: string }> {
  const found = await archive?.now(mailbox, uid);
  if (!found) return { notFound: `UID ${uid} in ${mailbox}` };
  const parsed = await parseMail(found.mail.source);
  const position = { mailbox, uidValidity: found.uidValidity, uid, receivedAt: found.mail.receivedAt };
  const entry = await neon((db) => findEntry(db, position, parsed.mailKey));
  return [
    {
      position: entry ? positionOf(entry) : position,
      ...(entry && { entry }),
      read: async () => ({ from: 'mailbox', parsed }),
    },
  ];
}

/** The ledger's arrival time counts, since the lead's id is made of it. */
function positionOf({ line: { mailbox, uidValidity, uid, receivedAt } }: LedgerEntry): MailPosition {
  return { mailbox, uidValidity, uid, receivedAt };
}

/** One mail's trouble doesn't stop the next. */
async function replay(
  deps: ReplayDependencies,
  { position, entry, read }: Target,
  yes: boolean,
): Promise<Replayed> {
  const { receivedAt } = position;
  const replayed: Replayed = {
    mailKey: entry?.line.mailKey ?? '',
    receivedAt,
    ...(entry && { before: stateOf(entry) }),
  };
  try {
    const reading = await read();
    if (!reading) return { ...replayed, problem: 'nothing_to_read' };
    replayed.readFrom = reading.from;
    const plan = await planReplay(deps, reading, position, entry);
    if ('refused' in plan) return { ...replayed, problem: plan.refused };
    const { record, after, event } = plan;
    Object.assign(replayed, { mailKey: record.mail.mailKey, after, event });
    return yes ? { ...replayed, ...(await carryOut(deps, plan)) } : replayed;
  } catch (error) {
    return { ...replayed, problem: errorCode(error) };
  }
}
