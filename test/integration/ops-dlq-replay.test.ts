import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OperatorStage, operate, operateJson, startOperatorStage } from '../ops/operator-stage.ts';

let stage: OperatorStage;
beforeEach(async () => {
  stage = await startOperatorStage();
});
afterEach(() => stage.close());

const leadCreated = (mailKey: string) => ({
  version: '0',
  id: 'b2f1',
  source: 'lead-tracking',
  'detail-type': 'LeadCreated',
  region: 'us-east-1',
  detail: { mailKey, id: 'ana@x.example#+12125550147#2026-11-03', leadEmail: 'ana@x.example' },
});
const key = (digit: number) => String(digit).repeat(64);
const toTest = ['--stage', 'test'];

describe('dlq replay', () => {
  it('forwarding-dlq: publishes the events again and only then deletes them', async () => {
    for (const digit of [1, 2]) await stage.send('forwarding-dlq', leadCreated(key(digit)));

    // By the name that alarms and the console have.
    const dry = await operateJson('dlq', 'replay', 'forwarding-dlq-test-us-east-1', ...toTest);
    expect(dry.printed).toMatchObject({ queue: 'forwarding-dlq-test-us-east-1', dryRun: true, visible: 2 });
    expect(dry.printed.messages.map(({ mailKey }: { mailKey: string }) => mailKey).sort()).toEqual([
      key(1),
      key(2),
    ]);
    expect(stage.published).toEqual([]);
    // A message that was looked at is hidden for a second.
    await sleep(1_050);

    const { code, out } = await operate(['dlq', 'replay', 'forwarding-dlq', ...toTest, '--yes']);
    expect([code, out]).toEqual([0, expect.stringContaining('2 sent to: event bus.')]);
    expect(stage.published.map(({ source, 'detail-type': type, region }) => [source, type, region])).toEqual(
      Array(2).fill(['lead-tracking', 'LeadCreated', 'us-east-1']),
    );
    expect(stage.published.map(({ detail }) => detail)).toEqual(
      expect.arrayContaining([leadCreated(key(1)).detail, leadCreated(key(2)).detail]),
    );
    expect((await stage.receive('forwarding-dlq')).length).toBe(0);
  });

  it('an entry that the bus refuses in a 200 stays in the queue, and the command fails', async () => {
    await stage.send('forwarding-dlq', leadCreated(key(1)));
    stage.bus.refuses = true;
    const { code, printed } = await operateJson('dlq', 'replay', 'forwarding-dlq', ...toTest, '--yes');
    expect([code, printed]).toMatchObject([
      1,
      { sent: 0, failed: 1, messages: [{ problem: 'InvalidArgument' }] },
    ]);
    expect(stage.published).toEqual([]);
    expect(await stage.depth('forwarding-dlq')).toBe(0);
    // Hidden, not deleted: it is in flight until the hold ends.
    expect(await stage.inFlight('forwarding-dlq')).toBe(1);
  });

  it('stops when the destination is at fault, not the messages', async () => {
    for (const digit of [1, 2, 3, 4, 5]) await stage.send('forwarding-dlq', leadCreated(key(digit)));
    stage.bus.refuses = true;
    const { code, out } = await operate(['dlq', 'replay', 'forwarding-dlq', ...toTest, '--yes']);
    expect([code, out]).toEqual([1, expect.stringContaining('Stopped after 3 failures in a row.')]);
    expect(out).toContain('0 sent to: event bus; 3 left in forwarding-dlq-test-us-east-1.');
  });

  it('what fails again meanwhile is not sent in a circle', async () => {
    await stage.send('forwarding-dlq', leadCreated(key(1)));
    stage.bus.onPut = (event) => void stage.send('forwarding-dlq', event);
    const { printed } = await operateJson('dlq', 'replay', 'forwarding-dlq', ...toTest, '--yes');
    expect(printed).toMatchObject({ sent: 1, failed: 0 });
    expect(stage.published).toHaveLength(1);
    expect(await stage.inFlight('forwarding-dlq')).toBe(1);
  });

  it('a body that is no event is left and named, and stops nothing', async () => {
    await stage.send('forwarding-dlq', 'no event');
    await stage.send('forwarding-dlq', leadCreated(key(3)));
    const { code, printed } = await operateJson('dlq', 'replay', 'forwarding-dlq', ...toTest, '--yes');
    expect([code, printed]).toMatchObject([1, { sent: 1, failed: 1 }]);
    expect(stage.published).toHaveLength(1);
  });

  it.each([
    ['lead-processor-dlq', 'lead-processor-queue'],
    ['neon-write-final-dlq', 'neon-write-dlq'],
  ])('%s: the same body goes to %s, at most --max at a time', async (dlq, queue) => {
    const bodies = [1, 2, 3].map((digit) => JSON.stringify(leadCreated(key(digit))));
    for (const body of bodies) await stage.send(dlq, body);

    const first = await operateJson('dlq', 'replay', dlq, ...toTest, '--max', '2', '--yes');
    expect([first.code, first.printed]).toMatchObject([0, { sent: 2, failed: 0, destination: queue }]);
    expect(await stage.depth(dlq)).toBe(1);
    const second = await operateJson('dlq', 'replay', dlq, ...toTest, '--yes');
    expect(second.printed).toMatchObject({ sent: 1, failed: 0 });
    const third = await operateJson('dlq', 'replay', dlq, ...toTest, '--yes');
    expect(third.printed).toMatchObject({ sent: 0, failed: 0 });

    const arrived = await stage.receive(queue);
    expect(arrived.map(({ Body }) => Body).sort()).toEqual(bodies.sort());
  });

  it('refuses what it does not know', async () => {
    const unknown = await operate(['dlq', 'replay', 'neon-write-dlq', ...toTest]);
    expect([unknown.code, unknown.out]).toEqual([2, '']);
    expect(unknown.err).toContain('neon-write-final-dlq, lead-processor-dlq, transcribe-dlq, forwarding-dlq');
    expect((await operate(['dlq', 'replay', ...toTest])).code).toBe(2);
    expect((await operate(['dlq', 'replay', 'forwarding-dlq'])).code).toBe(2);
    expect((await operate(['dlq', 'replay', 'forwarding-dlq', ...toTest, '--max', '0', '--yes'])).code).toBe(
      2,
    );
  });

  it('a stage that is not there is an error, not an empty queue', async () => {
    const { code, err } = await operate(['dlq', 'replay', 'forwarding-dlq', '--stage', 'prod']);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('no queue forwarding-dlq-us-east-1 in us-east-1'),
    ]);
  });
});
