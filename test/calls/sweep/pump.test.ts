import { afterEach, describe, expect, it } from 'vitest';
import { answeredCall, missedCall, voicemailCall } from '../../../local/ringcentral/sample-calls.ts';
import { riverside } from '../../simulation/call-accounts.ts';
import { withShortAudio } from '../../simulation/call-samples.ts';
import { type CallWorld, startCallWorld, stopCallWorlds } from '../call-world.ts';
import { noPasses, seedCall, seedParked, sweepEachMinute, sweepNow, sweepOf } from './sweeping.ts';

afterEach(stopCallWorlds);

const { accountId } = riverside;
const minute = 60_000;
const hour = 60 * minute;

/** A call of a minute that ended so long before the world's present; its recording is there. */
function endedCall(world: CallWorld, number: number, agoMs = 3 * minute) {
  const startedAt = new Date(world.now() - agoMs - 68_000);
  return withShortAudio(
    answeredCall({ accountId, number, startedAt, talkSeconds: 60, recordingDelaySeconds: 1 }),
  );
}

const heavy = (world: CallWorld) => world.requests().filter(({ group }) => group === 'heavy');
const statuses = async (world: CallWorld) =>
  (await world.calls()).map(({ recording_status }) => recording_status);
const parkedRows = async (world: CallWorld) =>
  (await world.calls()).map(({ next_step, next_attempt_at }) => [next_step, next_attempt_at]);
const isSigned = (world: CallWorld) => world.state.items.get(`parked#${accountId}`)?.parked_at !== undefined;

describe('a burst', () => {
  it('of 30 calls takes one list and 30 recordings, oldest first, and no 429', async () => {
    const world = await startCallWorld();
    await noPasses(world);
    for (let number = 1; number <= 30; number += 1) {
      await seedParked(world, endedCall(world, number, (7 - number / 10) * minute));
    }
    sweepEachMinute(world);
    await world.run(6);
    expect(await statuses(world)).toEqual(Array(30).fill('stored'));
    expect(heavy(world).map(({ status }) => status)).toEqual(Array(31).fill(200));
    expect(world.requests(/call_log/)).toHaveLength(1);
    const stored = world.logged('recording.stored').map(({ telephony_session_id }) => telephony_session_id);
    expect(stored).toEqual([...stored].sort());
    // Each message came when its slot was there: none was parked again.
    expect(world.meter.totals.CallParked).toBeUndefined();
    expect([world.queue.deadLetters, isSigned(world)]).toEqual([[], false]);
  });

  it('is sent first and moves on after: dying in between sends it twice, and stores it once', async () => {
    const world = await startCallWorld();
    await noPasses(world);
    await seedParked(world, endedCall(world, 1));
    const deps = sweepOf(world);
    const dying = { send: async () => Promise.reject(new Error('died')) };
    const sentAndDied = sweepOf(world, {
      queue: {
        send: async (...message) => {
          await world.queue.send(...message);
          await dying.send();
        },
      },
    });
    await expect(sweepNow(world, sentAndDied)).rejects.toThrow();
    expect(await parkedRows(world)).toEqual([['recording', world.clock.now()]]);
    await sweepNow(world, deps);
    expect(world.queue.sent).toHaveLength(2);
    await world.run(2);
    expect([...world.objects.uploads.values()]).toEqual([1]);
    expect(await statuses(world)).toEqual(['stored']);
  });
});

describe('live work', () => {
  it('goes before back-fill, which gets half the slots while live work is due', async () => {
    const world = await startCallWorld();
    await noPasses(world);
    for (let number = 1; number <= 40; number += 1) {
      await seedParked(world, endedCall(world, number, 5 * hour - number * minute));
    }
    sweepEachMinute(world);
    await world.run(2);
    await seedParked(world, endedCall(world, 41, 2 * minute));
    const parkedAt = world.now();
    await world.run(2);
    const live = world
      .logged('recording.stored')
      .findIndex(
        ({ telephony_session_id }) => telephony_session_id === endedCall(world, 41).telephonySessionId,
      );
    const at = world.lines.filter(({ event }) => event === 'recording.stored')[live]?.at ?? Number.NaN;
    expect(at - parkedAt).toBeLessThanOrEqual(2 * minute);
    const shares = world.logged('call_sweep.pump_finished').filter(({ sent_live }) => Number(sent_live) > 0);
    expect(shares.map(({ sent_back, slots }) => Number(sent_back) <= Number(slots) / 2)).toEqual([true]);
    await world.run(6);
    expect(await statuses(world)).toEqual(Array(41).fill('stored'));
    expect(heavy(world).filter(({ status }) => status === 429)).toEqual([]);
    expect(heavy(world).length).toBeLessThanOrEqual(1.2 * 41);
  });

  it('back-fill of days is listed in windows of 26 hours, the oldest first', async () => {
    const world = await startCallWorld();
    await noPasses(world);
    for (const [number, days] of [3, 2.9, 1].entries()) {
      await seedParked(world, endedCall(world, number + 1, days * 24 * hour));
    }
    sweepEachMinute(world);
    await world.run(3);
    const windows = world
      .requests(/call_log/)
      .map(({ path }) => new URL(path, 'http://localhost').searchParams)
      .map((query) => Date.parse(query.get('dateTo') ?? '') - Date.parse(query.get('dateFrom') ?? ''));
    expect(windows).toHaveLength(2);
    expect(Math.max(...windows)).toBeLessThanOrEqual(26 * hour);
    expect(await statuses(world)).toEqual(Array(3).fill('stored'));
  });
});

describe('a session that the list hasn`t', () => {
  it('is looked for 5 min and 15 min 30 s after the end, and no more', async () => {
    const world = await startCallWorld();
    await noPasses(world);
    const call = endedCall(world, 1, 2 * minute);
    for (const record of call.records) record.visibleAt = Number.POSITIVE_INFINITY;
    await seedParked(world, call);
    await sweepNow(world);
    expect(await parkedRows(world)).toEqual([['call_log', new Date(call.endedAt + 5 * minute)]]);
    expect(isSigned(world)).toBe(true);
    sweepEachMinute(world);
    await world.run(4);
    expect(await parkedRows(world)).toEqual([['call_log', new Date(call.endedAt + 15.5 * minute)]]);
    await world.run(12);
    expect(await world.calls()).toMatchObject([
      { call_log_status: 'failed', recording_status: 'pending', next_step: null, next_attempt_at: null },
    ]);
    expect(world.requests(/call_log/)).toHaveLength(3);
    expect(isSigned(world)).toBe(false);
  });

  it.each([
    ['a fault of RingCentral`s', { kind: 'status', status: 503 }],
    ['a cut connection', { kind: 'reset' }],
    ['a 429', { kind: 'status', status: 429, errorCode: 'CMN-301' }],
  ] as const)('stays parked after %s', async (_, fault) => {
    const world = await startCallWorld();
    await noPasses(world);
    await seedParked(world, endedCall(world, 1, 2 * hour));
    world.simulator.faults.add({ surface: 'account_call_log', fault });
    const parkedAt = world.clock.now();
    await sweepNow(world);
    expect(await parkedRows(world)).toEqual([['call_log', parkedAt]]);
    sweepEachMinute(world);
    await world.run(4);
    expect(await statuses(world)).toEqual(['stored']);
  });
});

it('a list that breaks off settles what it has, and the rest is asked for one by one', async () => {
  const world = await startCallWorld();
  await noPasses(world);
  const [old, fresh] = [endedCall(world, 1, 10 * hour), endedCall(world, 2, 9 * hour)];
  await seedParked(world, old);
  await seedParked(world, fresh);
  const { callLog } = sweepOf(world);
  let lists = 0;
  const deps = sweepOf(world, {
    callLog: {
      ...callLog,
      // Newest first: the older session was on the page that got no slot.
      listCallLog: async (account, window) => {
        const list = await callLog.listCallLog(account, window);
        lists += 1;
        const records = list.snapshot.records.slice(0, 1);
        const failure = {
          kind: 'no_slot',
          surface: 'account_call_log',
          group: 'heavy',
          waitSeconds: 8,
        } as const;
        return { snapshot: { ...list.snapshot, records }, failure };
      },
    },
  });
  await sweepNow(world, deps);
  expect(await parkedRows(world)).toEqual([
    ['call_log', null],
    ['recording', null],
  ]);
  sweepEachMinute(world, deps);
  await world.run(2);
  expect(await statuses(world)).toEqual(['stored', 'stored']);
  expect(lists).toBe(1);
});

it('R31 an account whose call log is forbidden has its sessions asked for one by one', async () => {
  const world = await startCallWorld();
  await noPasses(world);
  for (const number of [1, 2, 3]) await seedParked(world, endedCall(world, number));
  const fault = { kind: 'status', status: 403, errorCode: 'CMN-408' } as const;
  world.simulator.faults.add({ surface: 'account_call_log', fault, times: 9 });
  sweepEachMinute(world);
  await world.run(4);
  expect(world.requests(/account_call_log/)).toHaveLength(1);
  expect(world.requests(/extension_call_log/)).toHaveLength(3);
  expect(await statuses(world)).toEqual(['stored', 'stored', 'stored']);
});

describe('a closed gate', () => {
  it('keeps everything back that needs a Heavy slot, and nothing else', async () => {
    const world = await startCallWorld();
    await noPasses(world);
    await seedParked(world, endedCall(world, 1));
    const voicemail = voicemailCall({ accountId, number: 2, startedAt: new Date(world.now() - 5 * minute) });
    await seedParked(world, voicemail, 'voicemail');
    const [message] = voicemail.voicemails;
    await world.database.query(
      'insert into voicemails (account_id, message_id, telephony_session_id, message_uri) values ($1, $2, $3, $4)',
      [
        accountId,
        String(message?.id),
        voicemail.telephonySessionId,
        `${world.simulator.url}/restapi/v1.0/account/${accountId}/extension/${message?.extensionId}/message-store/${message?.id}`,
      ],
    );
    await world.database.query(
      `update calls set snapshot = '{"fetchedAt":"2026-03-04T14:59:00Z","coverage":"account","records":[]}', voicemail_status = 'pending' where next_step = 'voicemail'`,
    );
    const deps = sweepOf(world);
    const gated = sweepOf(world, {
      gate: {
        status: async (key) => ({ ...(await deps.gate.status(key)), closedUntil: new Date(world.now() + 1) }),
      },
    });
    await sweepNow(world, gated);
    expect(world.meter.totals).toMatchObject({ SweepRuns: 1, GateClosed: 1, ParkedCalls: 2 });
    await world.run(1);
    expect(heavy(world)).toEqual([]);
    expect((await world.calls()).map(({ voicemail_status }) => voicemail_status).sort()).toEqual([
      'none',
      'stored',
    ]);
    await sweepNow(world, deps);
    await world.run(1);
    expect(world.meter.totals).toMatchObject({ SweepRuns: 2, GateClosed: 1 });
    expect((await statuses(world)).sort()).toEqual(['pending', 'stored']);
  });
});

describe('the sign that work is parked', () => {
  it('is what opens the database', async () => {
    const world = await startCallWorld();
    await noPasses(world);
    await seedCall(world, missedCall({ accountId, number: 1, startedAt: world.clock.now() }));
    const deps = sweepOf(world, { neon: { run: async () => Promise.reject(new Error('opened')) } });
    await sweepNow(world, deps);
    expect(world.meter.totals).toEqual({
      SweepRuns: 1,
      GateClosed: 0,
      ParkedCalls: 0,
      CallsWithoutWebhook: 0,
    });
  });

  it('stays when somebody parks a session after the sweep has looked for the last time', async () => {
    const world = await startCallWorld();
    await noPasses(world);
    await seedParked(world, endedCall(world, 1));
    let late: Promise<void> | undefined;
    const deps = sweepOf(world, {
      queue: {
        send: async (...message) => {
          late ??= seedParked(world, endedCall(world, 2));
          await late;
          await world.queue.send(...message);
        },
      },
    });
    await sweepNow(world, deps);
    expect(isSigned(world)).toBe(true);
    sweepEachMinute(world);
    await world.run(3);
    expect(isSigned(world)).toBe(false);
    expect(await statuses(world)).toEqual(['stored', 'stored']);
  });

  it('stays when somebody parks more while the sweep runs', async () => {
    const world = await startCallWorld();
    await noPasses(world);
    await seedParked(world, endedCall(world, 1));
    const { callLog } = sweepOf(world);
    const deps = sweepOf(world, {
      callLog: {
        ...callLog,
        listCallLog: async (...args) => {
          const list = await callLog.listCallLog(...args);
          await seedParked(world, endedCall(world, 2), 'call_log', {
            next_attempt_at: new Date(world.now() + 1000),
          });
          return list;
        },
      },
    });
    await sweepNow(world, deps);
    expect(isSigned(world)).toBe(true);
    sweepEachMinute(world);
    await world.run(3);
    expect(isSigned(world)).toBe(false);
    expect(await statuses(world)).toEqual(['stored', 'stored']);
  });
});
