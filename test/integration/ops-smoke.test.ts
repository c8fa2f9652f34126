import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createJournal, type Journal } from '../../local/journal.ts';
import { launch } from '../../local/launch.ts';
import { type Run, startRun } from '../../local/run.ts';
import { smoke } from '../../src/ops/smoke.ts';
import { operate } from '../ops/operator-stage.ts';
import { riversideStore } from '../support/leads.ts';

let journal: Journal;
let run: Run;
let ticking = true;
let ticked: Promise<void>;

/** The poller's five minutes in a moment: one tick after the other, never two at a time. */
async function keepTicking(): Promise<void> {
  while (ticking) {
    run.stage.schedules.tick();
    do await sleep(200);
    while (ticking && !(await run.stage.isIdle()));
  }
}

beforeAll(async () => {
  journal = createJournal();
  run = await startRun(launch('test'), [riversideStore], journal);
  Object.assign(process.env, run.stage.operator);
  ticked = keepTicking();
}, 60_000);
afterAll(async () => {
  ticking = false;
  await ticked;
  await run?.close();
});

/** `npm run smoke` in a process of its own, with nothing but the operator's access in its environment. */
async function spawnSmoke(...argv: string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'bin/smoke.ts', ...argv], {
    env: { PATH: process.env.PATH, ...run.stage.operator },
  });
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { out, err, code };
}

interface Smoked {
  ok: boolean;
  mailKey: string;
  phone: string;
  steps: { step: string; ok: boolean; seconds: number; detail: string }[];
  left: string[];
}

describe('npm run smoke against the run on one machine', { timeout: 60_000 }, () => {
  it('sends a mail through the stage, reports each step, and ops shows the whole way', async () => {
    const { out, err, code } = await spawnSmoke('--stage', 'test', '--wait', '30', '--json');
    expect([code, code === 0 || err]).toEqual([0, true]);
    const smoked: Smoked = JSON.parse(out);
    expect(smoked.steps.map(({ step, ok }) => [step, ok])).toEqual(
      [
        ...['mail in the mailbox', 'ledger line', 'lead row', 'event published', 'mail marked as read'],
        ...['contact', 'task', 'timeline row'],
      ].map((step) => [step, true]),
    );
    expect(journal.errors).toEqual([]);

    const { leads, contacts, tasks } = await run.snapshot();
    expect(leads).toMatchObject([
      { storeId: riversideStore.storeId, phone: smoked.phone, firstName: 'Smoke' },
    ]);
    expect([contacts.length, tasks.length]).toEqual([1, 1]);
    expect(smoked.left).toContain(`delete from leads where id = '${leads[0]?.id}';`);

    const shown = await operate(['leads', 'show', smoked.mailKey, '--stage', 'test']);
    expect(shown.code).toBe(0);
    expect(shown.out).toMatch(new RegExp(`^ {2}task {7}pending, .*${tasks[0]?.taskId}`, 'm'));
  });

  it('a second run gets its own task, for the store that --to names', async () => {
    const { out, code } = await operate(
      ['--stage', 'test', '--to', 'lead-tracking+otf0412@leads.example', '--wait', '30'],
      smoke,
    );
    expect(code).toBe(0);
    expect(out).toMatch(
      /^Smoke test of stage test: a lead for orangeTheory-0412, to lead-tracking\+otf0412@/,
    );
    expect(out.match(/^ {2}ok {5} +\d+\.\d s {2}/gm)).toHaveLength(8);
    expect(out).toContain('The lead went all the way. Left behind:\n-- the mail <smoke-');
    expect((await run.snapshot()).tasks).toHaveLength(2);
  });

  it('prod, whose staff get a real task: nothing is sent without --yes', async () => {
    const before = run.mailbox.unseen();
    const { out, code } = await operate(['--stage', 'prod', '--to', riversideStore.leadEmail], smoke);
    expect([code, out]).toEqual([
      0,
      'Smoke test of stage prod: a lead for orangeTheory-0412, to riverside@leads.example\nDry run: nothing was sent. --yes sends it.',
    ]);
    expect(run.mailbox.unseen()).toEqual(before);
  });

  it('an address that no store has sends nothing', async () => {
    const before = run.mailbox.unseen();
    const { out, err, code } = await operate(['--stage', 'test', '--to', 'nobody@leads.example'], smoke);
    expect([code, out, err]).toEqual([
      1,
      '',
      expect.stringContaining('No store of StoresV2 has nobody@leads.example. Nothing was sent.'),
    ]);
    expect(run.mailbox.unseen()).toEqual(before);
  });

  it('ends with 1 at the step that doesn’t come', async () => {
    ticking = false;
    await ticked;
    const { out, code } = await operate(['--stage', 'test', '--wait', '1'], smoke);
    expect(code).toBe(1);
    expect(out).toMatch(
      /FAILED +\d+\.\d s {2}ledger line: not there after 1 s\. The poller runs every five minutes/,
    );
    expect(out).toContain('The lead did not arrive. Left behind:');
  });
});
