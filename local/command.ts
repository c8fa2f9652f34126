import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sampleMails, watchFolder } from './feed.ts';
import { createJournal, type Journal } from './journal.ts';
import { launch } from './launch.ts';
import { help, isCallFile, parseOptions, type RunOptions, readCalls, UsageError } from './options.ts';
import { startPageServer } from './page-server.ts';
import { askPassword } from './password.ts';
import { reportTables, tableText } from './report.ts';
import type { Run } from './run.ts';
import { settle } from './settle.ts';
import type { Snapshot } from './snapshot.ts';

/** What is not as in AWS, for who wonders about the times. */
const paceNote =
  'Calls: a minute of delay in SQS is a second here (90 s after a hang-up, 5 min before a transcript); sample calls ended two minutes ago.';
const exitCodes = { fine: 0, failed: 1, usage: 2 };
/** How often a real mailbox is looked into for new mail. */
const remoteIntervalMs = 60_000;

/** `npm start`: runs the command and answers its exit code. */
export async function localCommand(argv: readonly string[]): Promise<number> {
  try {
    const options = parseOptions(argv);
    if (options === 'help') {
      await print(help);
      return exitCodes.fine;
    }
    const password = options.imap ? await askPassword(options.imap) : '';
    return await runLocally(options, password);
  } catch (error) {
    if (!(error instanceof UsageError)) {
      process.stderr.write(`${explain(error)}\n`);
      return exitCodes.failed;
    }
    process.stderr.write(`${error.message}\nnpm start -- --help shows the options.\n`);
    return exitCodes.usage;
  }
}

/** An error with a name of its own says what is wrong; of any other the stack does. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const unexpected = error.name in globalThis;
  return unexpected ? (error.stack ?? error.message) : `${error.name}: ${error.message}`;
}

async function runLocally(options: RunOptions, password: string): Promise<number> {
  // The SDK is used here against stand-ins only; what it thinks of this Node.js is of no interest.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
  const interrupted = untilInterrupted();
  const journal = createJournal();
  if (options.json)
    journal.onLine(({ functionName, line }) => process.stderr.write(`${functionName} ${line}\n`));
  say(options, `Starting stage ${options.stage} ...`);
  const launched = launch(options.stage);
  const { startRun } = await import('./run.ts');
  const run = await startRun(launched, options.stores, journal, { callFiles: options.callFiles });
  try {
    const work = options.once
      ? runOnce(options, run, journal, password)
      : stayUp(options, run, journal, password);
    return await Promise.race([work, interrupted]);
  } finally {
    await run.close();
  }
}

async function runOnce(options: RunOptions, run: Run, journal: Journal, password: string): Promise<number> {
  await feed(options, run, password);
  await settle(run.stage, run.work, journal);
  const snapshot = await run.snapshot();
  await print(options.json ? `${JSON.stringify(snapshot)}\n` : readable(snapshot, run));
  return snapshot.errors.length === 0 ? exitCodes.fine : exitCodes.failed;
}

async function stayUp(options: RunOptions, run: Run, journal: Journal, password: string): Promise<never> {
  const page = await startPageServer(options.stage, run, journal);
  // Since this process began.
  const seconds = (performance.now() / 1000).toFixed(1);
  await print(`Ready in ${seconds} s. Page: ${page.url}\n`);
  const copy = await feed(options, run, password);
  await settle(run.stage, run.work, journal);
  await print(readable(await run.snapshot(), run));

  const inbox = join(run.directory, 'inbox');
  await mkdir(inbox);
  watchFolder(inbox, (files) => {
    run.feed(files.filter((file) => !isCallFile(file)));
    play(run, files.filter(isCallFile)).catch((error) => journal.log('calls', String(error)));
    run.stage.schedules.tick();
  });
  if (copy)
    setInterval(() => copy().catch((error) => journal.log('mailbox', String(error))), remoteIntervalMs);
  run.stage.schedules.start();
  const operator = Object.entries(run.stage.operator).map(([name, value]) => `${name}=${value}`);
  await print(`\nDrop more mails (.eml) or webhooks (.json) into ${inbox}
Operator's commands (npm run ops, npm run smoke) reach this run with
  export ${operator.join(' ')}
Ctrl-C ends.\n`);
  return new Promise<never>(() => undefined);
}

/** A file that comes later: what is wrong with it is a line in the log. */
async function play(run: Run, files: readonly string[]): Promise<void> {
  await run.play(files.map(readCalls));
}

/** Fills the local mailbox and posts the webhooks; for a real mailbox the answer copies what has come since. */
async function feed(options: RunOptions, run: Run, password: string) {
  const { files, callFiles, imap } = options;
  const showsSamples = files.length + callFiles.length === 0 && !imap;
  if (showsSamples || callFiles.length > 0) {
    if (options.json) process.stderr.write(`${paceNote}\n`);
    else say(options, paceNote);
  }
  run.feed(showsSamples ? sampleMails() : files);
  await (showsSamples ? run.playSamples() : run.play(callFiles));
  if (!imap) return undefined;
  // imapflow takes half a second to load, and only this needs it.
  const { createRemoteReader } = await import('./remote-mailbox.ts');
  const copy = createRemoteReader(imap, password, run.mailbox);
  const { mails, leftOut } = await copy();
  run.fed.push(...mails);
  say(options, `Copied ${mails.length} mails; ${leftOut} older ones left out.`);
  return async () => {
    run.fed.push(...(await copy()).mails);
  };
}

function readable(snapshot: Snapshot, run: Run): string {
  const tables = reportTables(snapshot, run.names).map(tableText);
  const errors = snapshot.errors.map(({ kind, where, message }) => `  ${kind} ${where}: ${message}`);
  return ['', ...tables, errors.length === 0 ? 'No errors.' : ['Errors:', ...errors].join('\n'), ''].join(
    '\n',
  );
}

/** A line for the person at the terminal; with --json the journal's lines are enough. */
function say({ json }: RunOptions, line: string): void {
  if (!json) process.stdout.write(`${line}\n`);
}

/** Waits until the text is out: the process ends right after the last one. */
async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

/** Resolves with the exit code when somebody ends the run. A signal that comes twice (tsx passes it on) is one. */
function untilInterrupted(): Promise<number> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => resolve(signal === 'SIGINT' ? exitCodes.fine : exitCodes.failed));
    }
  });
}
