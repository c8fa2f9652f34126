import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { bundleHandlers } from '../../lib/bundle.ts';
import { synthesizeStage } from '../../lib/synthesize.ts';
import type { FunctionPlan } from '../../local/assembly/functions.ts';
import { readStacks } from '../../local/assembly/read-stacks.ts';
import { startTelephony, type Telephony } from '../../local/calls/telephony.ts';
import { type LocalMailbox, startMailbox } from '../../local/imap.ts';
import { createJournal, type Journal } from '../../local/journal.ts';
import { joinedParameters, outsideOf, storeTables } from '../../local/outside.ts';
import type { ParameterValues } from '../../local/services/ssm.ts';
import { type LocalStage, startStage } from '../../local/stage.ts';
import { parseMail } from '../../src/mail/parse.ts';
import { logEvents } from '../../src/platform/log-events.ts';
import { fakeLark } from '../alarms/fake-lark.ts';
import { aMetricAlarm, snsEvent } from '../alarms/notifications.ts';
import { freshDatabase, type TestDatabase } from './database.ts';
import { riversideStore } from './leads.ts';
import { type LogRecord, toRecord } from './logs-insights.ts';
import { callsInTrouble, untoldJob, unwatchedAccount } from './troubled-calls.ts';

const mail = (id: string, to: string, ...lines: string[]) =>
  Buffer.from(
    [
      'From: web@forms.example',
      `To: ${to}`,
      `Message-ID: <${id}@forms.example>`,
      'Subject: Web Lead',
      '',
      ...lines,
      '',
    ].join('\r\n'),
  );
const webLead = (id: string, phone: string, to = 'riverside@leads.example') =>
  mail(id, to, 'First Name: Ana', ...(phone ? [`Phone: ${phone}`] : []), `Email: ${id}@x.example`);

/** One mail for each end that a mail's way can take. */
const mails = {
  normal: webLead('normal', '(212) 555-0147'),
  withoutPhone: webLead('without-phone', ''),
  quarantined: mail('quarantined', 'riverside@leads.example', 'hello'),
  unmapped: webLead('unmapped', '', 'nobody@leads.example'),
  retried: webLead('retried', '(212) 555-0148'),
  retryFailed: webLead('retry-failed', '(212) 555-0149'),
  processingFailed: webLead('processing-failed', '(212) 555-0150'),
};

export type MailName = keyof typeof mails;
const keys = {} as Record<MailName, string>;

export const names = {
  poller: 'ImapPollerFunction-us-east-1',
  retryProcessor: 'NeonRetryProcessor-us-east-1',
  leadProcessor: 'LeadProcessorFunction-us-west-2',
  alarmDispatcher: 'AlarmDispatcherFunction-us-west-2',
  receiver: 'WebhookReceiverFunction-us-west-2',
  transcribeProcessor: 'TranscribeProcessorFunction-us-west-2',
  sweep: 'CallSweepFunction-us-west-2',
  forwarding: 'LeadTrackingForwarding-us-east-1',
};

/** What is around one stage. */
export interface Surroundings {
  database: TestDatabase;
  mailbox: LocalMailbox;
  telephony: Telephony;
}

let directory: string;
let journal: Journal;
let prod: Surroundings;
let test: Surroundings;
let stage: LocalStage;
let refuse: (statement: RegExp, times: number) => void;

/**
 * Runs prod as it would be deployed, beside test in the same account, through a day of troubles: a mail and a call
 * for each end that their ways can take, and an alarm. In test there is one call.
 */
export async function runThroughTroubles() {
  for (const [name, source] of Object.entries(mails)) {
    keys[name as MailName] = (await parseMail(source)).mailKey;
  }
  directory = mkdtempSync(join(tmpdir(), 'callytics-whole-run-'));
  await start();

  const restore = withdraw(names.poller, 'dynamodb:Scan');
  append('normal');
  await tick();
  restore();
  append('withoutPhone', 'quarantined', 'unmapped');
  await tick();
  await logged(logEvents.leadProcessed, 'normal');

  refuse(/insert into "lead_mails"/, 1);
  append('retried');
  await tick();
  await logged(logEvents.retrySucceeded, 'retried');

  refuse(/insert into "lead_mails"/, 2);
  append('retryFailed');
  await tick();
  await logged(logEvents.retryStageFailed, 'retryFailed');

  await logged(logEvents.leadProcessed, 'retried');
  refuse(/insert into "contacts"/, 1);
  append('processingFailed');
  await tick();
  await logged(logEvents.leadProcessingFailed, 'processingFailed');

  await stage.functions.get(names.alarmDispatcher)?.invoke(snsEvent(aMetricAlarm()));
  const calls = await callsInTrouble({ stage, prod, test, records, until, refuse });
  // The failed batches have to come back before the journal tells of them.
  await until('all functions are idle', () => runningFunctions().length === 0);
  return { stage, journal, keys, calls, prod, test, records, close };
}

async function close(): Promise<void> {
  await stage?.close();
  for (const around of [prod, test]) {
    await around?.mailbox.close();
    await around?.telephony.close();
  }
  rmSync(directory, { recursive: true });
}

async function start(): Promise<void> {
  const { directories } = bundleHandlers(join(directory, 'dist'));
  const stacksOf = (name: string) =>
    readStacks(synthesizeStage(name, join(directory, `cdk.out-${name}`), directories));
  journal = createJournal();
  const lark = await fakeLark();
  [prod, test] = [await surround(), await surround()];
  const outside = {
    prod: outsideOf(
      { ownUrl: prod.database.url, mirrorUrl: test.database.url, endpoint: prod.database.endpoint.url },
      prod.mailbox,
      prod.telephony,
    ),
    test: outsideOf(
      { ownUrl: test.database.url, mirrorUrl: '', endpoint: test.database.endpoint.url },
      test.mailbox,
      test.telephony,
    ),
  };
  const valuesOf = (name: 'prod' | 'test', functions: readonly FunctionPlan[]) =>
    outside[name].parameters(functions.filter(({ environment }) => environment.STAGE === name));
  stage = await startStage(
    [...stacksOf('prod'), ...stacksOf('test')],
    {
      ...outside.prod,
      parameters: (functions) =>
        withWebhook(
          joinedParameters(valuesOf('test', functions), valuesOf('prod', functions)),
          functions,
          lark.url,
        ),
    },
    journal,
    // Five minutes are half a second, which SQS rounds up.
    {
      delayScale: 1 / 600,
      transcribe: { jobMs: 50, faults: (job) => (job === untoldJob ? [{ kind: 'lose_event' }] : []) },
    },
  );
  for (const table of storeTables(stage.plan.functions)) await stage.tables.put(table, riversideStore);

  let [refused, left] = [/^$/, 0];
  refuse = (statement, times) => {
    [refused, left] = [statement, times];
  };
  const own = prod.database;
  own.endpoint.onRequest = ({ database, queries }) => {
    const hit = left > 0 && own.url.endsWith(`/${database}`) && queries.some((query) => refused.test(query));
    if (!hit) return undefined;
    left--;
    // Neon's refusal that no retry in process can help: the next step of the way is the retry queue.
    return { kind: 'fail', status: 400, message: 'Your account exceeded the compute time quota.' };
  };
}

async function surround(): Promise<Surroundings> {
  const [database, mailbox] = await Promise.all([freshDatabase(), startMailbox()]);
  // An account that only a parameter tells of: nobody sweeps for it.
  return { database, mailbox, telephony: await startTelephony([unwatchedAccount], journal) };
}

/** The alarms' webhook, which the run on one machine has nobody for. */
function withWebhook(
  values: ParameterValues,
  functions: readonly FunctionPlan[],
  url: string,
): ParameterValues {
  const dispatcher = functions.find(({ name }) => name === names.alarmDispatcher);
  const { region = '', environment = {} } = dispatcher ?? {};
  const inRegion = new Map(values.get(region)).set(environment.LARK_WEBHOOK_PARAMETER ?? '', url);
  return new Map(values).set(region, inRegion);
}

function append(...which: MailName[]): void {
  for (const name of which) prod.mailbox.append(mails[name], new Date());
}

/** One run of the poller, waited for. */
async function tick(): Promise<void> {
  const ends = () => records().filter(({ message }) => message === logEvents.pollerFinished).length;
  const before = ends();
  stage.schedules.tick(({ name }) => name !== 'ImapPollerSchedule-us-east-1');
  await until('the poller has ended', () => ends() > before && !runningFunctions().includes(names.poller));
}

async function logged(event: string, name: MailName): Promise<void> {
  await until(`${event} of ${name}`, () =>
    records().some(({ message, mail_key }) => message === event && mail_key === keys[name]),
  );
}

async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitUntil(condition, { timeout: 60_000, interval: 50 }).catch(() => {
    throw new Error(
      `waited in vain until ${what}; the last lines: ${journal.lines
        .slice(-5)
        .map(({ line }) => line)
        .join('\n')}`,
    );
  });
}

const runningFunctions = () =>
  [...stage.functions.values()].filter(({ running }) => running > 0).map(({ plan }) => plan.name);

/** Takes an action away from a function's role, as a faulty deployment would; the answer gives it back. */
function withdraw(functionName: string, action: string): () => void {
  const { roleArn } = stage.functions.get(functionName)?.plan ?? {};
  const { statements } = stage.plan.roles.get(roleArn ?? '') ?? {};
  const kept = statements?.filter(({ actions }) => !actions.includes(action)) ?? [];
  const removed = statements?.splice(0, statements.length, ...kept) ?? [];
  if (removed.length - kept.length !== 1) throw new Error(`${functionName} has no ${action}`);
  return () => statements?.splice(0, statements.length, ...removed);
}

/** What a stage's functions wrote, as Logs Insights discovers it. */
function records(services?: readonly string[], stageName = 'prod'): LogRecord[] {
  return journal.lines
    .filter(({ functionName }) => {
      const { STAGE, POWERTOOLS_SERVICE_NAME = '' } =
        stage.functions.get(functionName)?.plan.environment ?? {};
      return STAGE === stageName && (services === undefined || services.includes(POWERTOOLS_SERVICE_NAME));
    })
    .map(({ at, line }) => toRecord(line, at))
    .filter((record) => record !== undefined);
}
