import { NeonDbError } from '@neondatabase/serverless';
import { describe, expect, it } from 'vitest';
import { DatabaseError } from '../../src/db/errors.ts';
import { retryTransient } from '../../src/db/retry.ts';

const sqlError = (code: string) => Object.assign(new NeonDbError('message'), { code });
const dropped = () =>
  Object.assign(new NeonDbError('Error connecting'), {
    sourceError: new TypeError('fetch failed', {
      cause: Object.assign(new Error('closed'), { code: 'UND_ERR_SOCKET' }),
    }),
  });

/** Runs against a clock that only sleeping and working moves; answers each attempt from the list, then 'ok'. */
function scenario({
  errors,
  budgetMs = 10_000,
  attemptMs = 0,
  random = 0.5,
}: {
  errors: Error[];
  budgetMs?: number;
  attemptMs?: number;
  random?: number;
}) {
  let now = 0;
  let attempts = 0;
  const sleeps: number[] = [];
  const result = retryTransient(
    async () => {
      const error = errors[attempts++];
      now += attemptMs;
      if (error) throw error;
      return 'ok';
    },
    {
      deadline: new Date(budgetMs),
      clock: { now: () => new Date(now) },
      random: () => random,
      sleep: async (milliseconds) => {
        sleeps.push(milliseconds);
        now += milliseconds;
      },
    },
  );
  return { result, sleeps, attempts: () => attempts, elapsed: () => now };
}

describe('retryTransient', () => {
  it('waits longer each time', async () => {
    const run = scenario({ errors: [sqlError('40P01'), sqlError('40P01'), sqlError('40P01')] });
    await expect(run.result).resolves.toBe('ok');
    expect(run.sleeps).toEqual([100, 200, 400]);
  });

  it('spreads writers that failed together', async () => {
    const early = scenario({ errors: [sqlError('40001')], random: 0 });
    const late = scenario({ errors: [sqlError('40001')], random: 0.99 });
    await Promise.all([early.result, late.result]);
    expect(early.sleeps[0]).toBeLessThan(late.sleeps[0] ?? 0);
  });

  it('repeats at once after a dropped connection, and waits when the next one is dropped too', async () => {
    const run = scenario({ errors: [dropped(), dropped()] });
    await expect(run.result).resolves.toBe('ok');
    expect(run.sleeps).toEqual([200]);
  });

  it('gives up after four attempts, with the code', async () => {
    const run = scenario({ errors: Array.from({ length: 9 }, () => sqlError('40P01')) });
    await expect(run.result).rejects.toThrow(DatabaseError);
    await expect(run.result).rejects.toMatchObject({ code: '40P01', kind: 'transient' });
    expect(run.attempts()).toBe(4);
  });

  it('repeats a statement that ran out of time once', async () => {
    const run = scenario({ errors: [sqlError('57014'), sqlError('57014')] });
    await expect(run.result).rejects.toMatchObject({ code: '57014' });
    expect(run.attempts()).toBe(2);
  });

  it.each([sqlError('23505'), sqlError('22P02'), sqlError('42P01')])(
    'does not repeat wrong statements',
    async (error) => {
      const run = scenario({ errors: [error] });
      await expect(run.result).rejects.toMatchObject({ kind: 'data' });
      expect(run.attempts()).toBe(1);
    },
  );

  it('passes other errors on as they are', async () => {
    const bug = new TypeError('bug');
    const run = scenario({ errors: [bug] });
    await expect(run.result).rejects.toBe(bug);
    expect(run.attempts()).toBe(1);
  });

  it('begins no attempt that could not end before the deadline', async () => {
    const run = scenario({
      errors: Array.from({ length: 4 }, () => sqlError('40P01')),
      budgetMs: 1_000,
      attemptMs: 300,
    });
    await expect(run.result).rejects.toMatchObject({ code: '40P01' });
    expect(run.attempts()).toBe(2);
    expect(run.elapsed()).toBeLessThanOrEqual(1_000);
  });
});
