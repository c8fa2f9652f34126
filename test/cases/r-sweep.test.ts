import { afterEach, describe, expect, it } from 'vitest';
import {
  answeredCall,
  missedCall,
  transferCall,
  voicemailCall,
} from '../../local/ringcentral/sample-calls.ts';
import type { SimulatedCall } from '../../local/ringcentral/world.ts';
import { type CallWorld, startCallWorld, stopCallWorlds } from '../calls/call-world.ts';
import {
  ringCentralOf,
  startReceiver,
  sweepEachMinute,
  sweepNow,
  sweepOf,
  type TestReceiver,
} from '../calls/sweep/sweeping.ts';
import { lakeside, riverside, webhookSecret } from '../simulation/call-accounts.ts';
import { withShortAudio } from '../simulation/call-samples.ts';
import { riversideStore } from '../support/leads.ts';

const { accountId } = riverside;
const receivers: TestReceiver[] = [];

afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.stop()));
  await stopCallWorlds();
});

const startedAt = new Date('2026-03-04T15:01:10.000Z');
const eventsOf = ({ events }: SimulatedCall, ...codes: string[]) =>
  events.filter(({ body }) => codes.includes(body.parties[0]?.status.code ?? ''));
const rowOf = async (world: CallWorld) => (await world.calls())[0] ?? {};
const heavy = (world: CallWorld) => world.requests().filter(({ group }) => group === 'heavy');

describe('R2 a recording that shows up after the last webhook', () => {
  it('is found by the pass and stored, without a second webhook', async () => {
    const world = await startCallWorld();
    // Ready 12 minutes after the end: the one look at 90 s can't see it.
    world.ring(answeredCall({ accountId, startedAt, number: 1, recordingDelaySeconds: 720 }));
    sweepEachMinute(world);
    await world.run(35);
    expect(await rowOf(world)).toMatchObject({
      recording_status: 'stored',
      recording_available: true,
      next_attempt_at: null,
    });
    expect(await world.database.query('select text from transcripts')).toEqual([{ text: 'Hello there' }]);
    // The content is fetched once; lists are one each five minutes at most, and one at the first sweep.
    expect(world.requests(/recording_content/)).toHaveLength(1);
    expect(heavy(world).length).toBeLessThanOrEqual(11);
    expect([world.queue.size, world.queue.deadLetters]).toEqual([0, []]);
  });

  it('is pending, and given up a day later with its reason', async () => {
    const world = await startCallWorld();
    world.ring(
      answeredCall({ accountId, startedAt, number: 1, recordingDelaySeconds: Number.POSITIVE_INFINITY }),
    );
    sweepEachMinute(world, sweepOf(world), 10);
    await world.run(23 * 60);
    expect(await rowOf(world)).toMatchObject({ recording_status: 'expected', call_log_status: 'found' });
    await world.run(3 * 60);
    expect(await rowOf(world)).toMatchObject({
      recording_status: 'gave_up',
      recording_reason: 'recording_not_prepared',
    });
    expect(world.logged('call.without_recording')).toEqual([
      expect.objectContaining({ account_id: accountId, reason: 'recording_not_prepared' }),
    ]);
    expect(world.meter.totals.CallsWithoutRecording).toBe(1);
  });
});

describe('R15 a blind transfer whose first Disconnected was parked', () => {
  it('stores nothing while the call goes on, and both recordings after it', async () => {
    const world = await startCallWorld();
    const call = withShortAudio(transferCall({ accountId, startedAt, number: 1, talkSeconds: 1200 }));
    for (const record of call.records) record.visibleAt = startedAt.getTime();
    world.ring(call);
    sweepEachMinute(world);
    await world.run(3);
    // A person has the sweep look at it again, though the other party still talks.
    await world.database.query("update calls set next_step = 'call_log', next_attempt_at = $1", [
      world.clock.now(),
    ]);
    await world.state.update(`parked#${accountId}`, {
      update: 'SET parked_at = :now ADD announcements :one',
      values: { ':now': 1, ':one': 1 },
    });
    await world.run(2);
    expect(await rowOf(world)).toMatchObject({ snapshot: null, ended_at: null, next_attempt_at: null });
    await world.run(60);
    expect(await rowOf(world)).toMatchObject({ recording_status: 'stored', status: 'disconnected' });
    expect(world.objects.uploads.size).toBe(2);
    expect([...world.objects.uploads.values()]).toEqual([1, 1]);
  });
});

describe('R36 what a list has besides calls', () => {
  it('a fax makes no row, and a call in progress waits for its end', async () => {
    const world = await startCallWorld();
    const fax = missedCall({ accountId, startedAt, number: 1 });
    for (const part of fax.records.flatMap((record) => [record, ...record.legs])) part.type = 'Fax';
    const long = answeredCall({
      accountId,
      startedAt,
      number: 2,
      talkSeconds: 3600,
      recordingDelaySeconds: 60,
    });
    for (const record of long.records) record.visibleAt = startedAt.getTime();
    world.ring(fax, []);
    world.ring(withShortAudio(long), []);
    sweepEachMinute(world);
    await world.run(50);
    expect(await world.calls()).toEqual([]);
    await world.run(80);
    expect(await world.calls()).toEqual([
      expect.objectContaining({ telephony_session_id: long.telephonySessionId, recording_status: 'stored' }),
    ]);
  });
});

describe('R40 a blacklisted subscription', () => {
  it('raises the alarm, is made anew with our address, and the gap is filled from the call log', async () => {
    const world = await startCallWorld();
    const receiver = await startReceiver(world);
    receivers.push(receiver);
    const { subscriptions } = ringCentralOf(world);
    const deps = sweepOf(world, { subscriptions, webhookUrl: receiver.url });
    sweepEachMinute(world, deps);
    // The first sweep of a fresh deployment subscribes, and that is no alarm.
    await world.run(2);
    const before = await subscriptions.list(accountId);
    expect(world.meter.totals.SubscriptionNotActive).toBe(0);
    expect(before).toMatchObject({ value: [{ deliveryMode: { address: `${receiver.url}/${accountId}` } }] });

    world.simulator.subscriptions.blacklist(accountId, world.now());
    const missed = answeredCall({ accountId, startedAt, number: 1, talkSeconds: 60 });
    world.simulator.calls.push(missed);
    for (const event of missed.events) expect(await world.simulator.deliver(event)).toEqual([]);
    await world.run(65);

    expect(world.meter.totals.SubscriptionNotActive).toBe(1);
    expect(world.logged('subscription.not_active')).toEqual([
      expect.objectContaining({ account_id: accountId, reason: 'blacklisted', created: true }),
    ]);
    const after = await subscriptions.list(accountId);
    expect(after).toMatchObject({ value: [{ status: 'Active' }] });
    expect(after).not.toEqual(before);
    const [event] = missed.events;
    expect(event && (await world.simulator.deliver(event))).toMatchObject([{ status: 200 }]);
    expect(await rowOf(world)).toMatchObject({ recording_status: 'stored' });
  });

  it('is tried again each five minutes while it can`t be made, with the alarm each time', async () => {
    const world = await startCallWorld();
    const receiver = await startReceiver(world);
    const { subscriptions } = ringCentralOf(world);
    await receiver.stop();
    sweepEachMinute(world, sweepOf(world, { subscriptions, webhookUrl: receiver.url }));
    await world.run(11);
    expect(world.meter.totals.SubscriptionNotActive).toBe(3);
    expect(world.logged('subscription.not_active')[0]).toMatchObject({
      reason: 'missing',
      created: false,
      failure: 'SUB-521',
    });
  });
});

it('R21 two subscriptions for one address become one', async () => {
  const world = await startCallWorld();
  const receiver = await startReceiver(world);
  receivers.push(receiver);
  const { subscriptions } = ringCentralOf(world);
  const webhook = { address: `${receiver.url}/${accountId}`, verificationToken: webhookSecret };
  await subscriptions.create(accountId, webhook);
  await subscriptions.create(accountId, webhook);
  await subscriptions.create(accountId, { ...webhook, address: `${receiver.url}/${lakeside.accountId}` });
  await sweepNow(world, sweepOf(world, { subscriptions, webhookUrl: receiver.url }));
  const left = await subscriptions.list(accountId);
  const addresses = left.kind === 'ok' ? left.value.map(({ deliveryMode }) => deliveryMode?.address) : [];
  expect(addresses.sort()).toEqual([`${receiver.url}/${accountId}`, `${receiver.url}/${lakeside.accountId}`]);
  expect(world.meter.totals.SubscriptionNotActive).toBe(0);
});

describe('R41 webhooks that never come', () => {
  it('a call without its Disconnected is ended by what the call log says, and its recording stored', async () => {
    const world = await startCallWorld();
    const call = answeredCall({ accountId, startedAt, number: 1, talkSeconds: 60 });
    world.ring(call, eventsOf(call, 'Setup', 'Answered'));
    sweepEachMinute(world);
    await world.run(30);
    expect(await rowOf(world)).toMatchObject({
      status: 'disconnected',
      ended_at: new Date(call.endedAt),
      recording_status: 'stored',
    });
    const timeline = await world.database.query(
      'select event_type from contact_timeline order by occurred_at',
    );
    expect(timeline.map(({ event_type }) => event_type)).toEqual([
      'call.setup',
      'call.answered',
      'call.logged',
      'call.transcribed',
    ]);
    expect(world.meter.totals.CallsWithoutWebhook).toBe(0);
  });

  it('a call of which only the Setup came is no stuck state, though nobody answered', async () => {
    const world = await startCallWorld();
    const call = missedCall({ accountId, startedAt, number: 1 });
    world.ring(call, eventsOf(call, 'Setup'));
    sweepEachMinute(world);
    await world.run(20);
    expect(await rowOf(world)).toMatchObject({
      status: 'disconnected',
      call_log_status: 'found',
      recording_status: 'none',
      recording_reason: 'not_connected',
    });
  });

  it('a call without any webhook gets row, recording and timeline, and is counted', async () => {
    const world = await startCallWorld();
    sweepEachMinute(world);
    await world.run(1);
    const calls = [
      answeredCall({ accountId, startedAt, number: 1, talkSeconds: 60 }),
      voicemailCall({ accountId, startedAt, number: 2 }),
    ];
    for (const call of calls) world.ring(withShortAudio(call), []);
    await world.run(75);
    expect(await world.calls()).toEqual(
      calls.map(({ telephonySessionId, endedAt }, index) =>
        expect.objectContaining({
          telephony_session_id: telephonySessionId,
          direction: 'inbound',
          contact_phone: `+1415555000${index + 1}`,
          to_number: '+12065550199',
          store_id: riversideStore.storeId,
          status: 'disconnected',
          started_at: startedAt,
          ended_at: new Date(endedAt),
          last_sequence: '-1',
        }),
      ),
    );
    expect(
      await world.database.query('select recording_status, voicemail_status from calls order by 1'),
    ).toEqual(
      expect.arrayContaining([
        { recording_status: 'none', voicemail_status: 'stored' },
        { recording_status: 'stored', voicemail_status: 'none' },
      ]),
    );
    expect(world.meter.totals.CallsWithoutWebhook).toBe(2);
    expect(world.logged('call.without_webhook')).toHaveLength(2);
    const logged = await world.database.query(
      "select event_type, actor_type from contact_timeline where event_type = 'call.logged'",
    );
    expect(logged).toEqual(Array(2).fill({ event_type: 'call.logged', actor_type: 'ringcentral_call_log' }));
  });

  it('a webhook that comes after all wins over what the sweep made of the call', async () => {
    const world = await startCallWorld();
    sweepEachMinute(world);
    await world.run(1);
    const call = answeredCall({ accountId, startedAt, number: 1, talkSeconds: 60 });
    world.ring(call, []);
    await world.run(75);
    for (const event of call.events) await world.post(event);
    await world.run(10);
    const [disconnected] = eventsOf(call, 'Disconnected');
    expect(await rowOf(world)).toMatchObject({
      status: 'disconnected',
      last_sequence: String(disconnected?.body.sequence),
      party_id: disconnected?.body.parties[0]?.id,
      recording_status: 'stored',
    });
    expect([...world.objects.uploads.values()]).toEqual([1]);
    const timeline = await world.database.query('select event_type from contact_timeline order by 1');
    expect(timeline.map(({ event_type }) => event_type)).toEqual([
      'call.answered',
      'call.disconnected',
      'call.logged',
      'call.proceeding',
      'call.setup',
      'call.transcribed',
    ]);
  });

  it('a call that has just ended is left to its own webhook', async () => {
    const world = await startCallWorld();
    const call = missedCall({ accountId, startedAt, number: 1 });
    world.ring(call, []);
    await world.run(9);
    await sweepNow(world);
    expect(await world.calls()).toEqual([]);
  });

  it('calls from before the first sweep are brought in without an alarm', async () => {
    const world = await startCallWorld();
    world.ring(missedCall({ accountId, startedAt, number: 1 }), []);
    await world.run(60);
    await sweepNow(world);
    expect(await world.calls()).toHaveLength(1);
    expect(world.meter.totals.CallsWithoutWebhook).toBe(0);
  });
});
