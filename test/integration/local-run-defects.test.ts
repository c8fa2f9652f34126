import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bundleHandlers } from '../../lib/bundle.ts';
import { synthesizeStage } from '../../lib/synthesize.ts';
import { readStacks } from '../../local/assembly/read-stacks.ts';
import type { StackTemplate, TemplateResource } from '../../local/assembly/template.ts';
import { startTelephony } from '../../local/calls/telephony.ts';
import { startMailbox } from '../../local/imap.ts';
import { createJournal } from '../../local/journal.ts';
import { readCalls } from '../../local/options.ts';
import { outsideOf, storeTables } from '../../local/outside.ts';
import { startStage } from '../../local/stage.ts';
import { freshDatabase } from '../support/database.ts';

const lead = `From: web@forms.example
To: riverside@leads.example
Message-ID: <d1@forms.example>
Subject: Web Lead

First Name: Ana
Phone: (212) 555-0147
Email: ana@x.example
`;
const store = {
  storeId: '3f6f1f0a-5a0e-4c58-9a0b-6f6f0d3c1a01',
  leadEmail: 'riverside@leads.example',
  franchise: 'orangeTheory-0412',
  providerAccountId: '400131426008',
};

let directory: string;
let stacks: StackTemplate[];
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'callytics-defects-'));
  const { directories } = bundleHandlers(join(directory, 'dist'));
  stacks = readStacks(synthesizeStage('prod', join(directory, 'cdk.out'), directories));
});
afterAll(() => rmSync(directory, { recursive: true }));

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Deploys prod as it would be deployed, broken by `spoil`, and feeds it one lead. */
async function run(spoil: (resources: TemplateResource[]) => void) {
  const spoiled = stacks.map((stack) => ({ ...stack, resources: structuredClone(stack.resources) }));
  spoil(spoiled.flatMap(({ resources }) => Object.values(resources)));
  const [database, mailbox] = [await freshDatabase(), await startMailbox()];
  closers.push(mailbox.close);
  const databases = { ownUrl: database.url, mirrorUrl: database.url, endpoint: database.endpoint.url };
  const journal = createJournal();
  const telephony = await startTelephony([], journal);
  closers.push(telephony.close);
  const outside = outsideOf(databases, mailbox, telephony);
  const stage = await startStage(spoiled, outside, journal, { delayScale: 1 / 300 });
  closers.push(stage.close);
  for (const table of storeTables(stage.plan.functions)) await stage.tables.put(table, store);
  mailbox.append(Buffer.from(lead), new Date());
  stage.schedules.tick(({ name }) => name.startsWith('CallSweep'));
  const playCall = async () => {
    const { calls, notifications } = readCalls('local/samples/calls/answered-with-recording.json');
    const [origin = ''] = stage.webOrigins.values();
    await telephony.play(origin, calls, notifications);
  };
  return { database, stage, journal, playCall };
}

/** Takes an action away from every policy whose statements `where` accepts. */
function revoke(resources: TemplateResource[], action: string, where: (policy: string) => boolean): number {
  let revoked = 0;
  for (const { Type, Properties } of resources) {
    if (Type !== 'AWS::IAM::Policy' || !where(JSON.stringify(Properties))) continue;
    const document = Properties?.PolicyDocument as { Statement: { Action: string | string[] }[] };
    document.Statement = document.Statement.filter(({ Action }) => {
      const kept = ![Action].flat().includes(action);
      if (!kept) revoked++;
      return kept;
    });
  }
  return revoked;
}

const denied = (where: string, action: string) =>
  expect.objectContaining({ kind: 'access_denied', where, message: expect.stringContaining(action) });

describe('the product’s own templates, spoiled', { timeout: 60_000 }, () => {
  it('poller and retry processor without events:PutEvents: both are denied, and no event is out', async () => {
    const { stage, journal, database } = await run((resources) => {
      const functionsOnly = (policy: string) => /ImapPoller|NeonRetry/.test(policy);
      expect(revoke(resources, 'events:PutEvents', functionsOnly)).toBe(2);
    });
    await expect
      .poll(() => journal.errors, { timeout: 40_000 })
      .toContainEqual(denied('NeonRetryProcessor-us-east-1', 'events:PutEvents'));
    expect(journal.errors).toContainEqual(denied('ImapPollerFunction-us-east-1', 'events:PutEvents'));
    expect(stage.buses.records).toEqual([]);
    expect(await database.query('select published_at from lead_mails')).toEqual([{ published_at: null }]);
  });

  it('lead processor without its store table: default hours; transcribe processor without its bucket: the call waits', async () => {
    const { stage, journal, database, playCall } = await run((resources) => {
      expect(revoke(resources, 'dynamodb:Scan', (policy) => policy.includes('LeadProcessor'))).toBe(1);
      expect(
        revoke(resources, 's3:AbortMultipartUpload', (policy) => policy.includes('CallsTranscribe')),
      ).toBe(1);
    });
    await playCall();
    await expect
      .poll(() => journal.errors, { timeout: 40_000 })
      .toContainEqual(denied('TranscribeProcessorFunction-us-west-2', 's3:GetObject'));
    expect(
      await database.query(
        'select recording_status, stored_at from calls join call_recordings using (telephony_session_id)',
      ),
    ).toEqual([{ recording_status: 'available', stored_at: null }]);
    const calls = stage.queues.plans.find(({ name }) => name === 'transcribe-queue-us-west-2');
    await expect
      .poll(() => stage.queues.depth(calls?.arn ?? ''), { timeout: 10_000 })
      .toMatchObject({ visible: 0, inFlight: 1 });
    await expect
      .poll(() => journal.errors, { timeout: 40_000 })
      .toContainEqual(denied('LeadProcessorFunction-us-west-2', 'dynamodb:Scan'));
    // A task with a rough due time is better than none.
    await expect
      .poll(() => database.query('select status from tasks'), { timeout: 40_000 })
      .toEqual([{ status: 'pending' }]);
  });

  it('a variable that the poller needs is missing: it says which', async () => {
    const { journal } = await run((resources) => {
      for (const { Properties } of resources) {
        const { Variables } = (Properties?.Environment ?? {}) as { Variables?: Record<string, unknown> };
        if (Variables?.POWERTOOLS_SERVICE_NAME === 'poller') delete Variables.EVENT_BUS_NAME;
      }
    });
    await expect
      .poll(() => journal.errors, { timeout: 40_000 })
      .toContainEqual({
        kind: 'handler_error',
        where: 'ImapPollerFunction-us-east-1',
        message: expect.stringMatching(/MissingEnvironmentError: poller: .*EVENT_BUS_NAME/),
      });
  });
});
