import { readFileSync, statSync } from 'node:fs';
import type { LeadInput } from '../leads/lead.ts';
import { missingGuardFields } from '../leads/lead-created.ts';
import { createStoreDirectory, type StoreDirectory, type StoreMatch } from '../leads/store-directory.ts';
import { toRecord } from '../leads/take-mail.ts';
import { parseMail } from '../mail/parse.ts';
import type { ParsedMail } from '../mail/parsed-mail.ts';
import { systemClock } from '../platform/clock.ts';
import type { Command, CommandContext, ExitCode } from './command.ts';
import { type CommandLine, type CommandShape, UsageError } from './command-line.ts';
import { findStage } from './deployment.ts';
import { parseJson } from './message-mail.ts';
import { explainOutcome } from './reasons.ts';
import { openStage } from './stage-access.ts';
import { field, list, terminalLog } from './terminal.ts';

export const mailTest: Command = {
  name: 'mail test',
  usage: 'mail test FILE.eml … [--stores FILE.json | --stage NAME] [--json]',
  summary: 'Shows what the poller would make of a mail: fields, store, lead id, outcome and why.',
  options: ['stage', 'stores', 'json', 'help'],
  help: `Reads the files as the poller reads mail and touches nothing. A file's modification time counts as its arrival.

  --stores FILE  looks the store up in this JSON array of StoresV2 items; no AWS is needed then
  --stage NAME   looks the store up in the stage's StoresV2 table
  neither        the store isn't looked up`,
  run,
};

interface TestedMail {
  file: string;
  mailKey: string;
  outcome: ParsedMail['outcome'];
  reason?: string;
  why: string;
  format?: string;
  receivedAt: Date;
  recipients: ParsedMail['recipients'];
  fields: ParsedMail['fields'];
  /** `null`: no store has any of the recipients. Absent: not looked up. */
  store?: { storeId: string; franchise: string; recipient: string; ambiguous: boolean } | null;
  lead?: Omit<LeadInput, 'rawBody'>;
  /** What the lead lacks to be published; empty: LeadCreated goes out. */
  missing?: string[];
}

async function run({ args, options }: CommandLine<CommandShape>, context: CommandContext): Promise<ExitCode> {
  if (args.length === 0) throw new UsageError("'mail test' needs a file: FILE.eml.");
  const files = args.map((file) => ({ file, ...readMailFile(file) }));
  const directory = directoryOf(options, context);
  const mails: TestedMail[] = [];
  for (const { file, source, receivedAt } of files) {
    const parsed = await parseMail(source);
    const match = directory && ((await directory.findByRecipients(parsed.recipients)) ?? null);
    mails.push({ file, ...judge(parsed, receivedAt, match) });
  }
  const { out } = context.terminal;
  out(options.json ? JSON.stringify({ mails }) : mails.map(describe).join('\n\n'));
  return 0;
}

function readMailFile(file: string): { source: Buffer; receivedAt: Date } {
  try {
    return { source: readFileSync(file), receivedAt: statSync(file).mtime };
  } catch (error) {
    throw new UsageError(`${file} can't be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
}

function directoryOf(
  { stage, stores }: CommandLine<CommandShape>['options'],
  { deployment, terminal }: CommandContext,
): StoreDirectory | undefined {
  if (stage !== undefined && stores !== undefined) throw new UsageError('Give either --stage or --stores.');
  const log = terminalLog(terminal);
  if (stores !== undefined) {
    const items = parseJson(readMailFile(stores).source.toString('utf8'));
    if (!Array.isArray(items)) throw new UsageError(`${stores}: a JSON array of StoresV2 items is expected.`);
    return createStoreDirectory(async () => items, systemClock, log);
  }
  return stage === undefined ? undefined : openStage(deployment, findStage(deployment, stage), log).directory;
}

function judge(
  parsed: ParsedMail,
  receivedAt: Date,
  match: StoreMatch | null | undefined,
): Omit<TestedMail, 'file'> {
  const { mailKey, outcome, reason, format, recipients, fields } = parsed;
  const position = { mailbox: 'INBOX', uidValidity: 0, uid: 1, receivedAt };
  const { lead } = toRecord(parsed, position, match ?? undefined);
  return {
    mailKey,
    outcome,
    ...(reason && { reason }),
    why: explainOutcome(outcome, reason),
    ...(format && { format }),
    receivedAt,
    recipients,
    fields,
    ...(match !== undefined && { store: match && describeStore(match) }),
    ...(lead && { lead: withoutBody(lead) }),
    ...(lead && outcome === 'lead' && { missing: missingGuardFields(lead) }),
  };
}

function describeStore({ store, recipient, ambiguous }: StoreMatch) {
  return { storeId: store.storeId, franchise: store.franchise, recipient: recipient.address, ambiguous };
}

function withoutBody({ rawBody: _, ...lead }: LeadInput) {
  return lead;
}

function describe(mail: TestedMail): string {
  const { file, mailKey, outcome, reason, format, receivedAt, recipients, fields, lead } = mail;
  const found = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return [
    file,
    field('outcome', explainOutcome(outcome, reason)),
    field('mail key', mailKey),
    field('format', format ?? 'none'),
    field('arrived', `${receivedAt.toISOString()} (the file's time)`),
    field('for', list(...recipients.map(({ source, address }) => `${address} (${source})`)) || 'nobody'),
    field('store', storeText(mail)),
    field('fields', list(...found) || 'none'),
    ...(lead ? [field('lead', list(lead.id, lead.leadType, lead.parseStatus))] : []),
    ...(lead && outcome === 'lead' ? [field('event', eventText(mail))] : []),
  ].join('\n');
}

function storeText({ store }: TestedMail): string {
  if (store === undefined) return 'not looked up (--stores or --stage)';
  if (store === null) return 'none has any of these addresses';
  const { franchise, storeId, recipient, ambiguous } = store;
  const doubt = ambiguous ? '; the same header names another store, too' : '';
  return `${franchise}, ${storeId}, by ${recipient}${doubt}`;
}

function eventText({ store, missing = [] }: TestedMail): string {
  if (store === undefined) return 'depends on the store';
  return missing.length === 0 ? 'LeadCreated' : `none: the lead lacks ${missing.join(', ')}`;
}
