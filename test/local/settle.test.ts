import { describe, expect, it } from 'vitest';
import type { RulePlan } from '../../local/assembly/rules.ts';
import { createJournal } from '../../local/journal.ts';
import { type OpenCalls, settle, type Work } from '../../local/settle.ts';
import type { LocalStage } from '../../local/stage.ts';

const limits = { tickMs: 2_000, idleTicks: 3, betweenIdleTicksMs: 1 };

/** A stage whose ticks do what the test says; nothing else in it is ever busy. */
function stageWith(tick: LocalStage['schedules']['tick'], isIdle = async () => true): LocalStage {
  const queue = { name: 'work', arn: 'arn:work' };
  const depth = async () => ({ visible: 1, inFlight: 2, delayed: 0 });
  return { schedules: { tick }, isIdle, queues: { plans: [queue], depth } } as unknown as LocalStage;
}

/** Work whose mails and calls the test says. */
const workOf = (unseen: number[], openCalls: () => OpenCalls = () => ({ left: 0 })): Work => ({
  unseen: () => unseen,
  openCalls: async () => openCalls(),
  isSweep: ({ name }) => name === 'sweep',
});

describe('until nothing is left to do', () => {
  it('ticks as often as mail is left, and no more', async () => {
    const journal = createJournal();
    const unseen = Array.from({ length: 450 }, (_, index) => index + 1);
    let ticks = 0;
    const stage = stageWith(() => {
      ticks++;
      unseen.splice(0, 200);
    });
    await settle(stage, workOf(unseen), journal, limits);
    expect(ticks).toBe(3);
    expect(journal.errors).toEqual([]);
  });

  it('an empty mailbox takes one tick', async () => {
    let ticks = 0;
    await settle(
      stageWith(() => ticks++),
      workOf([]),
      createJournal(),
      limits,
    );
    expect(ticks).toBe(1);
  });

  it('gives up mail that no tick settles, and says so', async () => {
    const journal = createJournal();
    let ticks = 0;
    await settle(
      stageWith(() => ticks++),
      workOf([7]),
      journal,
      limits,
    );
    expect(ticks).toBe(3);
    expect(journal.errors).toEqual([
      { kind: 'mail_unsettled', where: 'mailbox', message: '1 left unseen after 3 ticks without progress' },
    ]);
  });

  it('calls that wait for the sweep: ticks until none does, or none is settled', async () => {
    const journal = createJournal();
    let [ticks, left] = [0, 3];
    const stage = stageWith(() => {
      ticks++;
      left--;
    });
    await settle(
      stage,
      workOf([], () => ({ left })),
      journal,
      limits,
    );
    expect([ticks, journal.errors]).toEqual([3, []]);

    await settle(
      stageWith(() => undefined),
      workOf([], () => ({ left: 2 })),
      journal,
      limits,
    );
    expect(journal.errors).toEqual([
      { kind: 'call_unsettled', where: 'calls', message: '2 left unfinished after 3 ticks without progress' },
    ]);
  });

  it('a call that is to be looked at later is waited for', async () => {
    const journal = createJournal();
    const dueAt = Date.now() + 50;
    const ticks: boolean[] = [];
    const stage = stageWith(() => void ticks.push(Date.now() >= dueAt));
    const openCalls = () => (ticks.includes(true) ? { left: 0 } : { left: 1, dueAt });
    await settle(stage, workOf([], openCalls), journal, limits);
    expect([ticks, journal.errors]).toEqual([[false, true], []]);
  });

  it('the sweep waits until RingCentral has what is late', async () => {
    const comingAt = Date.now() + 50;
    const ticked: [string[], boolean][] = [];
    const tick = (skip: (rule: RulePlan) => boolean = () => false) => {
      const names = ['poller', 'sweep'].filter((name) => !skip({ name } as RulePlan));
      ticked.push([names, Date.now() >= comingAt]);
    };
    await settle(
      stageWith(tick),
      workOf([], () => ({ left: 0, comingAt })),
      createJournal(),
      limits,
    );
    expect(ticked).toEqual([
      [['poller'], false],
      [['poller', 'sweep'], true],
    ]);
  });

  it('ends when its time is up, and names what is still busy', async () => {
    const journal = createJournal();
    const stage = stageWith(
      () => undefined,
      async () => false,
    );
    await settle(stage, workOf([]), journal, { ...limits, tickMs: 50 });
    expect(journal.errors).toEqual([
      { kind: 'time_limit', where: 'run', message: 'still busy after 0.05 s: 3 in work' },
    ]);
  });
});
