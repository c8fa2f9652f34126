import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Stack } from 'aws-cdk-lib';
import { Rule } from 'aws-cdk-lib/aws-events';
import { describe, expect, it } from 'vitest';
import { type StageConfig, stages, validateStages } from '../../lib/config.ts';
import { leadCreatedOf } from '../../lib/events.ts';
import { physicalName } from '../../lib/names.ts';
import { everyResource, placeholderApp, templatesOf } from '../support/synthesized.ts';

const [test, prod] = stages as [StageConfig, StageConfig];

describe('stages apart', () => {
  it('gives prod the bare names, and another stage its own', () => {
    expect(physicalName('neon-write-dlq', 'prod', 'us-east-1')).toBe('neon-write-dlq-us-east-1');
    expect(physicalName('neon-write-dlq', 'test', 'us-east-1')).toBe('neon-write-dlq-test-us-east-1');
  });

  it.each(['imapParameter', 'neonUrlParameter', 'name'] as const)(
    'refuses two stages with one %s',
    (setting) => {
      const wrong = { ...test, [setting]: prod[setting] };
      expect(() => placeholderApp([wrong, prod])).toThrow(`${setting} ${prod[setting]}`);
    },
  );

  it('refuses two stages with one RingCentral prefix: they would call with one application and user', () => {
    const ringCentral = { ...test.ringCentral, parameterPrefix: prod.ringCentral.parameterPrefix };
    expect(() => placeholderApp([{ ...test, ringCentral }, prod])).toThrow(
      'ringCentral.parameterPrefix /callytics/ringcentral',
    );
  });

  it.each([
    ['another stage`s prefix', { ringCentral: { ...test.ringCentral, parameterPrefix: '/callytics' } }],
    ['a Neon URL', { neonUrlParameter: '/callytics/ringcentral/400131426008' }],
  ])('refuses a RingCentral prefix below which there is %s', (_, wrong) => {
    expect(() => validateStages([{ ...test, ...wrong }, prod])).toThrow(/parameterPrefix \S+ covers \//);
  });

  it.each<[string, string[]]>([
    ['none', []],
    ['one that is no number', ['+14155550111']],
    ['one twice', ['400131426008', '400131426008']],
  ])('refuses RingCentral accounts: %s', (_, accountIds) => {
    const ringCentral = { ...test.ringCentral, accountIds };
    expect(() => validateStages([{ ...test, ringCentral }])).toThrow('ringCentral.accountIds');
  });

  it.each<[keyof StageConfig, unknown]>([
    ['name', 'Prod'],
    ['account', '12345'],
    ['imapParameter', 'lead-tracking/imap'],
    ['neonUrlParameter', ''],
    ['larkWebhookParameter', 'https://open.larksuite.com/open-apis/bot/v2/hook/x'],
    ['defaultTimeZone', 'Mars/Olympus'],
    ['quietHours', '21:00'],
    ['quietHours', '08:00-08:00'],
    ['logRetentionDays', 30],
    ['alarmEmail', 'nobody'],
    ['transcription', { language: 'English', redaction: 'on' }],
    ['transcription', { language: 'en-US', redaction: 'yes' }],
    ['recordingRetentionDays', 0],
    ['noLeadAlarmHours', 0],
  ])('refuses %s = %s, and names it', (setting, value) => {
    expect(() => validateStages([{ ...test, [setting]: value } as StageConfig])).toThrow(setting);
  });

  it('refuses a setting that it does not know', () => {
    expect(() => validateStages([{ ...test, imapParamter: '/x' } as StageConfig])).toThrow('imapParamter');
  });

  it('leaves the legacy table, its grants and its variable out when it is switched off', () => {
    const text = JSON.stringify(templatesOf(placeholderApp([{ ...test, legacyLeadsTable: false }])));
    expect(text).not.toContain('LeadTracking-v2');
    expect(text).not.toContain('LEGACY_LEADS_TABLE_NAME');
  });
});

describe('every event goes one way', () => {
  const rule = (region: string, ...ofStages: string[]) => {
    const app = placeholderApp();
    const stack = app.node.findAll().find((node) => Stack.isStack(node) && node.region === region);
    if (!stack) throw new Error(`no stack in ${region}`);
    new Rule(stack, 'Second', { eventPattern: leadCreatedOf(...ofStages) });
    return app;
  };

  it.each(['us-east-1', 'us-west-2'])(
    'synth refuses a second rule of one stage for LeadCreated in %s',
    (region) => {
      expect(() => rule(region, 'test').synth()).toThrow(
        /LeadCreated .*"stage":"test".* matches several rules/s,
      );
    },
  );

  it('synth refuses a second rule of one stage for its ended transcription jobs', () => {
    const app = placeholderApp();
    const stack = app.node.findChild('prod').node.findChild('Callytics');
    new Rule(stack, 'Second', { eventPattern: { source: ['aws.transcribe'] } });
    expect(() => app.synth()).toThrow(/Transcribe Job State Change .*prod-rec-1.* matches several rules/s);
  });

  it('no stage takes another one`s transcription jobs, be its name the beginning of the other`s', () => {
    const ringCentral = { ...test.ringCentral, parameterPrefix: '/c' };
    const longer = { ...test, name: 'test2', imapParameter: '/a', neonUrlParameter: '/b', ringCentral };
    const rules = everyResource(templatesOf(placeholderApp([test, longer, prod])), 'AWS::Events::Rule');
    const patterns = rules.flatMap(({ stack, Properties }) => {
      const { source, detail } = (Properties.EventPattern ?? {}) as {
        source?: string[];
        detail?: { TranscriptionJobName: { prefix: string }[] };
      };
      const prefixes = detail?.TranscriptionJobName?.map(({ prefix }) => prefix) ?? [];
      return source?.includes('aws.transcribe') ? [{ stage: stack.split('-')[0], prefixes }] : [];
    });
    for (const name of ['test', 'test2', 'prod']) {
      const takers = patterns.filter(({ prefixes }) =>
        prefixes.some((prefix) => `${name}-rec-5512`.startsWith(prefix)),
      );
      expect(takers.map(({ stage }) => stage)).toEqual([name]);
    }
    expect(() => validateStages([{ ...test, name: 'test-2' }])).toThrow('name');
  });

  it('lets a rule for another event be', () => {
    expect(() => rule('us-west-2', 'staging').synth()).not.toThrow();
  });

  it('synth refuses an event that two stages forward', () => {
    const ringCentral = { ...test.ringCentral, parameterPrefix: '/c' };
    const mirror = { ...test, name: 'mirror', imapParameter: '/a', neonUrlParameter: '/b', ringCentral };
    const app = placeholderApp([test, prod, mirror]);
    const [source, copy] = ['prod', 'mirror'].map((name) =>
      app.node.findChild(name).node.findChild('LeadTracking').node.findChild('LeadTrackingForwarding'),
    );
    if (!(source instanceof Rule && copy instanceof Rule)) throw new Error('no rules');
    copy.addEventPattern({ detail: { stage: ['prod'] } });
    expect(() => app.synth()).toThrow(/"stage":"prod".* is forwarded more than once from us-east-1/s);
  });

  it('the mirror stage takes prod`s events in its own queue only where its config says so', () => {
    expect(stages.map(({ name, mirrorFromProd }) => [name, mirrorFromProd])).toEqual([
      ['test', true],
      ['prod', false],
    ]);
    const text = JSON.stringify(templatesOf(placeholderApp([{ ...test, mirrorFromProd: false }])));
    expect(text).toContain('"stage":["test"]');
    expect(text).not.toContain('"stage":["test","prod"]');
  });
});

describe('what a deploy would change', () => {
  const templates = templatesOf(placeholderApp());

  /** These keep data or an address that others know: a new logical id means a new, empty one. */
  const stateful = [
    'AWS::DynamoDB::Table',
    'AWS::SQS::Queue',
    'AWS::S3::Bucket',
    'AWS::Logs::LogGroup',
    'AWS::SNS::Topic',
  ];

  it('keeps the logical ids of everything that holds data (a change is edited into the list on purpose)', () => {
    const committed = JSON.parse(
      readFileSync(path.join(import.meta.dirname, 'stateful-resources.json'), 'utf8'),
    );
    const found = Object.fromEntries(
      Object.entries(templates).map(([stack, { Resources }]) => [
        stack,
        Object.fromEntries(
          Object.entries(Resources)
            .filter(([, { Type }]) => stateful.includes(Type))
            .map(([id, { Type }]) => [id, Type]),
        ),
      ]),
    );
    expect(found).toEqual(committed);
  });

  it.each(stages.map(({ name }) => name))('matches the snapshot of %s', async (stage) => {
    const own = Object.entries(templates).filter(([stack]) => stack.startsWith(`${stage}-`));
    const text = JSON.stringify(Object.fromEntries(own), null, 1).replace(/\b[0-9a-f]{64}\b/g, 'ASSET');
    await expect(text).toMatchFileSnapshot(`__snapshots__/${stage}.json`);
  });

  it('is plain ASCII: what else there is, CloudFormation may hand on as question marks', () => {
    for (const template of Object.values(templates)) {
      expect(JSON.stringify(template)).not.toMatch(/[^\x20-\x7e]/);
    }
  });

  it('has no custom resource', () => {
    const types = Object.values(templates).flatMap(({ Resources }) =>
      Object.values(Resources).map(({ Type }) => Type),
    );
    expect(types.filter((type) => type.startsWith('Custom::') || type.includes('CustomResource'))).toEqual(
      [],
    );
  });
});
