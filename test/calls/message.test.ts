import { describe, expect, it } from 'vitest';
import { readWork, redrivesSoFar, sendCallWork, type TelephonyWork } from '../../src/calls/message.ts';
import { InvalidMessageError } from '../../src/platform/message.ts';
import { anSqsRecord, recordingQueue } from '../support/sqs.ts';
import { accountId, anEvent } from './events.ts';

const sentAt = '2026-03-04T15:23:15.200Z';
const telephony: TelephonyWork = {
  kind: 'telephony',
  accountId,
  telephonySessionId: 's-77aa',
  event: anEvent(),
  redriveCount: 2,
};

/** A record that SQS took so many milliseconds after it was sent. */
function received(body: unknown, acceptedAfterMs = 0) {
  const record = anSqsRecord({ body });
  const acceptedAt = String(Date.parse(sentAt) + acceptedAfterMs);
  return { ...record, attributes: { ...record.attributes, SentTimestamp: acceptedAt } };
}

describe('a message of transcribe-queue', () => {
  it('is read as it was sent, with the time of sending', async () => {
    const queue = recordingQueue();
    await sendCallWork(queue, telephony, { now: new Date(sentAt), delaySeconds: 90 });
    expect(queue.sent).toEqual([{ version: 1, ...telephony, sentAt }]);
    expect(readWork(received(queue.sent[0]))).toEqual(telephony);
  });

  it('of a session has no event', async () => {
    const queue = recordingQueue();
    const work = { kind: 'session', accountId, telephonySessionId: 's-77aa', redriveCount: 0 } as const;
    await sendCallWork(queue, work, { now: new Date(sentAt), delaySeconds: 0 });
    expect(queue.sent).toEqual([
      { version: 1, kind: 'session', accountId, telephonySessionId: 's-77aa', redriveCount: 0, sentAt },
    ]);
    expect(readWork(received(queue.sent[0]))).toEqual(work);
  });

  it('carries no names of callers', async () => {
    const queue = recordingQueue();
    await sendCallWork(queue, telephony, { now: new Date(sentAt), delaySeconds: 0 });
    expect(JSON.stringify(queue.sent)).not.toContain('OAKLAND');
  });

  it('is not sent when it is not what the queue carries', async () => {
    const queue = recordingQueue();
    const wrong = { ...telephony, redriveCount: -1 };
    await expect(
      sendCallWork(queue, wrong, { now: new Date(sentAt), delaySeconds: 0 }),
    ).rejects.toMatchObject({ name: 'ZodError' });
    expect(queue.sent).toEqual([]);
  });

  it.each([
    ['no JSON', 'not JSON', ['body']],
    ['another version', { ...telephony, version: 2, sentAt }, ['version']],
    ['an unknown kind', { ...telephony, version: 1, kind: 'fax', sentAt }, ['kind']],
    ['telephony without its event', { ...telephony, version: 1, event: undefined, sentAt }, ['event']],
    ['no time of sending', { ...telephony, version: 1 }, ['sentAt']],
    ['an account that is no number', { ...telephony, version: 1, accountId: '../1', sentAt }, ['accountId']],
  ])('with %s is invalid, and the error names the field', (_, body, fields) => {
    expect(() => readWork(received(body))).toThrow(InvalidMessageError);
    expect(() => readWork(received(body))).toThrow(expect.objectContaining({ fields }));
  });

  it.each(['COMPLETED', 'FAILED'] as const)('may be Transcribe`s own event of a job that is %s', (status) => {
    const envelope = {
      version: '0',
      id: '1de9a55a-39aa-d889-84eb-22d245492319',
      'detail-type': 'Transcribe Job State Change',
      source: 'aws.transcribe',
      account: '000000000000',
      time: '2026-03-04T15:40:00Z',
      region: 'us-west-2',
      resources: [],
      detail: { TranscriptionJobName: 'prod-rec-5512', TranscriptionJobStatus: status },
    };
    expect(readWork(received(envelope))).toEqual({
      kind: 'transcription',
      jobName: 'prod-rec-5512',
      jobStatus: status,
    });
    expect(() => readWork(received({ ...envelope, source: 'lead-tracking' }))).toThrow(
      expect.objectContaining({ fields: ['source'] }),
    );
  });
});

describe('the redrive count', () => {
  it('R42 survives the clone, and a delay of any length', () => {
    expect(readWork(received({ version: 1, ...telephony, sentAt }, 800))).toMatchObject({ redriveCount: 2 });
  });

  it('begins anew when a person moved the message from the dead-letter queue', () => {
    expect(readWork(received({ version: 1, ...telephony, sentAt }, 60_001))).toMatchObject({
      redriveCount: 0,
    });
  });

  it.each([
    [-2_000, 5],
    [0, 5],
    [60_000, 5],
    [60_001, 0],
    [14 * 24 * 3_600_000, 0],
  ])('accepted %i ms after sending: %i', (ms, expected) => {
    const sent = new Date(sentAt);
    expect(redrivesSoFar({ redriveCount: 5, sentAt: sent, acceptedAt: new Date(sent.getTime() + ms) })).toBe(
      expected,
    );
  });
});
