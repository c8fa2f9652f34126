import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { bundleHandlers } from '../../lib/bundle.ts';
import { synthesizeStage } from '../../lib/synthesize.ts';
import type { FunctionPlan } from '../../local/assembly/functions.ts';
import { readStacks } from '../../local/assembly/read-stacks.ts';
import { type LocalMailbox, startMailbox } from '../../local/imap.ts';
import { createJournal, type Journal } from '../../local/journal.ts';
import { outsideOf, storeTables } from '../../local/outside.ts';
import type { ParameterValues } from '../../local/services/ssm.ts';
import { type LocalStage, startStage } from '../../local/stage.ts';
import { parseMail } from '../../src/mail/parse.ts';
import { logEvents } from '../../src/platform/log-events.ts';
import { fakeLark } from '../alarms/fake-lark.ts';
import { aMetricAlarm, snsEvent } from '../alarms/notifications.ts';
import { freshDatabase } from './database.ts';
import { riversideStore } from './leads.ts';
import { type LogRecord, toRecord } from './logs-insights.ts';

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
  forwarding: 'LeadTrackingForwarding-us-east-1',
};

let directory: string;
let journal: Journal;
let mailbox: LocalMailbox;
let stage: LocalStage;
let refuse: (statement: RegExp, times: number) => void;

/**
 * Runs prod as it would be deployed through a day of troubles: a mail for each end that a mail's way can take, and
 * an alarm.
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
  // The failed batches have to come back before the journal tells of them.
  await until('all functions are idle', () => runningFunctions().length === 0);
  return { stage, journal, keys, records, close };
}

async function close(): Promise<void> {
  await stage?.close();
  await mailbox?.close();
  rmSync(directory, { recursive: true });
}

async function start(): Promise<void> {
  const { directories } = bundleHandlers(join(directory, 'dist'));
  const stacks = readStacks(synthesizeStage('prod', join(directory, 'cdk.out'), directories));
  const [own, mirror, lark] = await Promise.all([freshDatabase(), freshDatabase(), fakeLark()]);
  mailbox = await startMailbox();
  journal = createJournal();
  const outside = outsideOf({ ownUrl: own.url, mirrorUrl: mirror.url, endpoint: own.endpoint.url }, mailbox);
  stage = await startStage(
    stacks,
    {
      ...outside,
      parameters: (functions) => withWebhook(outside.parameters(functions), functions, lark.url),
    },
    journal,
  );
  for (const table of storeTables(stage.plan.functions)) await stage.tables.put(table, riversideStore);

  let [refused, left] = [/^$/, 0];
  refuse = (statement, times) => {
    [refused, left] = [statement, times];
  };
  own.endpoint.onRequest = ({ database, queries }) => {
    const hit = left > 0 && own.url.endsWith(`/${database}`) && queries.some((query) => refused.test(query));
    if (!hit) return undefined;
    left--;
    // Neon's refusal that no retry in process can help: the next step of the way is the retry queue.
    return { kind: 'fail', status: 400, message: 'Your account exceeded the compute time quota.' };
  };
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
  for (const name of which) mailbox.append(mails[name], new Date());
}

/** One run of the poller, waited for. */
async function tick(): Promise<void> {
  const ends = () => records().filter(({ message }) => message === logEvents.pollerFinished).length;
  const before = ends();
  stage.schedules.tick();
  await until('the poller has ended', () => ends() > before && !runningFunctions().includes(names.poller));
}

async function logged(event: string, name: MailName): Promise<void> {
  await until(`${event} of ${name}`, () =>
    records().some(({ message, mail_key }) => message === event && mail_key === keys[name]),
  );
}

async function until(what: string, condition: () => boolean): Promise<void> {
  await vi.waitUntil(condition, { timeout: 30_000, interval: 50 }).catch(() => {
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

/** What the functions wrote, as Logs Insights discovers it. */
function records(services?: readonly string[]): LogRecord[] {
  return journal.lines
    .filter(({ functionName }) => {
      const service = stage.functions.get(functionName)?.plan.environment.POWERTOOLS_SERVICE_NAME ?? '';
      return services === undefined || services.includes(service);
    })
    .map(({ at, line }) => toRecord(line, at))
    .filter((record) => record !== undefined);
}
