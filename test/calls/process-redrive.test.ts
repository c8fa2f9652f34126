import { afterEach, describe, expect, it } from 'vitest';
import { answeredCall } from '../../local/ringcentral/sample-calls.ts';
import { riverside } from '../simulation/call-accounts.ts';
import { withShortAudio } from '../simulation/call-samples.ts';
import { type CallWorld, startCallWorld, stopCallWorlds, type WorldOptions } from './call-world.ts';

afterEach(stopCallWorlds);

const call = withShortAudio(
  answeredCall({
    accountId: riverside.accountId,
    startedAt: new Date('2026-03-04T15:00:10.000Z'),
    number: 7,
    recordingDelaySeconds: 0,
  }),
);
const disconnected = call.events.slice(-1);
const day = 24 * 60;

/** RingCentral refuses every look into the call log, for as long as the test goes on. */
async function refusingWorld(
  headers: Record<string, string> = {},
  options: WorldOptions = {},
): Promise<CallWorld> {
  const world = await startCallWorld({ rateLimitHeaders: false, ...options });
  const fault = { kind: 'status', status: 429, errorCode: 'CMN-301', headers } as const;
  world.simulator.faults.add({ surface: 'account_call_log', fault, times: Number.POSITIVE_INFINITY });
  world.ring(call, disconnected);
  return world;
}

const scheduled = (world: CallWorld) => world.logged('ringcentral.redrive_scheduled');
const counts = (bodies: string[]) => bodies.map((body): unknown => JSON.parse(body).redriveCount);

describe('a RingCentral that refuses for ever', () => {
  it('six hops with one redrive more each, then three receives and the dead-letter queue', async () => {
    const world = await refusingWorld({ 'retry-after': '60' });
    await world.run(day);
    const { queue } = world;
    expect(counts(queue.sent.map(({ body }) => body))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(scheduled(world).map(({ redrive_count }) => redrive_count)).toEqual([1, 2, 3, 4, 5]);
    expect(counts(queue.deadLetters)).toEqual([5]);
    expect(queue.size).toBe(0);
    // One look a hop, and two more of the last one.
    expect(world.requests(/account_call_log/)).toHaveLength(8);
    expect(world.logged('ringcentral.redrive_exhausted')).toHaveLength(3);
    expect(world.requests().some(({ insidePenalty }) => insidePenalty)).toBe(false);
  });

  it.each([
    ['60', 60],
    [undefined, 60],
    ['soon', 60],
    ['Wed, 04 Mar 2026 16:00:00 GMT', 60],
    ['', 60],
    ['1.5', 60],
  ])('Retry-After %j is %i s: each delay that and 2 to 10 min, at most 900', async (header, seconds) => {
    let draws = 0;
    const random = () => (draws++ % 10) / 10;
    const headers = header === undefined ? {} : { 'retry-after': header };
    const world = await refusingWorld(headers, { random });
    await world.run(day);
    const delays = scheduled(world).map(({ delay_seconds }) => Number(delay_seconds));
    expect(delays).toEqual([0, 0.1, 0.2, 0.3, 0.4].map((draw) => Math.min(900, seconds + 120 + draw * 480)));
    expect(world.queue.sent.slice(1).map(({ delaySeconds }) => delaySeconds)).toEqual(delays);
    expect(world.logged('ringcentral.rate_limited')[0]).toMatchObject({ retry_after_seconds: seconds });
  });

  it('for longer than SQS can delay: the clone comes early, finds the gate closed and parks', async () => {
    const world = await refusingWorld({ 'retry-after': '1200' });
    await world.run(20);
    expect(scheduled(world)).toMatchObject([{ redrive_count: 1, delay_seconds: 900 }]);
    expect(world.logged('ringcentral.parked')).toMatchObject([{ next_step: 'call_log', wait_seconds: 308 }]);
    expect(world.requests(/account_call_log/)).toHaveLength(1);
  });

  it('and asks for its limit`s sake in every window: the same end', async () => {
    const world = await startCallWorld({ limits: { heavy: { limit: 0 } } });
    world.ring(call, disconnected);
    await world.run(day);
    expect(counts(world.queue.deadLetters)).toEqual([5]);
    expect(world.requests().filter(({ insidePenalty }) => insidePenalty)).toEqual([]);
  });
});

describe('a dead letter that a person redrives two days later', () => {
  async function redriven(): Promise<CallWorld> {
    const world = await refusingWorld({ 'retry-after': '60' });
    await world.run(2 * day);
    world.simulator.faults.clear();
    world.simulator.journal.length = 0;
    world.lines.length = 0;
    world.queue.redriveDeadLetters();
    return world;
  }

  it('begins a new life, and asks for a window that the call is in', async () => {
    const world = await redriven();
    await world.run(60);
    expect(world.logged('call.processed')[0]).toMatchObject({ redrive_count: 0, outcome: 'done' });
    const [look, ...others] = world.requests(/account_call_log/);
    const url = new URL(look?.path ?? '', 'https://platform.ringcentral.com');
    expect(others).toEqual([]);
    expect(Date.parse(url.searchParams.get('dateFrom') ?? '')).toBeLessThan(
      Date.parse(call.events[0]?.timestamp ?? ''),
    );
    expect(await world.calls()).toMatchObject([{ call_log_status: 'found', recording_status: 'stored' }]);
    expect([...world.objects.uploads.values()]).toEqual([1]);
    expect(await world.database.query('select 1 from transcripts')).toHaveLength(1);
  });

  it('has six hops anew', async () => {
    const world = await redriven();
    const fault = { kind: 'status', status: 429, errorCode: 'CMN-301' } as const;
    world.simulator.faults.add({ surface: 'account_call_log', fault, times: Number.POSITIVE_INFINITY });
    await world.run(day);
    expect(scheduled(world).map(({ redrive_count }) => redrive_count)).toEqual([1, 2, 3, 4, 5]);
    expect(counts(world.queue.deadLetters)).toEqual([5]);
  });

  it('together with its twin: nothing is doubled', async () => {
    const world = await redriven();
    const [body = ''] = world.queue.bodies;
    await world.queue.send(JSON.parse(body), { delaySeconds: 5 });
    await world.run(60);
    expect([...world.objects.uploads.values()]).toEqual([1]);
    expect(await world.database.query('select 1 from transcripts')).toHaveLength(1);
    expect(
      await world.database.query('select 1 from contact_timeline where event_type like $1', ['call.disc%']),
    ).toHaveLength(1);
  });
});
