import { describe, expect, it } from 'vitest';
import { createJournal } from '../../local/journal.ts';
import { settle } from '../../local/settle.ts';
import type { LocalStage } from '../../local/stage.ts';

const limits = { tickMs: 2_000, idleTicks: 3, betweenIdleTicksMs: 1 };

/** A stage whose ticks do what the test says; nothing else in it is ever busy. */
function stageWith(tick: () => void, isIdle = async () => true): LocalStage {
  const queue = { name: 'work', arn: 'arn:work' };
  const depth = async () => ({ visible: 1, inFlight: 2, delayed: 0 });
  return { schedules: { tick }, isIdle, queues: { plans: [queue], depth } } as unknown as LocalStage;
}

describe('until nothing is left to do', () => {
  it('ticks as often as mail is left, and no more', async () => {
    const journal = createJournal();
    const unseen = Array.from({ length: 450 }, (_, index) => index + 1);
    let ticks = 0;
    const stage = stageWith(() => {
      ticks++;
      unseen.splice(0, 200);
    });
    await settle(stage, { unseen: () => unseen }, journal, limits);
    expect(ticks).toBe(3);
    expect(journal.errors).toEqual([]);
  });

  it('an empty mailbox takes one tick', async () => {
    let ticks = 0;
    await settle(
      stageWith(() => ticks++),
      { unseen: () => [] },
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
      { unseen: () => [7] },
      journal,
      limits,
    );
    expect(ticks).toBe(3);
    expect(journal.errors).toEqual([
      { kind: 'mail_unsettled', where: 'mailbox', message: '1 left unseen after 3 ticks without progress' },
    ]);
  });

  it('ends when its time is up, and names what is still busy', async () => {
    const journal = createJournal();
    const stage = stageWith(
      () => undefined,
      async () => false,
    );
    await settle(stage, { unseen: () => [] }, journal, { ...limits, tickMs: 50 });
    expect(journal.errors).toEqual([
      { kind: 'time_limit', where: 'run', message: 'still busy after 0.05 s: 3 in work' },
    ]);
  });
});
