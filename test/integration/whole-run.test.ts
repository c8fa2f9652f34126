import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type QueryName, savedQueries } from '../../lib/queries.ts';
import { decide } from '../../local/assembly/iam.ts';
import { riversideStore } from '../support/leads.ts';
import { runQuery, unknownFields } from '../support/logs-insights.ts';
import { type MailName, names, runThroughTroubles } from '../support/troubled-run.ts';
import { describeCalls } from './whole-run-calls.ts';

let run: Awaited<ReturnType<typeof runThroughTroubles>>;
beforeAll(async () => {
  run = await runThroughTroubles();
}, 240_000);
afterAll(() => run?.close());

/** @param subject mail key or session that the query asks about */
function ask(name: QueryName, subject?: string) {
  const { text, logsOf } = savedQueries[name];
  const asked = subject ? text.replace(/MAIL_KEY|TELEPHONY_SESSION_ID/, subject) : text;
  return runQuery(asked, run.records(logsOf));
}

describe('the saved queries, on what the functions logged', () => {
  it('where-is-this-lead: the way of each mail', () => {
    const way = (name: MailName) => ask('where-is-this-lead', run.keys[name]).rows;
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

    const all = Object.values(run.keys).map((key) => ask('where-is-this-lead', key));
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
      [run.keys.unmapped, 'phone', 'franchiseId', 'accountId', 'storeId'],
      [run.keys.withoutPhone, 'phone'],
    ]);
    expect(unknownFields(result)).toEqual([]);
  });

  it('quarantine: mails without a lead or a store', () => {
    const result = ask('quarantine');
    expect(result.rows.map(({ '@timestamp': _, ...row }) => row)).toEqual([
      { message: 'mail.unmapped', mail_key: run.keys.unmapped },
      {
        message: 'mail.quarantined',
        reason: 'unparsed',
        known_recipient: 1,
        store_id: riversideStore.storeId,
        mail_key: run.keys.quarantined,
      },
    ]);
    expect(unknownFields(result)).toEqual([]);
  });

  it('retry-stage-failures: stage and error', () => {
    const result = ask('retry-stage-failures');
    expect(result.rows).toEqual([
      { stage: 'neon', error_code: 'quota', failures: 1, mails: 1, highest_receive_count: 1 },
    ]);
    expect(result.matched.map(({ mail_key }) => mail_key)).toEqual([run.keys.retryFailed]);
    expect(unknownFields(result)).toEqual([]);
  });
});

describeCalls(() => run, ask);

/** Granted, and used by no call of an SDK. Every other grant is used in this run, or has to go. */
const grantedForOthers = [
  {
    actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
    holders: Object.values(names).filter((name) => name !== names.forwarding),
    reason: 'no call of the SDK: Lambda itself writes what a function prints',
  },
  {
    actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
    holders: [names.retryProcessor, names.leadProcessor, names.transcribeProcessor],
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
  const { functions, rules } = run.stage.plan;
  const fn = functions.find((plan) => plan.roleArn === roleArn);
  const rule = rules.find(({ targets }) => targets.some((target) => target.roleArn === roleArn));
  return fn?.name ?? rule?.name ?? roleArn;
}

describe('the synthesized roles, both ways', () => {
  it('nothing was asked for that is not granted, but what was taken away', () => {
    const refused = run.journal.errors.filter(({ kind }) => /access_denied|unknown_operation/.test(kind));
    const kinds = new Set(
      refused.map(({ where, message }) => `${where} ${/ perform: (\S+)/.exec(message)?.[1]}`),
    );
    expect([...kinds]).toEqual([`${names.poller} dynamodb:Scan`]);
    const others = run.journal.errors.filter((error) => !refused.includes(error));
    expect(others.map(({ kind, where }) => `${kind} ${where}`)).toEqual([
      `handler_error ${names.poller}`,
      `handler_error ${names.retryProcessor}`,
      `handler_error ${names.leadProcessor}`,
      // Half a recording, a refused statement, and the last of five refusals.
      ...Array(3).fill(`handler_error ${names.transcribeProcessor}`),
    ]);
  });

  it('nothing is granted that nobody uses', () => {
    const calls = [...run.journal.allowedCalls];
    const ofProd = [...run.stage.plan.roles.values()].filter(({ arn }) => arn.includes(':role/prod-'));
    const unused = ofProd.flatMap(({ arn, statements }) =>
      statements.flatMap((statement) =>
        statement.actions.flatMap((granted) =>
          statement.resources
            .filter((resource) => {
              const only = [{ ...statement, actions: [granted], resources: [resource] }];
              return !calls.some(
                ({ role, ...call }) =>
                  role === arn && decide({ ...call, principal: '' }, { identity: only }) === 'allowed',
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
