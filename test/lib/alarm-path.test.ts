import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { stages } from '../../lib/config.ts';
import { StageStack } from '../../lib/constructs/stage-stack.ts';
import { everyResource, placeholderApp, templatesOf } from '../support/synthesized.ts';

const regions = ['us-east-1', 'us-west-2'];
const severities = ['page', 'look'];
const email = 'ops@leads.example';
const app = placeholderApp(stages.map((config) => ({ ...config, alarmEmail: email })));
const templates = templatesOf(app);

describe.each([
  { stage: 'prod', infix: '' },
  { stage: 'test', infix: 'test-' },
])('alarms of $stage', ({ stage, infix }) => {
  const own = (type: string) =>
    everyResource(templates, type).filter(({ stack }) => stack.startsWith(`${stage}-`));
  const dispatcher = `AlarmDispatcherFunction-${infix}us-west-2`;
  const dispatcherArn = `arn:aws:lambda:us-west-2:AWS::AccountId:function:${dispatcher}`;
  const topics = regions.flatMap((region) =>
    severities.map((severity) => ({ region, name: `callytics-alarms-${severity}-${infix}${region}` })),
  );

  it('go from both topics of both regions to the one dispatcher, each subscription made in its topic`s region', () => {
    const subscriptions = own('AWS::SNS::Subscription').filter(
      ({ Properties }) => Properties.Protocol === 'lambda',
    );
    expect(subscriptions.map(({ region, Properties }) => ({ region, ...Properties }))).toEqual(
      expect.arrayContaining(
        topics.map(({ region, name }) => ({
          region,
          Protocol: 'lambda',
          TopicArn: name,
          Endpoint: region === 'us-west-2' ? dispatcher : dispatcherArn,
        })),
      ),
    );
    expect(subscriptions).toHaveLength(topics.length);
  });

  it('may start the dispatcher from these four topics and from nowhere else', () => {
    const permissions = own('AWS::Lambda::Permission').filter(
      ({ Properties }) => Properties.FunctionName === dispatcher,
    );
    const sources = permissions.map(({ Properties }) => {
      expect(Properties).toMatchObject({ Action: 'lambda:InvokeFunction', Principal: 'sns.amazonaws.com' });
      return Properties.SourceArn;
    });
    const expected = topics.map(({ region, name }) =>
      region === 'us-west-2' ? name : `arn:aws:sns:us-east-1:AWS::AccountId:${name}`,
    );
    expect(sources.toSorted()).toEqual(expected.toSorted());
  });

  it('are tried three times within an hour, and then told by e-mail', () => {
    const [config, ...others] = own('AWS::Lambda::EventInvokeConfig').filter(
      ({ Properties }) => Properties.FunctionName === dispatcher,
    );
    expect(others).toEqual([]);
    expect(config?.Properties).toEqual({
      FunctionName: dispatcher,
      Qualifier: '$LATEST',
      MaximumRetryAttempts: 2,
      MaximumEventAgeInSeconds: 3600,
      DestinationConfig: { OnFailure: { Destination: `callytics-alarm-path-${infix}us-west-2` } },
    });
  });

  it('reach the address of the alarm path only when Lark doesn`t get them', () => {
    const mails = own('AWS::SNS::Subscription').filter(({ Properties }) => Properties.Protocol === 'email');
    expect(mails.map(({ Properties }) => Properties)).toEqual(
      expect.arrayContaining(
        regions.map((region) => ({
          Protocol: 'email',
          Endpoint: email,
          TopicArn: `callytics-alarm-path-${infix}${region}`,
        })),
      ),
    );
    expect(mails).toHaveLength(regions.length);
  });
});

it('deploys rule and dispatcher before the poller whose events and alarms need them', () => {
  for (const { name } of stages) {
    const stage = app.node.findChild(name).node;
    const [leads, calls] = ['LeadTracking', 'Callytics'].map((id) => stage.findChild(id));
    if (!(leads instanceof StageStack && calls instanceof StageStack)) throw new Error('no stacks');
    expect(leads.dependencies).toEqual([calls]);
    expect(calls.dependencies).toEqual([]);
  }
});

it('warns at each synth while a stage has no address for the alarm path', () => {
  const silent = placeholderApp(stages.map(({ alarmEmail: _, ...config }) => config));
  const warnings = (of: typeof app) =>
    of.node.findAll().flatMap((node) =>
      node instanceof StageStack
        ? Annotations.fromStack(node)
            .findWarning('*', Match.stringLikeRegexp('has no alarmEmail'))
            .map(() => node.stackName)
        : [],
    );
  expect(warnings(silent)).toEqual(
    stages.flatMap(({ name }) => [`${name}-LeadTracking`, `${name}-Callytics`]),
  );
  expect(warnings(app)).toEqual([]);
});
