import { describe, expect, it } from 'vitest';
import { followMail, type StepEnd } from '../../src/ops/smoke-follow.ts';
import type { SmokeState } from '../../src/ops/smoke-steps.ts';
import { aLead, aLedgerMail, riversideStore } from '../support/leads.ts';

const line = { ...aLedgerMail(), publishedAt: new Date('2026-11-03T14:15:30Z') } as unknown as NonNullable<
  SmokeState['line']
>;
const lead = aLead() as unknown as NonNullable<SmokeState['lead']>;
const contact = { lifecycleStage: 'lead', leadStatus: 'new' } as NonNullable<SmokeState['contact']>;
const task = { status: 'pending', dueAt: new Date('2026-11-03T14:20:00Z') } as NonNullable<
  SmokeState['task']
>;
const timeline = { eventType: 'lead.created' } as NonNullable<SmokeState['timeline']>;

/** Follows a mail whose state is `states` in turn; the last one stays. */
async function follow(states: readonly SmokeState[], { seen = true } = {}) {
  const ends: StepEnd[] = [];
  let reads = 0;
  const { ok } = await followMail({
    read: async () => states[Math.min(reads++, states.length - 1)] ?? {},
    context: { storeId: riversideStore.storeId, timeZone: 'America/New_York', isSeen: async () => seen },
    waitMs: 30,
    pollMs: 5,
    tell: (end) => ends.push(end),
  });
  return { ok, steps: ends.map((end) => [end.step, end.ok]), last: ends.at(-1)?.detail };
}

describe('following the smoke test’s mail', () => {
  it('reports every step in order, as it comes', async () => {
    const all = { line, lead, contact, task, timeline };
    const { ok, steps, last } = await follow([{}, {}, { line }, { line, lead }, all]);
    expect([ok, last]).toEqual([true, 'lead.created']);
    expect(steps).toEqual(
      [
        'ledger line',
        'lead row',
        'event published',
        'mail marked as read',
        'contact',
        'task',
        'timeline row',
      ].map((step) => [step, true]),
    );
  });

  it.each<[string, SmokeState, { seen?: boolean }]>([
    ['ledger line', {}, {}],
    ['lead row', { line }, {}],
    ['event published', { line: { ...line, publishedAt: null }, lead }, {}],
    ['mail marked as read', { line, lead }, { seen: false }],
    ['contact', { line, lead }, {}],
    ['task', { line, lead, contact }, {}],
    ['timeline row', { line, lead, contact, task }, {}],
  ])('ends at the first step that doesn’t come, and says where to look: %s', async (step, state, options) => {
    const { ok, steps, last } = await follow([state], options);
    expect([ok, steps.at(-1)]).toEqual([false, [step, false]]);
    expect(steps.slice(0, -1).every(([, came]) => came)).toBe(true);
    expect(last).toMatch(/^not there after 0.03 s\. [A-Z].+/);
  });

  it('doesn’t wait for a mail that took a wrong turn', async () => {
    const quarantined = await follow([{ line: { ...line, outcome: 'quarantined', reason: 'unparsed' } }]);
    expect(quarantined.last).toContain('quarantined (unparsed)');
    const astray = await follow([{ line, lead: { ...lead, storeId: null } }]);
    expect([astray.ok, astray.last]).toEqual([false, 'it went to no store']);
  });

  it('a database that fails is told by its code', async () => {
    const ends: StepEnd[] = [];
    const { ok } = await followMail({
      read: () => Promise.reject(Object.assign(new Error('secret'), { code: 'timeout' })),
      context: { storeId: '', timeZone: 'UTC', isSeen: async () => false },
      waitMs: 30,
      pollMs: 5,
      tell: (end) => ends.push(end),
    });
    expect([ok, ends]).toEqual([false, [{ step: 'ledger line', ok: false, detail: 'timeout' }]]);
  });
});
