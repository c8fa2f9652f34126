import { afterEach, describe, expect, it } from 'vitest';
import { failedMessages } from '../../local/event-sources.ts';
import type { LocalStage } from '../../local/stage.ts';
import { deploy, propertiesOf, type Templates, untilIdle } from './templates.ts';

const messages = [{ MessageId: 'a' }, { MessageId: 'b' }];
const answer = (payload: unknown) => ({ ok: true, payload }) as const;

describe('what stays in the queue after a batch', () => {
  it.each<[string, unknown, string[]]>([
    ['null', null, []],
    ['no list', {}, []],
    ['a list that is null', { batchItemFailures: null }, []],
    ['an empty list', { batchItemFailures: [] }, []],
    ['one of two', { batchItemFailures: [{ itemIdentifier: 'b' }] }, ['b']],
    ['an empty id', { batchItemFailures: [{ itemIdentifier: '' }] }, ['a', 'b']],
    ['an id that is null', { batchItemFailures: [{ itemIdentifier: null }] }, ['a', 'b']],
    ['the wrong key', { batchItemFailures: [{ messageId: 'b' }] }, ['a', 'b']],
    ['an id of another batch', { batchItemFailures: [{ itemIdentifier: 'c' }] }, ['a', 'b']],
    ['no list but a text', { batchItemFailures: 'b' }, ['a', 'b']],
  ])('%s', (_, payload, expected) => {
    expect([...failedMessages(answer(payload), messages, true).ids]).toEqual(expected);
  });

  it('a failed invocation keeps the batch; without ReportBatchItemFailures an answer means success', () => {
    const failed = { ok: false, errorType: 'Error', errorMessage: '' } as const;
    expect([...failedMessages(failed, messages, true).ids]).toEqual(['a', 'b']);
    const ignored = answer({ batchItemFailures: [{ itemIdentifier: 'b' }] });
    expect([...failedMessages(ignored, messages, false).ids]).toEqual([]);
  });
});

describe('a queue with its worker', { timeout: 60_000 }, () => {
  const work = 'arn:aws:sqs:us-west-2:000000000000:work';
  const deadLetters = 'arn:aws:sqs:us-west-2:000000000000:work-dlq';
  let running: LocalStage | undefined;
  afterEach(async () => {
    await running?.close();
    running = undefined;
  });

  async function start(change?: (templates: Templates) => void) {
    const { stage, journal } = await deploy(change);
    running = stage;
    const worked = () =>
      journal.lines.flatMap(({ line }) => (line.startsWith('{"worker"') ? [JSON.parse(line)] : []));
    return { stage, journal, worked };
  }

  it('a batch with one failure: only that one comes back, and ends in the dead-letter queue', async () => {
    const { stage, worked, journal } = await start();
    await stage.queues.send(work, JSON.stringify({ id: 'good' }));
    await stage.queues.send(work, JSON.stringify({ id: 'bad', fail: 'partly' }));
    await untilIdle(stage);
    const times = (id: string) => worked().filter(({ worker }) => worker === id).length;
    expect([times('good'), times('bad')]).toEqual([1, 2]);
    expect(
      worked()
        .filter(({ worker }) => worker === 'bad')
        .map(({ receives }) => receives),
    ).toEqual(['1', '2']);
    expect(await stage.queues.depth(deadLetters)).toEqual({ visible: 1, inFlight: 0, delayed: 0 });
    expect(journal.errors).toContainEqual({
      kind: 'handler_error',
      where: 'Calls-Worker',
      message: '1 of 1 messages failed',
    });
  });

  it('a malformed answer keeps the whole batch', async () => {
    const { stage, journal, worked } = await start();
    await stage.queues.send(work, JSON.stringify({ id: 'bad', fail: 'malformed' }));
    await untilIdle(stage);
    expect(worked().length).toBe(2);
    expect(await stage.queues.depth(deadLetters)).toMatchObject({ visible: 1 });
    expect(journal.errors[0]).toEqual({
      kind: 'mapping_failed',
      where: 'Calls-Worker',
      message: 'batchItemFailures names no message of the batch: undefined',
    });
  });

  it('an exception keeps the whole batch', async () => {
    const { stage, journal } = await start();
    await stage.queues.send(work, JSON.stringify({ id: 'bad', fail: 'throw' }));
    await untilIdle(stage);
    expect(await stage.queues.depth(deadLetters)).toMatchObject({ visible: 1 });
    expect(journal.errors).toEqual(
      Array(2).fill({ kind: 'handler_error', where: 'Calls-Worker', message: 'Error: asked to throw' }),
    );
  });

  it('redrive moves the message back to its queue, as a new one', async () => {
    const { stage, worked } = await start();
    await stage.queues.send(deadLetters, JSON.stringify({ id: 'second chance' }));
    expect(await stage.queues.redrive(deadLetters)).toBe(1);
    await untilIdle(stage);
    expect(worked()).toEqual([{ worker: 'second chance', receives: '1', batch: 1 }]);
    expect(await stage.queues.depth(deadLetters)).toEqual({ visible: 0, inFlight: 0, delayed: 0 });
    await expect(stage.queues.redrive(work)).rejects.toThrow('not the dead-letter queue');
  });

  it('batches are as large as the mapping allows, and all messages are worked once', async () => {
    const { stage, worked } = await start(({ calls }) => {
      propertiesOf(calls, 'Work').DelaySeconds = 1;
    });
    const ids = Array.from({ length: 12 }, (_, index) => `m${index}`);
    for (const id of ids) await stage.queues.send(work, JSON.stringify({ id }));
    await untilIdle(stage);
    expect(
      worked()
        .map(({ worker }) => worker)
        .sort(),
    ).toEqual([...ids].sort());
    const largest = Math.max(...worked().map(({ batch }) => batch));
    expect(largest).toBeLessThanOrEqual(5);
    expect(largest).toBeGreaterThan(1);
  });
});
