import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TakeMailResult } from '../../src/leads/take-mail.ts';
import { runTick, type TickDependencies, TickFailedError } from '../../src/leads/tick.ts';
import { MailboxError } from '../../src/mail/mailbox.ts';
import { createStateTable, type StateTable } from '../../src/platform/state-table.ts';
import { startDynamoDb } from '../support/dynamodb.ts';
import { brokenStateTable, FakeClock, recordingLog, recordingMeter } from '../support/fakes.ts';
import { aParsedMail } from '../support/leads.ts';
import { MemoryMailbox } from '../support/memory-mailbox.ts';

let dynamo: Awaited<ReturnType<typeof startDynamoDb>>;
let tables = 0;
let state: StateTable;

beforeAll(async () => {
  dynamo = await startDynamoDb();
});
afterAll(() => dynamo.stop());
beforeEach(async () => {
  tables += 1;
  await dynamo.createTable({ TableName: `state-${tables}` });
  state = createStateTable(`state-${tables}`, dynamo.client);
});

/** A poller around a folder in memory; `take` decides what becomes of each mail. */
function aPoller(mailbox = new MemoryMailbox(), over: Partial<TickDependencies> = {}) {
  const taken: number[] = [];
  const quarantined: number[] = [];
  const results = new Map<number, () => TakeMailResult | Promise<TakeMailResult>>();
  const log = recordingLog();
  const meter = recordingMeter();
  const clock = new FakeClock();
  let invocation = 0;
  const deps = (): TickDependencies => {
    invocation += 1;
    return {
      state,
      openMailbox: async () => mailbox,
      invocationId: `invocation-${invocation}`,
      housekeeping: async () => {},
      parse: async () => aParsedMail(),
      quarantine: async ({ uid }) => {
        quarantined.push(uid);
        return aParsedMail({ outcome: 'quarantined', reason: 'attempts_exhausted' });
      },
      take: async (_parsed, { uid }) => {
        taken.push(uid);
        return (await results.get(uid)?.()) ?? { kind: 'settled' };
      },
      remainingMs: () => 240_000,
      clock,
      log,
      meter,
      ...over,
    };
  };
  const tick = () => runTick(deps(), ['INBOX']);
  return { mailbox, taken, quarantined, results, log, meter, clock, tick, deps };
}

describe('a tick', () => {
  it('M02 takes every mail, marks it seen after it is taken, and takes none twice', async () => {
    const { mailbox, taken, tick, meter } = aPoller();
    for (let mail = 0; mail < 2; mail += 1) mailbox.add('mail');
    await tick();
    await tick();
    expect(taken).toEqual([1, 2]);
    expect(mailbox.mails.every(({ seen }) => seen)).toBe(true);
    expect(mailbox.closed).toBe(true);
    expect(meter.totals).toMatchObject({ PollerRuns: 2, PollerFailures: 0, OldestUnprocessedMailAge: 0 });
  });

  it('M04 an empty mailbox is a successful run', async () => {
    const { tick, meter } = aPoller();
    expect(await tick()).toEqual({ INBOX: { candidates: 0, settled: 0, kept: 0, oldestUnprocessedAge: 0 } });
    expect(meter.totals.PollerRuns).toBe(1);
  });

  it('M03 begins no mail with under 20 seconds left, and goes on at the next tick', async () => {
    let remaining = 240_000;
    const { mailbox, taken, tick, log } = aPoller(undefined, { remainingMs: () => remaining });
    for (let mail = 0; mail < 50; mail += 1) mailbox.add('mail');
    const markSeen = mailbox.markSeen.bind(mailbox);
    mailbox.markSeen = async (uid) => {
      if (uid === 10) remaining = 19_999;
      return markSeen(uid);
    };
    await tick();
    expect(taken).toHaveLength(10);
    expect(mailbox.mails.filter(({ seen }) => !seen)).toHaveLength(40);
    expect(log.lines).toContainEqual(
      expect.objectContaining({
        event: 'poller.finished',
        fields: expect.objectContaining({ stopped: 'deadline' }),
      }),
    );
    remaining = 240_000;
    await tick();
    expect(new Set(taken).size).toBe(50);
  });

  it('M13 a mail that failed below the watermark comes again, those behind it are not held up', async () => {
    const { mailbox, results, taken, tick } = aPoller();
    mailbox.add('one');
    mailbox.add('two');
    results.set(1, () => ({ kind: 'kept', reason: 'retry_queue_unavailable' }));
    await tick();
    expect(mailbox.mails.map(({ seen }) => seen)).toEqual([false, true]);
    results.clear();
    await tick();
    expect(taken).toEqual([1, 2, 1]);
    expect(mailbox.mails.every(({ seen }) => seen)).toBe(true);
  });

  it('a kept mail is tried as long as the outage lasts: outages cost no attempt', async () => {
    const { mailbox, results, taken, quarantined, tick } = aPoller();
    mailbox.add('one');
    results.set(1, () => ({ kind: 'kept', reason: 'legacy_put_failed' }));
    for (let outage = 0; outage < 8; outage += 1) await tick();
    results.clear();
    await tick();
    expect(taken).toHaveLength(9);
    expect(quarantined).toEqual([]);
  });

  it('M24 a mail that kills the process three times is quarantined unread, and its neighbours go first', async () => {
    const { mailbox, taken, quarantined, deps, results } = aPoller();
    mailbox.add('poison');
    mailbox.add('fine');
    const died = new Error('the process died');
    results.set(1, () => Promise.reject(died));
    for (let run = 0; run < 3; run += 1) {
      // Dying = nothing after the fatal await happens: no log, no book-keeping, no release of the lease.
      const { state: table, ...rest } = deps();
      let dead = false;
      let die = () => {};
      const death = new Promise<void>((resolve) => {
        die = resolve;
      });
      const dying: StateTable = {
        get: (pk) => (dead ? new Promise(() => {}) : table.get(pk)),
        put: (pk, attributes) => (dead ? new Promise(() => {}) : table.put(pk, attributes)),
        update: (pk, expression) => (dead ? new Promise(() => {}) : table.update(pk, expression)),
        delete: (pk) => (dead ? new Promise(() => {}) : table.delete(pk)),
      };
      const run1 = runTick(
        {
          ...rest,
          state: dying,
          remainingMs: () => 240_000,
          take: async (parsed, position) => {
            if (position.uid !== 1) return rest.take(parsed, position);
            dead = true;
            taken.push(1);
            die();
            return new Promise(() => {});
          },
        },
        ['INBOX'],
      );
      await Promise.race([run1, death]);
      await state.delete('poller#INBOX');
    }
    expect(taken.filter((uid) => uid === 2)).toHaveLength(1);
    results.clear();
    mailbox.fetched.length = 0;
    await runTick(deps(), ['INBOX']);
    expect(quarantined).toEqual([1]);
    expect(mailbox.fetched).not.toContain(1);
    expect(mailbox.mails.every(({ seen }) => seen)).toBe(true);
  });

  it('M06 a mail that cannot be marked seen is said so, and not taken again', async () => {
    const { mailbox, taken, tick, log, meter } = aPoller();
    mailbox.add('one');
    mailbox.markSeen = async () => false;
    await tick();
    await tick();
    expect(taken).toEqual([1]);
    expect(meter.totals.MailNotMarkedSeen).toBe(1);
    expect(log.lines.map(({ event }) => event)).toContain('mail.not_marked_seen');
  });

  it('M08 a link that breaks while a mail is marked costs the next mail no attempt', async () => {
    const { mailbox, taken, quarantined, tick } = aPoller();
    for (let mail = 0; mail < 3; mail += 1) mailbox.add('mail');
    const markSeen = mailbox.markSeen.bind(mailbox);
    let broken = true;
    mailbox.markSeen = async (uid) => {
      if (broken) throw new MailboxError('connection_lost', 'the link is gone');
      return markSeen(uid);
    };
    for (let run = 0; run < 2; run += 1) await expect(tick()).rejects.toThrow('connection_lost');
    broken = false;
    await tick();
    expect(taken).toEqual([1, 2, 3]);
    expect(quarantined).toEqual([]);
  });

  /** A folder whose mail 1 breaks the link; `reachable` tells whether it can be opened again after that. */
  function aBreakingMail(code: 'connection_lost' | 'timeout') {
    const mailbox = new MemoryMailbox();
    const link = { broken: true, reachable: false };
    let lost = false;
    const openMailbox = async () => {
      if (lost && !link.reachable) {
        lost = false;
        throw new MailboxError('connect_failed', 'nobody there');
      }
      lost = false;
      return mailbox;
    };
    const poller = aPoller(mailbox, { openMailbox });
    const fetch = mailbox.fetch.bind(mailbox);
    mailbox.fetch = async (uid) => {
      if (uid !== 1 || !link.broken) return fetch(uid);
      lost = true;
      throw new MailboxError(code, 'the link is gone');
    };
    mailbox.add('one');
    return { ...poller, link };
  }

  it.each(['connection_lost', 'timeout'] as const)(
    'a network that is down costs the mail under which it broke no attempt: %s',
    async (code) => {
      const { taken, quarantined, tick, link } = aBreakingMail(code);
      for (let run = 0; run < 8; run += 1) await expect(tick()).rejects.toThrow(code);
      link.broken = false;
      await tick();
      expect(taken).toEqual([1]);
      expect(quarantined).toEqual([]);
    },
  );

  it.each<[string, boolean, number]>([
    ['the link, each time', true, 3],
    ['the server for a while, each time', false, 15],
  ])('M24 a mail that breaks %s, ends in quarantine', async (_, reachable, failures) => {
    const { quarantined, tick, link } = aBreakingMail('connection_lost');
    link.reachable = reachable;
    for (let run = 0; run < failures; run += 1) {
      await expect(tick()).rejects.toThrow('connection_lost');
      expect(quarantined).toEqual([]);
    }
    await tick();
    expect(quarantined).toEqual([1]);
  });

  it('M17 a mail set to unseen by hand is taken again (its key de-duplicates), one opened first is not missed', async () => {
    const { mailbox, taken, tick } = aPoller();
    mailbox.add('opened by somebody', { seen: true });
    await tick();
    expect(taken).toEqual([1]);
    mailbox.add('opened between two ticks', { seen: true });
    await tick();
    expect(taken).toEqual([1, 2]);
    await tick();
    for (const mail of mailbox.mails) mail.seen = false;
    await tick();
    expect(taken).toEqual([1, 2, 1, 2]);
  });

  it('M23 two handlers at the same moment: one works, the other steps aside', async () => {
    const { mailbox, taken, deps, log } = aPoller();
    mailbox.add('one');
    await Promise.all([runTick(deps(), ['INBOX']), runTick(deps(), ['INBOX'])]);
    expect(taken).toEqual([1]);
    expect(log.lines.map(({ event }) => event)).toContain('poller.skipped');
  });

  it('works without its state table: UNSEEN mail only', async () => {
    const { mailbox, taken, tick, log } = aPoller(undefined, { state: brokenStateTable });
    mailbox.add('seen', { seen: true });
    mailbox.add('unseen');
    await tick();
    expect(taken).toEqual([2]);
    expect(log.lines.map(({ event }) => event)).toContain('state.unreadable');
  });

  it.each(['login_refused', 'search_refused', 'connection_lost'] as const)(
    'M27 %s is a failed run, not "no mail"',
    async (code) => {
      const { tick, meter, log } = aPoller(undefined, {
        openMailbox: () => Promise.reject(new MailboxError(code, 'the server says no')),
      });
      await expect(tick()).rejects.toThrow(TickFailedError);
      expect(meter.totals).toEqual({ PollerFailures: 1 });
      expect(log.lines).toContainEqual(
        expect.objectContaining({
          event: 'poller.failed',
          fields: expect.objectContaining({ error_code: code }),
        }),
      );
    },
  );

  it('M11 a throttled server ends the run at once, what was taken stays taken, nobody loses an attempt', async () => {
    const { mailbox, taken, quarantined, tick } = aPoller();
    for (let mail = 0; mail < 3; mail += 1) mailbox.add('mail');
    const fetch = mailbox.fetch.bind(mailbox);
    let throttled = true;
    mailbox.fetch = async (uid) => {
      if (uid === 2 && throttled) throw new MailboxError('throttled', 'try later');
      return fetch(uid);
    };
    for (let run = 0; run < 5; run += 1) await expect(tick()).rejects.toThrow('throttled');
    throttled = false;
    await tick();
    expect(taken).toEqual([1, 2, 3]);
    expect(quarantined).toEqual([]);
  });

  it('ends the tick, with the mail unseen, while StoresV2 cannot be read', async () => {
    const { mailbox, results, taken, tick } = aPoller();
    mailbox.add('one');
    mailbox.add('two');
    results.set(1, () => ({ kind: 'kept', reason: 'stores_unavailable' }));
    await expect(tick()).rejects.toThrow('stores_unavailable');
    expect(taken).toEqual([1]);
    expect(mailbox.mails.some(({ seen }) => seen)).toBe(false);
  });

  it('M16 reads every folder, each with its own books, and a failing one does not stop the next', async () => {
    const leads = new MemoryMailbox();
    leads.add('in Leads');
    const opened: string[] = [];
    const { deps, taken } = aPoller(undefined, {
      openMailbox: async (name) => {
        opened.push(name);
        if (name === 'INBOX') throw new MailboxError('mailbox_unavailable', 'not connected');
        return leads;
      },
    });
    await expect(runTick(deps(), ['INBOX', 'Leads'])).rejects.toThrow('INBOX: mailbox_unavailable');
    expect(opened).toEqual(['INBOX', 'Leads']);
    expect(taken).toEqual([1]);
  });

  it('tells the age of the oldest mail that has no outcome', async () => {
    const { mailbox, results, tick, meter, clock } = aPoller();
    mailbox.add('waiting', { receivedAt: new Date(clock.now().getTime() - 1_200_000) });
    mailbox.add('fine');
    results.set(1, () => ({ kind: 'kept', reason: 'legacy_put_failed' }));
    await tick();
    expect(meter.totals.OldestUnprocessedMailAge).toBe(1200);
  });
});
