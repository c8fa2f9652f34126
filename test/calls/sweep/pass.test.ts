import { afterEach, describe, expect, it } from 'vitest';
import { answeredCall, transferCall, voicemailCall } from '../../../local/ringcentral/sample-calls.ts';
import { riverside } from '../../simulation/call-accounts.ts';
import { withShortAudio } from '../../simulation/call-samples.ts';
import { type CallWorld, startCallWorld, stopCallWorlds } from '../call-world.ts';
import { seedCall, seedParked, sweepEachMinute, sweepNow, sweepOf } from './sweeping.ts';

afterEach(stopCallWorlds);

const { accountId } = riverside;
const minute = 60_000;
const hour = 60 * minute;
const never = Number.POSITIVE_INFINITY;

interface CallOfTest {
  number?: number;
  /** Minutes. */
  talk?: number;
  endedAgo?: number;
  /** From the end until the recording is there. */
  readyAfter?: number;
}

function aCall(world: CallWorld, { number = 1, talk = 1, endedAgo = 3, readyAfter = 0 }: CallOfTest) {
  const startedAt = new Date(world.now() - endedAgo * minute - talk * minute - 8_000);
  return withShortAudio(
    answeredCall({
      accountId,
      number,
      startedAt,
      talkSeconds: talk * 60,
      recordingDelaySeconds: readyAfter * 60,
    }),
  );
}

/** What the first look saw: everything but the recording. */
function snapshotOf(call: ReturnType<typeof aCall>, records = call.records) {
  return {
    fetchedAt: new Date(call.endedAt + 90_000).toISOString(),
    coverage: 'account',
    records: records.map(({ id, sessionId, durationMs, startedAt }) => ({
      id,
      sessionId,
      uri: `https://platform.ringcentral.com/restapi/v1.0/account/${accountId}/call-log/${id}`,
      telephonySessionId: call.telephonySessionId,
      startTime: new Date(startedAt).toISOString(),
      durationMs,
      type: 'Voice',
      direction: 'Inbound',
      result: 'Accepted',
    })),
  };
}

/** A session as it is after a look at 90 s that saw no recording. */
const seedLooked = (
  world: CallWorld,
  call: ReturnType<typeof aCall>,
  columns: Record<string, unknown> = {},
) =>
  seedCall(world, call, {
    call_log_status: 'found',
    recording_status: 'pending',
    snapshot: snapshotOf(call),
    snapshot_at: new Date(call.endedAt + 90_000),
    ...columns,
  });

const seedRecording = (world: CallWorld, call: ReturnType<typeof aCall>) =>
  world.database.query(
    'insert into call_recordings (recording_id, account_id, telephony_session_id, content_uri) values ($1, $2, $3, $4)',
    [
      call.recordings[0]?.id,
      accountId,
      call.telephonySessionId,
      `${world.simulator.url}/media/restapi/v1.0/account/${accountId}/recording/${call.recordings[0]?.id}/content`,
    ],
  );

const lists = (world: CallWorld) =>
  world
    .requests(/account_call_log/)
    .map(({ path }) => new URL(path, 'http://localhost').searchParams)
    .filter((query) => query.has('perPage'))
    .map((query) => ({
      from: Date.parse(query.get('dateFrom') ?? ''),
      to: Date.parse(query.get('dateTo') ?? ''),
    }));
const byId = (world: CallWorld) =>
  world.requests(/account_call_log/).filter(({ path }) => /\/call-log\/[^?]/.test(path));

/** The hourly things are done; the pass over two hours is due. */
async function shortPassIsDue(world: CallWorld): Promise<void> {
  const at = world.now() + hour;
  await world.state.put(`sweep#${accountId}`, {
    version: 1,
    pass_at: world.now(),
    full_pass_at: at,
    full_passed_at: world.now(),
    subscription_at: at,
    transcriptions_at: at,
  });
}

describe('the rhythm', () => {
  it('is 26 hours each hour, and two hours each five minutes while sessions are open', async () => {
    const world = await startCallWorld();
    const start = world.now();
    await seedLooked(world, aCall(world, { readyAfter: never }));
    sweepEachMinute(world);
    await world.run(62);
    const [first, ...rest] = lists(world);
    expect(first).toEqual({ from: start - 26 * hour, to: start });
    const hourly = rest.filter(({ from, to }) => to - from === 26 * hour).map(({ to }) => to - start);
    expect(hourly).toEqual([hour]);
    const short = rest
      .filter(({ from, to }) => to - from === 2 * hour)
      .map(({ to }) => (to - start) / minute);
    expect(short).toEqual([5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55]);
  });

  it('is the hourly list alone while nothing is open', async () => {
    const world = await startCallWorld();
    sweepEachMinute(world);
    await world.run(62);
    expect(lists(world)).toHaveLength(2);
  });

  it('waits for its slot, and is due until it has one', async () => {
    const world = await startCallWorld();
    await shortPassIsDue(world);
    await seedLooked(world, aCall(world, {}));
    const { gate, callLog } = sweepOf(world);
    const taken = { from: world.clock.now(), to: world.clock.now() };
    // Somebody else has taken both slots that were there.
    for (let list = 0; list < 2; list += 1) await callLog.listCallLog(accountId, taken);
    await sweepNow(world);
    expect(lists(world).filter(({ from, to }) => to - from === 2 * hour)).toEqual([]);
    expect((await gate.status({ owner: accountId, group: 'heavy' })).slotsNow).toBe(0);
    await world.run(1);
    await sweepNow(world);
    expect(lists(world).filter(({ from, to }) => to - from === 2 * hour)).toHaveLength(1);
  });

  it('reaches back to the last full pass after an outage of our own, at most a week', async () => {
    const world = await startCallWorld();
    const passed = async (daysAgo: number) => {
      await world.state.put(`sweep#${accountId}`, {
        version: 1,
        full_passed_at: world.now() - daysAgo * 24 * hour,
        subscription_at: world.now() + hour,
      });
      await sweepNow(world);
      await world.run(1);
    };
    await passed(2);
    await passed(30);
    expect(lists(world).map(({ from, to }) => (to - from) / hour)).toEqual([48 + 26, 7 * 24]);
  });

  it('goes on where a full pass broke off', async () => {
    const world = await startCallWorld();
    const [fresh, old] = [aCall(world, { endedAgo: 60 }), aCall(world, { number: 2, endedAgo: 20 * 60 })];
    await seedLooked(world, fresh);
    await seedLooked(world, old);
    const { callLog } = sweepOf(world);
    let pages = 0;
    const deps = sweepOf(world, {
      callLog: {
        ...callLog,
        listCallLog: async (account, window) => {
          const list = await callLog.listCallLog(account, window);
          pages += 1;
          if (pages > 1) return list;
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
    await world.run(1);
    await sweepNow(world, deps);
    const [first, second] = lists(world);
    expect(second?.from).toBe((first?.from ?? 0) + minute);
    // An hour more than what is left, for sessions that were cut.
    expect(second?.to).toBe(
      new Date(fresh.records[0]?.startedAt ?? 0).getTime() +
        0.5 * (world.now() - minute - (fresh.records[0]?.startedAt ?? 0)),
    );
    await world.run(3);
    expect((await world.calls()).map(({ recording_status }) => recording_status)).toEqual([
      'stored',
      'stored',
    ]);
    await sweepNow(world, deps);
    expect(lists(world)).toHaveLength(2);
  });
});

describe('a call that began before the list', () => {
  it('is asked for by its record ids, at ever longer distances', async () => {
    const world = await startCallWorld();
    await shortPassIsDue(world);
    const start = world.now();
    // Three hours long, so its recording takes about as long again.
    const call = aCall(world, { talk: 180, endedAgo: 2, readyAfter: 30 });
    await seedLooked(world, call);
    sweepEachMinute(world);
    await world.run(59);
    const asked = byId(world).map(({ at }) => (at - start) / minute);
    expect(asked).toEqual([5, 15, 35]);
    expect(await world.calls()).toMatchObject([{ recording_status: 'stored' }]);
    expect(byId(world)[0]?.path).toContain(`/call-log/${call.records[0]?.id}?`);
  });

  it('is not cut down to the records that the list has', async () => {
    const world = await startCallWorld();
    await shortPassIsDue(world);
    const call = aCall(world, { talk: 180, endedAgo: 10 });
    const [record] = call.records;
    if (!record) throw new Error('A call has a record');
    const later = { ...record, id: 'later', startedAt: world.now() - hour, durationMs: 50 * minute };
    call.records.push(later);
    delete record.recording;
    for (const leg of record.legs) delete leg.recording;
    await seedLooked(world, call, { snapshot: snapshotOf(call) });
    await seedLooked(world, aCall(world, { number: 2, readyAfter: never }));
    await sweepNow(world);
    expect(lists(world)).toHaveLength(1);
    const [row] = await world.calls();
    expect(row?.snapshot).toMatchObject({ records: [{ id: record.id }, { id: 'later' }] });
    expect(row).toMatchObject({ recording_status: 'available' });
  });

  it('keeps the records that the answer hasn`t', async () => {
    const world = await startCallWorld();
    await shortPassIsDue(world);
    const call = aCall(world, { talk: 180, endedAgo: 10 });
    const [record] = call.records;
    if (!record) throw new Error('A call has a record');
    const other = { ...record, id: 'other-record', recordingVisibleAt: never, visibleAt: never };
    await seedLooked(world, call, { snapshot: snapshotOf(call, [record, other]) });
    await sweepNow(world);
    const [row] = await world.calls();
    expect(row?.snapshot).toMatchObject({ records: [{ id: 'other-record' }, { id: record.id }] });
    expect(row).toMatchObject({ recording_status: 'available', next_step: 'recording' });
  });
});

describe('what is known and not stored', () => {
  it('is sent again when nobody works on it any more', async () => {
    const world = await startCallWorld();
    await shortPassIsDue(world);
    const call = aCall(world, { endedAgo: 10 });
    await seedLooked(world, call, { recording_status: 'available' });
    await seedRecording(world, call);
    await sweepNow(world);
    expect(world.queue.size).toBe(0);
    await world.run(10);
    await sweepNow(world);
    await world.run(1);
    expect(await world.calls()).toMatchObject([{ recording_status: 'stored' }]);
  });

  it('is not sent each time when it fails each time', async () => {
    const world = await startCallWorld();
    const call = aCall(world, { endedAgo: 20 });
    await seedLooked(world, call, { recording_status: 'available' });
    await seedRecording(world, call);
    const fault = { kind: 'status', status: 403, errorCode: 'CMN-408' } as const;
    world.simulator.faults.add({ surface: 'recording_content', fault, times: 999 });
    sweepEachMinute(world);
    await world.run(12 * 60);
    // At once, then 1, 2, 4 and 8 hours after the call; each is a message of three receives.
    expect(world.queue.deadLetters).toHaveLength(5);
  });

  it('content that wasn`t there is asked for until RingCentral has had its time, and then deleted', async () => {
    const world = await startCallWorld();
    const call = aCall(world, { talk: 10 });
    for (const recording of call.recordings) recording.contentAt = never;
    await seedLooked(world, call);
    sweepEachMinute(world);
    await world.run(40);
    expect(await world.calls()).toMatchObject([
      { recording_status: 'deleted', recording_reason: 'content_deleted' },
    ]);
    expect(world.requests(/recording_content/).length).toBeLessThanOrEqual(6);
    expect(world.queue.deadLetters).toEqual([]);
  });

  it('R32 a voicemail that couldn`t be read is read later', async () => {
    const world = await startCallWorld();
    world.simulator.faults.add({
      surface: 'voicemail_message_detail',
      fault: { kind: 'status', status: 503 },
      times: 2,
    });
    world.ring(voicemailCall({ accountId, number: 1, startedAt: new Date(world.now() + 10_000) }));
    sweepEachMinute(world);
    await world.run(25);
    expect(await world.calls()).toMatchObject([{ voicemail_status: 'stored' }]);
    expect(world.requests(/voicemail_message_detail/).length).toBeLessThanOrEqual(4);
  });
});

describe('whose call a record is', () => {
  it('a leg that names another session makes no call of its own', async () => {
    const world = await startCallWorld();
    const call = aCall(world, { endedAgo: 20 });
    const [record] = call.records;
    if (!record) throw new Error('A call has a record');
    const leg = {
      telephonySessionId: 's-consulted',
      startTime: new Date(record.startedAt).toISOString(),
      duration: 9,
    };
    record.overrides = { legs: [leg] };
    world.simulator.calls.push(call);
    await sweepNow(world);
    expect(await world.calls()).toMatchObject([{ telephony_session_id: call.telephonySessionId }]);
  });

  it('and one that is known by its leg makes no second one', async () => {
    const world = await startCallWorld();
    const call = aCall(world, { endedAgo: 20 });
    const [record] = call.records;
    if (!record) throw new Error('A call has a record');
    const leg = {
      telephonySessionId: call.telephonySessionId,
      startTime: '2026-03-04T14:40:00Z',
      duration: 9,
    };
    record.overrides = { telephonySessionId: 's-of-the-record', legs: [leg] };
    await seedCall(world, call, { call_log_status: 'failed' });
    await sweepNow(world);
    expect(await world.calls()).toMatchObject([
      { telephony_session_id: call.telephonySessionId, call_log_status: 'found' },
    ]);
  });

  it('a record without a telephony session belongs to the row with its session id', async () => {
    const world = await startCallWorld();
    const call = aCall(world, { endedAgo: 20 });
    for (const record of call.records) record.overrides = { telephonySessionId: undefined, legs: [] };
    await seedCall(world, call, { call_log_status: 'failed' });
    const stranger = aCall(world, { number: 2, endedAgo: 20 });
    for (const record of stranger.records) record.overrides = { telephonySessionId: undefined, legs: [] };
    world.simulator.calls.push(stranger);
    await sweepNow(world);
    expect(await world.calls()).toMatchObject([
      { telephony_session_id: call.telephonySessionId, call_log_status: 'found', next_step: 'recording' },
    ]);
  });
});

it('the pass`s list serves parked sessions too, those that it hasn`t included', async () => {
  const world = await startCallWorld();
  await shortPassIsDue(world);
  const [listed, unlisted] = [aCall(world, {}), aCall(world, { number: 2, endedAgo: 2 })];
  for (const record of unlisted.records) record.visibleAt = never;
  await seedParked(world, listed);
  await seedParked(world, unlisted);
  await sweepNow(world);
  expect(lists(world)).toHaveLength(1);
  expect(await world.calls()).toMatchObject([
    { next_step: 'recording', next_attempt_at: null },
    { next_step: 'call_log', next_attempt_at: new Date(unlisted.endedAt + 5 * minute) },
  ]);
});

describe('giving up', () => {
  const lookedDaysAgo = { snapshot_at: new Date('2026-03-03T00:00:00Z') };

  it('comes a day after the call, with the reason', async () => {
    const world = await startCallWorld();
    const old = (number: number, columns: Record<string, unknown>) => {
      const call = aCall(world, { number, endedAgo: 24 * 60 + 1, readyAfter: never });
      for (const record of call.records) record.visibleAt = never;
      return seedCall(world, call, { ...lookedDaysAgo, ...columns }).then(() => call);
    };
    const account = JSON.stringify({ fetchedAt: '', coverage: 'account', records: [] });
    const extension = JSON.stringify({ fetchedAt: '', coverage: 'extension', records: [] });
    const found = { call_log_status: 'found', snapshot: account };
    const unfetched = await old(1, { ...found, recording_status: 'available' });
    await seedRecording(world, unfetched);
    await old(2, { call_log_status: 'failed' });
    await old(3, { ...found, snapshot: extension });
    await old(4, { ...found, recording_status: 'expected' });
    await old(5, found);
    await old(6, { ...found, recording_status: 'none', voicemail_status: 'pending' });
    const parked = await old(7, found);
    await world.database.query(
      "update calls set next_step = 'recording', next_attempt_at = $1 where telephony_session_id = $2",
      [new Date(world.now() + hour), parked.telephonySessionId],
    );
    // It began over a day ago, and ended within the day.
    await seedCall(world, aCall(world, { number: 8, talk: 120, endedAgo: 23 * 60, readyAfter: never }), {
      ...found,
      ...lookedDaysAgo,
    });
    await sweepNow(world);
    const rows = await world.database.query(
      'select recording_status, recording_reason, voicemail_status from calls order by telephony_session_id',
    );
    const gaveUp = (reason: string) => ({
      recording_status: 'gave_up',
      recording_reason: reason,
      voicemail_status: 'none',
    });
    const open = { recording_status: 'pending', recording_reason: null, voicemail_status: 'none' };
    expect(rows).toEqual([
      gaveUp('content_unavailable'),
      gaveUp('not_listed'),
      gaveUp('partial_coverage'),
      gaveUp('recording_not_prepared'),
      gaveUp('recording_not_shown'),
      { recording_status: 'none', recording_reason: null, voicemail_status: 'gave_up' },
      open,
      open,
    ]);
    expect(world.meter.totals.CallsWithoutRecording).toBe(5);
    expect(world.logged('call.without_recording')).toHaveLength(6);
  });

  it('leaves no instruction for a message that isn`t on its way any more', async () => {
    const world = await startCallWorld();
    const call = aCall(world, { endedAgo: 25 * 60, readyAfter: never });
    await seedCall(world, call, { ...lookedDaysAgo, next_step: 'extension_call_log' });
    await sweepNow(world);
    expect(await world.calls()).toMatchObject([{ recording_status: 'gave_up', next_step: null }]);
  });

  it('names the missing permission where there is one', async () => {
    const world = await startCallWorld();
    await seedCall(world, aCall(world, { endedAgo: 25 * 60 }), { call_log_status: 'failed' });
    const fault = { kind: 'status', status: 403, errorCode: 'CMN-408' } as const;
    world.simulator.faults.add({ surface: 'account_call_log', fault, times: 9 });
    await sweepNow(world);
    expect(await world.calls()).toMatchObject([{ recording_reason: 'call_log_forbidden' }]);
  });

  it('is taken back when the recording turns up all the same', async () => {
    const world = await startCallWorld();
    const call = aCall(world, { endedAgo: 24 * 60 + 30 });
    await seedLooked(world, call, { recording_status: 'gave_up', recording_reason: 'recording_not_shown' });
    await sweepNow(world);
    await world.run(1);
    expect(await world.calls()).toMatchObject([{ recording_status: 'stored', recording_reason: null }]);
  });
});

describe('an account whose call log is forbidden', () => {
  it('has its open sessions asked for one by one, at ever longer distances', async () => {
    const world = await startCallWorld();
    await shortPassIsDue(world);
    const start = world.now();
    const call = aCall(world, { endedAgo: 2, readyAfter: 30 });
    const snapshot = { ...snapshotOf(call), coverage: 'extension' };
    await seedLooked(world, call, { snapshot });
    const fault = { kind: 'status', status: 403, errorCode: 'CMN-408' } as const;
    world.simulator.faults.add({ surface: 'account_call_log', fault, times: 99 });
    sweepEachMinute(world);
    await world.run(59);
    const asked = world.requests(/extension_call_log/).map(({ at }) => Math.floor((at - start) / minute));
    expect(asked).toEqual([5, 15, 35]);
    expect(await world.calls()).toMatchObject([{ recording_status: 'stored' }]);
  });
});

describe('calls that go on', () => {
  it('one that has just ended by the call log is left to its own Disconnected', async () => {
    const world = await startCallWorld();
    const call = aCall(world, { endedAgo: 9 });
    await seedCall(world, call, {
      status: 'answered',
      call_log_status: 'none',
      ended_at: null,
      last_event_at: new Date(call.endedAt - 30_000),
    });
    await sweepNow(world);
    expect(await world.calls()).toMatchObject([{ status: 'answered', ended_at: null, snapshot: null }]);
    await shortPassIsDue(world);
    await world.run(2);
    await sweepNow(world);
    expect(await world.calls()).toMatchObject([{ status: 'disconnected', ended_at: new Date(call.endedAt) }]);
  });

  it('R36 one that nobody told of makes no row while it is in progress', async () => {
    const world = await startCallWorld();
    const call = aCall(world, { talk: 1, endedAgo: 30 });
    for (const record of call.records) record.overrides = { result: 'In Progress' };
    world.simulator.calls.push(call);
    await sweepNow(world);
    expect(await world.calls()).toEqual([]);
  });

  it('a transfer whose second part isn`t listed yet is not ended by its first one', async () => {
    const world = await startCallWorld();
    const startedAt = new Date(world.now() + 10_000);
    const call = withShortAudio(transferCall({ accountId, startedAt, number: 1, talkSeconds: 3000 }));
    const [record] = call.records;
    if (!record) throw new Error('A call has a record');
    // The first agent's record is complete and listed while the second one talks.
    const first = {
      ...record,
      id: 'first-part',
      durationMs: 60_000,
      legs: record.legs.slice(0, 1),
      overrides: { result: 'Accepted' },
      visibleAt: startedAt.getTime() + 90_000,
      recordingVisibleAt: never,
    };
    call.records.unshift(first);
    world.ring(call);
    sweepEachMinute(world);
    await world.run(45);
    expect(await world.calls()).toMatchObject([{ status: 'answered', ended_at: null }]);
    await world.run(60);
    expect(await world.calls()).toMatchObject([
      { status: 'disconnected', ended_at: new Date(call.endedAt), recording_status: 'stored' },
    ]);
    expect(world.objects.uploads.size).toBe(2);
  });
});

it('one session that can`t be stored stops neither the others nor the next minute', async () => {
  const world = await startCallWorld();
  const poisoned = aCall(world, { number: 1, endedAgo: 40 });
  // PostgreSQL takes no NUL into jsonb.
  for (const record of poisoned.records) record.overrides = { action: 'Phone\u0000Call' };
  await seedParked(world, poisoned);
  await seedParked(world, aCall(world, { number: 2, endedAgo: 39 }));
  await expect(sweepNow(world)).rejects.toThrow('sessions_failed');
  await world.run(2);
  expect(await world.calls()).toMatchObject([
    { next_step: 'call_log', next_attempt_at: new Date('2026-03-04T15:15:00.000Z') },
    { recording_status: 'stored' },
  ]);
  const [line] = world.logged('call_sweep.failed');
  expect(line).toMatchObject({ telephony_session_id: poisoned.telephonySessionId, part: 'session' });
});
