import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bundleHandlers } from '../../lib/bundle.ts';
import { type QueryName, savedQueries } from '../../lib/queries.ts';
import { synthesizeStage } from '../../lib/synthesize.ts';
import type { FunctionPlan } from '../../local/assembly/functions.ts';
import { decide } from '../../local/assembly/iam.ts';
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
import { freshDatabase } from '../support/database.ts';
import { riversideStore } from '../support/leads.ts';
import { type LogRecord, runQuery, toRecord } from '../support/logs-insights.ts';

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

type MailName = keyof typeof mails;
const keys = {} as Record<MailName, string>;

const names = {
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

/** Prod as it would be deployed, through a day of troubles. */
beforeAll(async () => {
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
}, 120_000);

afterAll(async () => {
  await stage?.close();
  await mailbox?.close();
  rmSync(directory, { recursive: true });
});

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
  expect(removed.length - kept.length).toBe(1);
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

function ask(name: QueryName, mailKey?: string) {
  const { text, logsOf } = savedQueries[name];
  return runQuery(mailKey ? text.replace('MAIL_KEY', mailKey) : text, records(logsOf));
}

/** Fields that the query names and none of its own lines has. */
function unknownFields({ asked, matched }: Pick<ReturnType<typeof runQuery>, 'asked' | 'matched'>) {
  return asked.filter((field) => !matched.some((record) => record[field] !== undefined));
}

describe('the saved queries, on what the functions logged', () => {
  it('where-is-this-lead: the way of each mail', () => {
    const way = (name: MailName) => ask('where-is-this-lead', keys[name]).rows;
    const steps = (name: MailName) =>
      way(name)
        .map(({ service, message }) => `${service} ${message}`)
        .toSorted();
    expect(way('normal')[0]).toMatchObject({ service: 'poller', message: 'mail.failed', stage: 'stores' });
    expect(way('normal').at(-1)).toMatchObject({ task_created: 1, timeline_rows: 1 });
    expect(steps('normal')).toEqual([
      'lead-processor lead.processed',
      'poller lead.published',
      'poller lead.stored',
      'poller mail.failed',
      'poller mail.processed',
    ]);
    expect(steps('retried')).toEqual([
      'lead-processor lead.processed',
      'neon-retry-processor lead.published',
      'neon-retry-processor lead.stored',
      'neon-retry-processor retry.succeeded',
      'poller lead.queued',
      'poller mail.processed',
    ]);
    expect(steps('retryFailed')).toEqual([
      'neon-retry-processor retry.stage_failed',
      'poller lead.queued',
      'poller mail.processed',
    ]);
    expect(steps('unmapped')).toContain('poller mail.unmapped');
    expect(way('processingFailed')).toContainEqual(
      expect.objectContaining({ message: 'lead.processing_failed', error_code: 'quota', receive_count: 1 }),
    );

    const all = Object.values(keys).map((key) => ask('where-is-this-lead', key));
    expect(
      unknownFields({ asked: all[0]?.asked ?? [], matched: all.flatMap(({ matched }) => matched) }),
    ).toEqual([]);
  });

  it('why-late: what held the leads up', () => {
    const result = ask('why-late');
    expect(result.rows[0]).toEqual({
      service: 'poller',
      message: 'lead.queued',
      stage: 'neon',
      error_code: 'quota',
      times: 2,
      mails: 2,
    });
    expect(result.rows.slice(1)).toHaveLength(5);
    expect(result.rows.slice(1)).toEqual(
      expect.arrayContaining([
        { service: 'poller', message: 'poller.finished', stopped: 'stores_unavailable', times: 1, mails: 0 },
        expect.objectContaining({ message: 'mail.failed', stage: 'stores', times: 1, mails: 1 }),
        // Its gauges ask whether a store is open.
        expect.objectContaining({ message: 'poller.housekeeping_failed', times: 1, mails: 0 }),
        expect.objectContaining({
          service: 'neon-retry-processor',
          message: 'retry.stage_failed',
          times: 1,
          mails: 1,
        }),
        expect.objectContaining({
          service: 'lead-processor',
          message: 'lead.processing_failed',
          times: 1,
          mails: 1,
        }),
      ]),
    );
    expect(unknownFields(result)).toEqual([]);
  });

  it('skipped-publishes: which leads, and what they lack', () => {
    const result = ask('skipped-publishes');
    const lacking = result.rows.map((row) => [
      row.mail_key,
      ...[0, 1, 2, 3].map((index) => row[`missing_fields.${index}`]).filter(Boolean),
    ]);
    expect(lacking).toEqual([
      [keys.unmapped, 'phone', 'franchiseId', 'accountId', 'storeId'],
      [keys.withoutPhone, 'phone'],
    ]);
    expect(unknownFields(result)).toEqual([]);
  });

  it('quarantine: mails without a lead or a store', () => {
    const result = ask('quarantine');
    expect(result.rows.map(({ '@timestamp': _, ...row }) => row)).toEqual([
      { message: 'mail.unmapped', mail_key: keys.unmapped },
      {
        message: 'mail.quarantined',
        reason: 'unparsed',
        known_recipient: 1,
        store_id: riversideStore.storeId,
        mail_key: keys.quarantined,
      },
    ]);
    expect(unknownFields(result)).toEqual([]);
  });

  it('retry-stage-failures: stage and error', () => {
    const result = ask('retry-stage-failures');
    expect(result.rows).toEqual([
      { stage: 'neon', error_code: 'quota', failures: 1, mails: 1, highest_receive_count: 1 },
    ]);
    expect(result.matched.map(({ mail_key }) => mail_key)).toEqual([keys.retryFailed]);
    expect(unknownFields(result)).toEqual([]);
  });
});

/** Granted, and used by no call of an SDK. Every other grant is used in this run, or has to go. */
const grantedForOthers = [
  {
    actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    holders: [names.poller, names.retryProcessor, names.leadProcessor, names.alarmDispatcher],
    reason: 'no call of the SDK: Lambda itself writes what a function prints',
  },
  {
    actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
    holders: [names.retryProcessor, names.leadProcessor],
    reason: 'Lambda reads the queue as the function’s role, and refuses the event source mapping otherwise',
  },
  {
    actions: ['sns:Publish'],
    holders: [names.alarmDispatcher],
    reason: 'Lambda tells the failure destination as the function’s role',
  },
  {
    actions: ['events:PutEvents'],
    holders: [names.forwarding],
    reason: 'EventBridge forwards to the other region’s bus as the rule’s role',
  },
];

/** The function or rule that has the role. */
function holderOf(roleArn: string): string {
  const { functions, rules } = stage.plan;
  const fn = functions.find((plan) => plan.roleArn === roleArn);
  const rule = rules.find(({ targets }) => targets.some((target) => target.roleArn === roleArn));
  return fn?.name ?? rule?.name ?? roleArn;
}

describe('the synthesized roles, both ways', () => {
  it('nothing was asked for that is not granted, but what was taken away', () => {
    const refused = journal.errors.filter(({ kind }) => /access_denied|unknown_operation/.test(kind));
    const kinds = new Set(
      refused.map(({ where, message }) => `${where} ${/ perform: (\S+)/.exec(message)?.[1]}`),
    );
    expect([...kinds]).toEqual([`${names.poller} dynamodb:Scan`]);
    const others = journal.errors.filter((error) => !refused.includes(error));
    expect(others.map(({ kind, where }) => `${kind} ${where}`)).toEqual([
      `handler_error ${names.poller}`,
      `handler_error ${names.retryProcessor}`,
      `handler_error ${names.leadProcessor}`,
    ]);
  });

  it('nothing is granted that nobody uses', () => {
    const calls = [...journal.allowedCalls];
    const unused = [...stage.plan.roles.values()].flatMap(({ arn, statements }) =>
      statements.flatMap((statement) =>
        statement.actions.flatMap((granted) =>
          statement.resources
            .filter((resource) => {
              const only = [{ ...statement, actions: [granted], resources: [resource] }];
              return !calls.some(
                ({ role, ...call }) =>
                  role === arn &&
                  decide({ ...call, principal: '', context: {} }, { identity: only }) === 'allowed',
              );
            })
            .map(() => `${holderOf(arn)} ${granted}`),
        ),
      ),
    );
    const expected = grantedForOthers.flatMap(({ actions, holders }) =>
      holders.flatMap((holder) => actions.map((action) => `${holder} ${action}`)),
    );
    expect(unused.toSorted()).toEqual(expected.toSorted());
  });
});
