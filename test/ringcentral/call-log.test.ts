import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answeredCall, missedCall, transferCall } from '../../local/ringcentral/sample-calls.ts';
import type { SimulatedCall } from '../../local/ringcentral/world.ts';
import { recordingsOf } from '../../src/ringcentral/snapshot.ts';
import { type Container, createWorld, type World } from './client-under-test.ts';
import { account, startTestSimulator, type TestSimulator } from './simulated-account.ts';

const { accountId } = account;
let simulator: TestSimulator;
let world: World;
let container: Container;

beforeEach(async () => {
  simulator = await startTestSimulator();
  world = createWorld(simulator);
  container = world.container();
});
afterEach(() => simulator.stop());

const wait = (seconds: number) => simulator.clock.advance(seconds * 1000);
const heavy = () => simulator.journal.filter(({ group }) => group === 'heavy');

function add(build: typeof missedCall = answeredCall, number = 1): SimulatedCall {
  const call = build({ accountId, number, startedAt: simulator.clock.now() });
  simulator.calls.push(call);
  return call;
}

const fetchOf = (call: SimulatedCall, options = {}) =>
  container.callLog.fetchCallLog(call.telephonySessionId, accountId, {
    firstEventAt: new Date(call.events[0]?.body.eventTime ?? 0),
    partyExtensionId: call.events[0]?.body.parties[0]?.extensionId,
    ...options,
  });

describe('fetchCallLog', () => {
  it('asks the account level once, Detailed, by session, from 24 h before the first event', async () => {
    const call = add();
    wait(600);
    const outcome = await fetchOf(call);
    expect(outcome.kind).toBe('ok');
    expect(heavy()).toHaveLength(1);
    const url = new URL(heavy()[0]?.path ?? '', simulator.url);
    expect(url.pathname).toBe('/restapi/v1.0/account/~/call-log');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      telephonySessionId: call.telephonySessionId,
      view: 'Detailed',
      dateFrom: '2026-03-03T15:00:00.000Z',
    });
  });

  it('finds a call of days ago, which the default window would not show', async () => {
    const call = add();
    wait(5 * 86_400);
    const outcome = await fetchOf(call);
    expect(outcome).toMatchObject({
      kind: 'ok',
      value: { coverage: 'account', records: [{ id: 'Q900100x00001' }] },
    });
  });

  it('answers a snapshot without records while the log lags', async () => {
    expect(await fetchOf(add())).toMatchObject({ kind: 'ok', value: { records: [] } });
  });

  it('gathers the recordings of all legs once each, in the order of the call', async () => {
    const call = add(transferCall);
    wait(3600);
    const outcome = await fetchOf(call);
    if (outcome.kind !== 'ok') throw new Error(outcome.kind);
    expect(recordingsOf(outcome.value)).toEqual([
      expect.objectContaining({
        id: '55000010',
        contentUri: expect.stringContaining('/recording/55000010/content'),
      }),
      expect.objectContaining({
        id: '56000010',
        contentUri: expect.stringContaining('/recording/56000010/content'),
      }),
    ]);
  });

  it('falls back to the extension of the party on a 403, with two requests in all', async () => {
    const call = add();
    wait(600);
    simulator.faults.add({
      surface: 'account_call_log',
      fault: { kind: 'status', status: 403, errorCode: 'CMN-408', permissionName: 'FullCompanyCallLog' },
    });
    const outcome = await fetchOf(call, { otherExtensionIds: ['900100299'] });
    expect(outcome).toMatchObject({
      kind: 'ok',
      value: { coverage: 'extension', records: [{ id: 'Q900100x00001' }] },
    });
    expect(heavy().map(({ surface }) => surface)).toEqual(['account_call_log', 'extension_call_log']);
    expect(heavy()[1]?.path).toContain('/account/~/extension/900100201/call-log?');
  });

  it('asks the first of the other internal parties when the own one has no extension', async () => {
    const call = add();
    wait(600);
    simulator.faults.add({
      surface: 'account_call_log',
      fault: { kind: 'status', status: 403, errorCode: 'CMN-408' },
    });
    await fetchOf(call, { partyExtensionId: undefined, otherExtensionIds: ['900100205', '900100206'] });
    expect(heavy().map(({ path }) => path.match(/extension\/(\d+)/)?.[1])).toEqual([undefined, '900100205']);
  });

  it('is pending when the session has no internal party at all', async () => {
    const call = add();
    simulator.faults.add({
      surface: 'account_call_log',
      fault: { kind: 'status', status: 403, errorCode: 'CMN-408' },
    });
    expect(await fetchOf(call, { partyExtensionId: undefined })).toEqual({ kind: 'no_extension' });
    expect(heavy()).toHaveLength(1);
  });

  it.each([404, 500, 503])('does not fall back on %i', async (status) => {
    simulator.faults.add({
      surface: 'account_call_log',
      fault: { kind: 'status', status, errorCode: 'CMN-102' },
    });
    const outcome = await fetchOf(add());
    expect(outcome.kind).toBe(status === 404 ? 'not_found' : 'retry');
    expect(heavy()).toHaveLength(1);
  });

  it('says where it had no slot, so that the next attempt starts there', async () => {
    const call = add();
    wait(600);
    await container.gate.take({ owner: accountId, group: 'heavy' });
    simulator.faults.add({
      surface: 'account_call_log',
      fault: { kind: 'status', status: 403, errorCode: 'CMN-408' },
    });
    expect(await fetchOf(call)).toEqual({
      kind: 'no_slot',
      surface: 'extension_call_log',
      group: 'heavy',
      waitSeconds: 8,
    });
    wait(8);
    expect(await fetchOf(call, { level: 'extension' })).toMatchObject({
      kind: 'ok',
      value: { coverage: 'extension' },
    });
    expect(heavy().map(({ surface }) => surface)).toEqual(['account_call_log', 'extension_call_log']);
  });

  it("drops records of other sessions, whatever the server's filter let through", async () => {
    const asked = add(answeredCall, 1);
    const stranger = add(answeredCall, 2);
    wait(600);
    for (const record of stranger.records) record.overrides = { telephonySessionId: 's-other', legs: [] };
    stranger.telephonySessionId = asked.telephonySessionId;
    const outcome = await fetchOf(asked);
    expect(outcome).toMatchObject({ kind: 'ok', value: { records: [{ id: 'Q900100x00001' }] } });
  });

  it('takes a record without telephony session by its session id, unless that is "0"', async () => {
    const call = add();
    wait(600);
    for (const record of call.records) record.overrides = { telephonySessionId: undefined, legs: undefined };
    const ids = async (sessionId?: string) => {
      wait(60);
      const outcome = await fetchOf(call, { sessionId });
      return outcome.kind === 'ok' ? outcome.value.records.map(({ id }) => id) : outcome.kind;
    };
    expect(await ids('31880000001')).toEqual(['Q900100x00001']);
    expect(await ids()).toEqual([]);
    for (const record of call.records) record.sessionId = '0';
    expect(await ids('0')).toEqual([]);
  });
});

describe('listCallLog', () => {
  it('follows nextPage with a slot for each page', async () => {
    for (let n = 0; n < 1001; n += 1) add(missedCall, n);
    wait(120);
    const from = new Date(simulator.clock.now().getTime() - 3600_000);
    const { snapshot, failure } = await container.callLog.listCallLog(accountId, {
      from,
      to: simulator.clock.now(),
    });
    expect(failure).toBeUndefined();
    expect(snapshot.records).toHaveLength(1001);
    expect(heavy()).toHaveLength(2);
    expect((await container.gate.status({ owner: accountId, group: 'heavy' })).slotsNow).toBe(0);
  });

  it('gives what it has when a page gets no slot', async () => {
    for (let n = 0; n < 1001; n += 1) add(missedCall, n);
    wait(120);
    await container.gate.take({ owner: accountId, group: 'heavy' });
    const from = new Date(simulator.clock.now().getTime() - 3600_000);
    const { snapshot, failure } = await container.callLog.listCallLog(accountId, {
      from,
      to: simulator.clock.now(),
    });
    expect(snapshot.records).toHaveLength(1000);
    expect(failure).toMatchObject({ kind: 'no_slot', waitSeconds: 8 });
  });

  it('leaves a record that it cannot read out, and says so', async () => {
    const [call] = [add(missedCall, 1), add(missedCall, 2)];
    for (const record of call.records) record.overrides = { id: null };
    wait(120);
    const window = { from: new Date(0), to: simulator.clock.now() };
    const { snapshot } = await container.callLog.listCallLog(accountId, window);
    expect(snapshot.records.map(({ id }) => id)).toEqual(['Q900100x00002']);
    expect(container.log.lines.at(-1)).toMatchObject({
      event: 'ringcentral.record_unreadable',
      fields: { account_id: accountId, records: 1 },
    });
  });
});

describe('fetchRecords', () => {
  it('asks nothing when there is nothing to ask for', async () => {
    expect(await container.callLog.fetchRecords(accountId, [])).toMatchObject({
      kind: 'ok',
      value: { records: [] },
    });
    expect(simulator.journal).toEqual([]);
  });

  it('gets up to 50 records in one request, without those that are gone', async () => {
    add(missedCall, 1);
    add(missedCall, 2);
    wait(120);
    const outcome = await container.callLog.fetchRecords(accountId, ['Q900100x00001', 'Q900100x00002', 'Q0']);
    expect(outcome).toMatchObject({
      kind: 'ok',
      value: { records: [{ id: 'Q900100x00001' }, { id: 'Q900100x00002' }] },
    });
    expect(heavy()).toHaveLength(1);
  });

  it('gets a single one, whose answer has another shape', async () => {
    add(missedCall);
    wait(120);
    expect(await container.callLog.fetchRecords(accountId, ['Q900100x00001'])).toMatchObject({
      kind: 'ok',
      value: { records: [{ id: 'Q900100x00001' }] },
    });
    expect(await container.callLog.fetchRecords(accountId, ['Q0'])).toMatchObject({
      kind: 'ok',
      value: { records: [] },
    });
  });
});
