import { describe, expect, it } from 'vitest';
import { scheduleRedelivery } from '../../src/platform/redelivery.ts';
import { recordingLog } from '../support/fakes.ts';
import { anSqsRecord, recordingQueue } from '../support/sqs.ts';

describe('scheduleRedelivery', () => {
  it.each([
    [1, [['receipt of message-1', 15]]],
    [2, [['receipt of message-1', 120]]],
    [3, []],
  ])('after receive %i', async (receiveCount, expected) => {
    const queue = recordingQueue();
    await scheduleRedelivery(
      { queue, log: recordingLog() },
      anSqsRecord({ body: '', receiveCount }),
      [15, 120],
    );
    expect(queue.visibility).toEqual(expected);
  });

  it('never rejects: a refused change is logged by its code', async () => {
    const log = recordingLog();
    const refused = Object.assign(new Error('no such receipt'), { name: 'ReceiptHandleIsInvalid' });
    const queue = { ...recordingQueue(), changeVisibility: () => Promise.reject(refused) };
    await scheduleRedelivery({ queue, log }, anSqsRecord({ body: '' }), [15]);
    expect(log.lines).toEqual([
      {
        level: 'warn',
        event: 'message.visibility_failed',
        fields: { message_id: 'message-1', error_code: 'ReceiptHandleIsInvalid' },
      },
    ]);
  });
});
