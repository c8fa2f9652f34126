import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Snapshot } from '../../local/snapshot.ts';

/** What `--json` prints: the snapshot, with its dates as ISO strings. */
type Printed = {
  [K in keyof Snapshot]: Snapshot[K] extends readonly unknown[] ? Record<string, unknown>[] : Snapshot[K];
};

let folder: string;
let running: ChildProcess | undefined;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'callytics-mails-'));
});
afterEach(() => running?.kill('SIGKILL'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A mail file with its arrival time as modification time. */
function mailFile(name: string, source: string, arrival: string): string {
  const file = join(folder, name);
  writeFileSync(file, source.replaceAll('\n', '\r\n'));
  utimesSync(file, new Date(arrival), new Date(arrival));
  return file;
}

const webLead = (messageId: string, to: string, first: string, phone: string) =>
  `From: web@forms.example
To: ${to}
Message-ID: <${messageId}@forms.example>
Subject: Web Lead - ${first} Lopez

First Name: ${first}
Last Name: Lopez
Phone: ${phone}
Email: ${first.toLowerCase()}@x.example
`;

function start(...argv: string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'bin/local.ts', ...argv]);
  running = child;
  const exitCode = new Promise((resolve) => child.once('close', resolve));
  return { child, exitCode };
}

const commandLines = () => execFileSync('ps', ['-A', '-o', 'args='], { encoding: 'utf8' });

describe('the run on one machine', { timeout: 120_000 }, () => {
  it('--once --json: from the mail to the task and from the call to the transcript, nothing left', async () => {
    const ana = mailFile(
      'ana.eml',
      webLead('a1', 'lead-tracking+OTF0412@leads.example', 'Ana', '(212) 555-0147'),
      '2026-11-03T14:15:00Z',
    );
    const again = mailFile(
      'ana-again.eml',
      webLead('a1', 'lead-tracking+OTF0412@leads.example', 'Ana', '(212) 555-0147'),
      '2026-11-03T14:16:00Z',
    );
    const bo = mailFile(
      'bo.eml',
      webLead('b1', 'harbor@leads.example', 'Bo', '(415) 555-0123'),
      '2026-11-03T15:00:00Z',
    );
    const junk = mailFile(
      'junk.eml',
      'From: a@x.example\nTo: harbor@leads.example\nSubject: hi\n\nhello',
      '2026-11-03T16:00:00Z',
    );

    const calls = [join('local', 'samples', 'calls', 'answered-with-recording.json')];
    const { child, exitCode } = start('--once', '--json', ana, ...calls, again, bo, junk);
    const [output, log, code] = await Promise.all([text(child.stdout), text(child.stderr), exitCode]);
    expect([code, code === 0 || log]).toEqual([0, true]);
    const printed: Printed = JSON.parse(output);
    expect(printed.errors).toEqual([]);

    const anaId = 'ana@x.example#+12125550147#2026-11-03';
    const boId = 'bo@x.example#+14155550123#2026-11-03';
    expect(printed.mails).toEqual([
      { file: ana, mailKey: expect.stringMatching(/^[0-9a-f]{64}$/), outcome: 'lead', leadId: anaId },
      { file: again, mailKey: printed.mails[0]?.mailKey, outcome: 'lead', leadId: anaId },
      { file: bo, mailKey: expect.stringMatching(/^[0-9a-f]{64}$/), outcome: 'lead', leadId: boId },
      {
        file: junk,
        mailKey: expect.stringMatching(/^[0-9a-f]{64}$/),
        outcome: 'quarantined',
        reason: 'unparsed',
      },
    ]);
    expect(printed.leads.map(({ id, receivedAt, franchiseId }) => [id, receivedAt, franchiseId])).toEqual([
      [anaId, '2026-11-03T14:15:00.000Z', 'orangeTheory'],
      [boId, '2026-11-03T15:00:00.000Z', 'orangeTheory'],
    ]);
    expect(printed.contacts.map(({ phone }) => phone).sort()).toEqual(['+12125550147', '+14155550123']);
    expect(printed.tasks.map(({ sourceLeadId }) => sourceLeadId).sort()).toEqual([anaId, boId]);
    const session = 's-400131426008z00201';
    const keys = printed.timeline.map(({ idempotencyKey }) => String(idempotencyKey));
    expect(keys.filter((key) => key.startsWith('lead.'))).toEqual([
      `lead.created:${anaId}`,
      `lead.created:${boId}`,
    ]);
    expect(keys.filter((key) => key.startsWith('call.')).map((key) => key.split(':')[0])).toEqual(
      expect.arrayContaining(['call.setup', 'call.answered', 'call.disconnected', 'call.transcribed']),
    );
    expect(printed.calls).toEqual([
      expect.objectContaining({
        telephonySessionId: session,
        callLogStatus: 'found',
        recordingStatus: 'stored',
        nextAttemptAt: null,
        recordings: [expect.objectContaining({ recordingId: '55002010', transcriptionStatus: 'completed' })],
        voicemails: [],
      }),
    ]);
    expect(printed.transcripts).toEqual([
      expect.objectContaining({ source: 'recording', sourceId: '55002010', speakerBasis: 'channel' }),
    ]);
    expect(Object.values(printed.queues)).toEqual(Array(7).fill({ visible: 0, inFlight: 0, delayed: 0 }));
    expect(Object.keys(printed.queues)).toEqual(
      expect.arrayContaining(['lead-processor-queue-us-west-2', 'transcribe-queue-us-west-2']),
    );
    const leadEvents = printed.events.filter(({ detailType }) => detailType === 'LeadCreated');
    expect(leadEvents.map(({ detailType, deliveries }) => [detailType, deliveries])).toEqual(
      Array(2).fill([
        'LeadCreated',
        [
          expect.objectContaining({ rule: 'LeadTrackingForwarding-us-east-1', outcome: 'delivered' }),
          expect.objectContaining({ rule: 'LeadCreatedRule-us-west-2', outcome: 'delivered' }),
        ],
      ]),
    );
    expect(log).toContain('mail.processed');
  });

  it('stays up with a page, takes mail dropped into its folder, and Ctrl-C leaves nothing behind', async () => {
    const ana = mailFile(
      'first.eml',
      webLead('f1', 'riverside@leads.example', 'Ana', '(212) 555-0147'),
      '2026-11-03T14:15:00Z',
    );
    const { child, exitCode } = start('--stage', 'test', ana);
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    await expect.poll(() => output, { timeout: 90_000 }).toContain('Ctrl-C ends.');
    expect(output).toMatch(/Tasks \(1\)\n.*\n.*\n {2}orangeTheory-0412 +\+12125550147 +.* E[SD]T +high/);

    const url = /Page: (\S+)/.exec(output)?.[1] ?? '';
    const inbox = /into (\S+)/.exec(output)?.[1] ?? '';
    const page = async () => (await fetch(url)).text();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await page()).toContain('ana@x.example');
    expect(
      (await fetch(`${url}/redrive`, { method: 'POST', headers: { origin: 'https://elsewhere.example' } }))
        .status,
    ).toBe(403);
    expect(
      (await fetch(`${url}/redrive`, { method: 'POST', body: new URLSearchParams({ queue: 'nobody' }) }))
        .status,
    ).toBe(404);
    const redrive = await fetch(`${url}/redrive`, {
      method: 'POST',
      body: new URLSearchParams({ queue: 'lead-processor-dlq-test-us-west-2' }),
    });
    expect(await redrive.text()).toContain('0 moved from lead-processor-dlq-test-us-west-2');

    writeFileSync(join(inbox, 'second.eml'), webLead('s1', 'harbor@leads.example', 'Cy', '(415) 555-0199'));
    await expect.poll(page, { timeout: 30_000, interval: 500 }).toContain('+14155550199');

    expect(commandLines()).toContain(`callytics-postgres-${child.pid}`);
    child.kill('SIGINT');
    expect(await exitCode).toBe(0);
    expect(commandLines()).not.toContain(`callytics-postgres-${child.pid}`);
    expect(existsSync(inbox)).toBe(false);
  });

  it('a wrong command ends with exit code 2 before anything starts', async () => {
    const webhooks = join(folder, 'webhooks.json');
    writeFileSync(webhooks, '[{"event":"/restapi/v1.0/account/1/telephony/sessions","body":{}}]');
    const { child, exitCode } = start('--once', webhooks);
    const [output, message, code] = await Promise.all([text(child.stdout), text(child.stderr), exitCode]);
    expect([output, code]).toEqual(['', 2]);
    expect(message).toMatch(
      /^\S+webhooks\.json: 0\.body\.sequence: .*\nnpm start -- --help shows the options\.\n$/,
    );
  });
});
