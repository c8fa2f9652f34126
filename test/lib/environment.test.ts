import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { stages } from '../../lib/config.ts';
import { setting } from '../../lib/constructs/bindings.ts';
import type { Bindings } from '../../lib/constructs/node-function.ts';
import { environmentContract, type FunctionName, readEnvironment } from '../../src/platform/environment.ts';
import { placeholderApp, templatesOf } from '../support/synthesized.ts';
import { filesOf } from './logged-fields.ts';
import { functionsIn } from './template-functions.ts';

const functions = functionsIn(templatesOf(placeholderApp()));

describe('environment', () => {
  it.each(functions)(
    '$FunctionName has exactly the variables of its contract',
    ({ name, variables, stack }) => {
      const { required, optional } = environmentContract[name];
      const without: Record<string, string[]> = { 'test-LeadTracking': ['NEON_MIRROR_URL_PARAMETER'] };
      const absent = name === 'poller' ? (without[stack] ?? []) : [];
      const expected = [...required, ...optional].filter((variable) => !absent.includes(variable));
      expect(Object.keys(variables).toSorted()).toEqual(expected.toSorted());
      expect(Object.keys(readEnvironment(name, variables)).toSorted()).toEqual(expected.toSorted());
    },
  );

  it('has a function for each contract in each stage', () => {
    for (const { name: stage } of stages) {
      const names = functions.filter(({ stack }) => stack.startsWith(`${stage}-`)).map(({ name }) => name);
      expect(names.toSorted()).toEqual(Object.keys(environmentContract).toSorted());
    }
  });

  it.each(Object.keys(environmentContract) as FunctionName[])(
    'src/%s.ts reads its own contract, and every variable in it',
    (name) => {
      const [handler = '', ...others] = [...filesOf(name)]
        .filter((file) => !file.endsWith('/platform/environment.ts'))
        .map((file) => readFileSync(file, 'utf8'));
      const text = [handler, ...others].join('\n');
      const read = [...text.matchAll(/readEnvironment\(\s*'([^']+)'/g)].map((match) => match[1]);
      expect(read).toEqual([name]);
      // Powertools reads the common ones itself, except STAGE.
      const { required, optional } = environmentContract[name];
      const own = [...required.slice(4), ...optional];
      expect(own.filter((variable) => !new RegExp(`\\b${variable}\\b`).test(text))).toEqual([]);
      expect(handler).not.toMatch(/process\.env\b/);
    },
  );

  it('does not compile with a missing or a surplus variable', () => {
    const some = setting('value');
    const most = { NEON_URL_PARAMETER: some, STATE_TABLE_NAME: some, EVENT_BUS_NAME: some };
    const whole = { ...most, NEON_WRITE_QUEUE_URL: some } satisfies Bindings<'neon-retry-processor'>;
    // @ts-expect-error NEON_WRITE_QUEUE_URL is missing
    most satisfies Bindings<'neon-retry-processor'>;
    // @ts-expect-error IMAP_PARAMETER is the poller's
    ({ ...whole, IMAP_PARAMETER: some }) satisfies Bindings<'neon-retry-processor'>;
    expect(Object.keys(whole)).toHaveLength(4);
  });

  it('tells the values that the stage`s config holds', () => {
    const poller = functions.find(({ FunctionName }) => FunctionName === 'ImapPollerFunction-us-east-1');
    expect(poller?.variables).toEqual({
      STAGE: 'prod',
      LOG_LEVEL: 'INFO',
      POWERTOOLS_SERVICE_NAME: 'poller',
      POWERTOOLS_METRICS_NAMESPACE: 'Callytics',
      IMAP_PARAMETER: '/lead-tracking/imap',
      NEON_URL_PARAMETER: '/lead-tracking/neon-database-url',
      NEON_MIRROR_URL_PARAMETER: '/lead-tracking/neon-database-url-test',
      STORES_TABLE_NAME: 'StoresV2',
      STORES_TABLE_REGION: 'us-west-2',
      LEGACY_LEADS_TABLE_NAME: 'LeadTracking-v2-us-east-1',
      STATE_TABLE_NAME: 'LeadTrackingState-us-east-1',
      NEON_WRITE_QUEUE_URL: 'neon-write-dlq-us-east-1',
      EVENT_BUS_NAME: 'default',
    });
    const leadProcessor = functions.find(({ FunctionName }) =>
      FunctionName.startsWith('LeadProcessorFunction-test'),
    );
    expect(leadProcessor?.variables).toMatchObject({
      STAGE: 'test',
      NEON_URL_PARAMETER: '/lead-tracking/neon-database-url-test',
      DEFAULT_TIME_ZONE: 'America/New_York',
      QUIET_HOURS: '21:00-08:00',
      LEAD_PROCESSOR_QUEUE_URL: 'lead-processor-queue-test-us-west-2',
    });
    const sweep = functions.find(({ FunctionName }) => FunctionName === 'CallSweepFunction-us-west-2');
    expect(sweep?.variables).toMatchObject({
      STAGE: 'prod',
      NEON_URL_PARAMETER: '/lead-tracking/neon-database-url',
      STATE_TABLE_NAME: 'CallyticsState-us-west-2',
      TRANSCRIBE_QUEUE_URL: 'transcribe-queue-us-west-2',
      RINGCENTRAL_PARAMETER_PREFIX: '/callytics/ringcentral',
      RINGCENTRAL_ACCOUNT_IDS: '400131426008,400255317009',
      TRANSCRIBE_LANGUAGE: 'en-US',
      TRANSCRIBE_REDACTION: 'on',
    });
  });
});
