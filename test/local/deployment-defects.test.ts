import { afterEach, describe, expect, it } from 'vitest';
import type { LocalStage } from '../../local/stage.ts';
import { deploy, propertiesOf, type Templates, untilIdle } from './templates.ts';

let running: LocalStage | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

/** Lets the schedule tick once and waits for all that follows. */
async function runWith(change?: (templates: Templates) => void) {
  const { stage, journal } = await deploy(change);
  running = stage;
  stage.schedules.tick();
  await untilIdle(stage);
  return {
    stage,
    journal,
    worked: journal.lines.filter(({ line }) => line.includes('"worker":"lead-1"')).length,
  };
}

describe('a faulty deployment shows in the local run', { timeout: 60_000 }, () => {
  it('control: the event reaches the worker in the other region, once, without an error', async () => {
    const { stage, journal, worked } = await runWith();
    expect(journal.errors).toEqual([]);
    expect(worked).toBe(1);
    const [record, ...others] = stage.buses.records;
    expect(others).toEqual([]);
    expect(record?.deliveries.map(({ rule, region, outcome }) => [rule, region, outcome])).toEqual(
      expect.arrayContaining([
        ['Forward', 'us-east-1', 'delivered'],
        ['LeadRule', 'us-west-2', 'delivered'],
      ]),
    );
  });

  it('events:PutEvents missing: denied', async () => {
    const { journal, worked } = await runWith(({ leads }) => {
      propertiesOf(leads, 'SenderRole').Policies = [];
    });
    expect(worked).toBe(0);
    expect(journal.errors).toContainEqual(
      expect.objectContaining({
        kind: 'access_denied',
        where: 'Leads-Sender',
        message: expect.stringContaining('events:PutEvents'),
      }),
    );
    // The unmodified SDK throws AWS's own error, and the handler ends with it.
    expect(journal.errors).toContainEqual(
      expect.objectContaining({
        kind: 'handler_error',
        message: expect.stringMatching(/^AccessDeniedException: User: arn:aws:sts/),
      }),
    );
  });

  it('environment variable missing: the handler names it', async () => {
    const { journal } = await runWith(({ leads }) => {
      propertiesOf(leads, 'Sender').Environment = { Variables: { STAGE: 'prod' } };
    });
    expect(journal.errors).toEqual([
      {
        kind: 'handler_error',
        where: 'Leads-Sender',
        message: 'Error: missing environment variable EVENT_BUS_NAME',
      },
    ]);
  });

  it('queue policy removed: the event is not delivered', async () => {
    const { journal, worked } = await runWith(({ calls }) => {
      delete calls.WorkPolicy;
    });
    expect(worked).toBe(0);
    expect(journal.errors).toEqual([
      { kind: 'undelivered_event', where: 'LeadRule', message: expect.stringContaining('policy of work') },
    ]);
  });

  it('forwarding role without PutEvents: the event goes to the target DLQ', async () => {
    const { stage, journal, worked } = await runWith(({ leads }) => {
      propertiesOf(leads, 'ForwardRole').Policies = [];
    });
    expect(worked).toBe(0);
    expect(journal.errors).toEqual([
      { kind: 'undelivered_event', where: 'Forward', message: expect.stringContaining('events:PutEvents') },
    ]);
    const [message] = await stage.queues.receive('arn:aws:sqs:us-east-1:000000000000:forward-dlq', 1, 0);
    expect(JSON.parse(message?.Body ?? '')).toMatchObject({
      'detail-type': 'LeadCreated',
      region: 'us-east-1',
    });
    expect(message?.MessageAttributes).toMatchObject({
      ERROR_CODE: { StringValue: 'NO_PERMISSIONS' },
      RULE_ARN: { StringValue: 'arn:aws:events:us-east-1:000000000000:rule/Forward' },
      TARGET_ARN: { StringValue: 'arn:aws:events:us-west-2:000000000000:event-bus/default' },
    });
  });

  it('visibility shorter than the time-out: the mapping is refused', async () => {
    const start = deploy(({ calls }) => {
      propertiesOf(calls, 'Work').VisibilityTimeout = 9;
    });
    await expect(start).rejects.toThrow(/visibility time-out of work \(9 s\) is shorter/);
  });

  it('role without sqs:DeleteMessage: the mapping is refused', async () => {
    const start = deploy(({ calls }) => {
      calls.WorkerRole = { ...calls.WorkerRole, Type: 'AWS::IAM::Role' };
      const policies = propertiesOf(calls, 'WorkerRole').Policies as [
        { PolicyDocument: { Statement: [{ Action: string[] }] } },
      ];
      policies[0].PolicyDocument.Statement[0].Action = ['sqs:ReceiveMessage', 'sqs:GetQueueAttributes'];
    });
    await expect(start).rejects.toThrow(/may not sqs:DeleteMessage on work/);
  });

  it('wrong handler name: Runtime.HandlerNotFound', async () => {
    const { journal } = await runWith(({ leads }) => {
      propertiesOf(leads, 'Sender').Handler = 'sender.handle';
    });
    expect(journal.errors).toEqual([
      {
        kind: 'handler_error',
        where: 'Leads-Sender',
        message: 'Runtime.HandlerNotFound: sender.handle is undefined or not exported',
      },
    ]);
  });

  it('typo in a pattern: no rule matches', async () => {
    const { journal, worked } = await runWith(({ leads }) => {
      propertiesOf(leads, 'Forward').EventPattern = { source: ['leadtracking'] };
    });
    expect(worked).toBe(0);
    expect(journal.errors).toEqual([
      {
        kind: 'undelivered_event',
        where: 'us-east-1/default',
        message: 'no rule matches lead-tracking LeadCreated',
      },
    ]);
  });

  it('DynamoDB grant removed: denied', async () => {
    const { stage, journal } = await deploy(({ calls }) => {
      const policies = propertiesOf(calls, 'WorkerRole').Policies as [
        { PolicyDocument: { Statement: object[] } },
      ];
      policies[0].PolicyDocument.Statement.pop();
    });
    running = stage;
    stage.schedules.tick();
    await expect
      .poll(() => journal.errors, { timeout: 10_000 })
      .toContainEqual(
        expect.objectContaining({
          kind: 'access_denied',
          where: 'Calls-Worker',
          message: expect.stringContaining('dynamodb:PutItem'),
        }),
      );
  });

  it('no permission for the schedule: the function is not invoked', async () => {
    const { journal } = await runWith(({ leads }) => {
      delete leads.MaySend;
    });
    expect(journal.errors).toEqual([
      {
        kind: 'undelivered_event',
        where: 'Leads-Schedule',
        message: expect.stringContaining('may not invoke'),
      },
    ]);
  });

  it('unknown intrinsic on the way: refused with its path', async () => {
    const start = deploy(({ calls }) => {
      propertiesOf(calls, 'Worker').Environment = { Variables: { A: { 'Fn::ImportValue': 'x' } } };
    });
    await expect(start).rejects.toThrow(
      'Calls/Worker.Environment.Variables.A: unknown intrinsic Fn::ImportValue',
    );
  });
});
