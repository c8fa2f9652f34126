import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallLogOutcome } from '../src/ringcentral/call-log.ts';
import { processMessages, type TranscribeProcessor } from '../src/transcribe-processor.ts';
import { type CallWorld, startCallWorld, stopCallWorlds } from './calls/call-world.ts';
import { anEvent, type EventOptions } from './calls/events.ts';
import { riverside } from './simulation/call-accounts.ts';
import { completedEvent } from './simulation/call-ports.ts';
import { CallProcess } from './simulation/call-process.ts';
import { brokenStateTable } from './support/fakes.ts';
import { anSqsRecord, recordingQueue } from './support/sqs.ts';

const { accountId } = riverside;
const ids = { account_id: accountId, telephony_session_id: 's-77aa', redrive_count: 0 };

let world: CallWorld;
beforeEach(async () => {
  world = await startCallWorld();
});
afterEach(stopCallWorlds);

const message = (more: object = {}) => ({
  version: 1,
  kind: 'session',
  accountId,
  telephonySessionId: 's-77aa',
  redriveCount: 0,
  // SQS took it at its epoch in these tests: not later than it was sent.
  sentAt: world.clock.now().toISOString(),
  ...more,
});
const telephony = (options: EventOptions = {}, more: object = {}) =>
  message({ kind: 'telephony', event: anEvent(options), ...more });
const hungUp: EventOptions = { code: 'Disconnected', sequence: 9 };

/** One invocation: its answer's failures, what it sent and which messages it will see again when. */
async function deliver(
  body: unknown,
  { receiveCount = 1, ...changes }: Partial<TranscribeProcessor> & { receiveCount?: number } = {},
) {
  const queue = recordingQueue();
  const processor = { ...world.container(new CallProcess()), queue, ...changes };
  const event = { Records: [anSqsRecord({ body, receiveCount })] };
  const { batchItemFailures } = await processMessages(processor, event, new Date(world.now() + 100_000));
  const failures = batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  return { failures, sent: queue.sent, visibleIn: queue.visibility.map(([, seconds]) => seconds) };
}

const answering = (outcome: CallLogOutcome) => ({ callLog: { fetchCallLog: async () => outcome } });
const deleted = { failures: [], sent: [], visibleIn: [] };
const kept = (...visibleIn: number[]) => ({ failures: ['message-1'], sent: [], visibleIn });

describe('a message that is done with', () => {
  it.each(['Setup', 'Proceeding', 'Answered', 'Hold', 'Parked', 'VoiceMail', 'Gone', 'Tds', 'A new one'])(
    '%s: row and timeline, not a word to RingCentral',
    async (code) => {
      expect(await deliver(telephony({ code }))).toEqual(deleted);
      expect(await world.calls()).toMatchObject([{ status: code.toLowerCase(), call_log_status: 'none' }]);
      expect(await world.database.query('select event_type from contact_timeline')).toEqual([
        { event_type: `call.${code.toLowerCase()}` },
      ]);
      expect(world.requests()).toEqual([]);
      expect(world.lines.at(-1)).toMatchObject({
        level: 'info',
        event: 'call.processed',
        fields: { message_id: 'message-1', receive_count: 1, kind: 'telephony', ...ids, outcome: 'done' },
      });
      expect(world.meter.totals).toMatchObject({ CallProcessed: 1 });
    },
  );

  it('of a fax leaves nothing', async () => {
    expect(await deliver(telephony({ code: 'FaxReceive' }))).toEqual(deleted);
    expect(await world.calls()).toEqual([]);
  });

  it('of another stage`s transcription is ignored', async () => {
    expect(await deliver(completedEvent('prod-rec-5512'))).toEqual(deleted);
    expect(world.logged('transcription.ignored')).toHaveLength(1);
  });

  it('parks where there is no slot', async () => {
    const outcome = { kind: 'no_slot', surface: 'account_call_log', group: 'heavy', waitSeconds: 8 } as const;
    expect(await deliver(telephony(hungUp), answering(outcome))).toEqual(deleted);
    expect(await world.calls()).toMatchObject([
      { next_step: 'call_log', next_attempt_at: new Date(world.now() + 8000) },
    ]);
    expect(world.lines.at(-1)?.fields).toMatchObject({ outcome: 'parked' });
  });

  it('goes on as a clone after a 429', async () => {
    const limited = {
      kind: 'rate_limited',
      surface: 'account_call_log',
      group: 'heavy',
      retryAfterSeconds: 60,
    } as const;
    const { failures, sent } = await deliver(telephony(hungUp), answering(limited));
    expect(failures).toEqual([]);
    expect(sent).toMatchObject([{ kind: 'telephony', redriveCount: 1, event: { body: { sequence: 9 } } }]);
    expect(world.lines.at(-1)?.fields).toMatchObject({ outcome: 'redriven' });
  });
});

describe('a message that is kept', () => {
  const unanswered = { kind: 'retry', surface: 'account_call_log', reason: 'server_error' } as const;

  it.each([
    [1, [60]],
    [2, [900]],
    [3, []],
  ])('after RingCentral`s failure at receive %i is seen again in %j s', async (receiveCount, visibleIn) => {
    const changes = { ...answering(unanswered), receiveCount };
    expect(await deliver(telephony(hungUp), changes)).toEqual(kept(...visibleIn));
    expect(world.lines.at(-1)).toMatchObject({
      level: 'error',
      event: 'call.processing_failed',
      fields: { ...ids, receive_count: receiveCount, outcome: 'retry', reason: 'server_error' },
    });
    expect(world.meter.totals).toMatchObject({ CallProcessed: 0 });
  });

  it.each([1, 2])(
    'of a call that is not listed yet knows its own time, at receive %i',
    async (receiveCount) => {
      const changes = { ...answering({ kind: 'not_found', surface: 'account_call_log' }), receiveCount };
      const at = (world.now() - Date.UTC(2026, 2, 4, 15, 20)) / 1000 - 90;
      expect(await deliver(telephony({ ...hungUp, at }), changes)).toEqual(kept(210));
    },
  );

  it('needs a person: three receives and the dead-letter queue', async () => {
    const wrong = { kind: 'configuration', surface: 'account_call_log', reason: 'app_permission' } as const;
    const receive = (receiveCount: number) =>
      deliver(telephony(hungUp), { ...answering(wrong), receiveCount });
    expect([await receive(1), await receive(2), await receive(3)]).toEqual([kept(60), kept(900), kept()]);
    expect(world.lines.at(-1)?.fields).toMatchObject({ outcome: 'failed', reason: 'app_permission' });
  });

  it('of a session that nobody knows needs a person', async () => {
    expect(await deliver(message())).toEqual(kept(60));
    expect(world.lines.at(-1)?.fields).toMatchObject({ reason: 'unknown_session' });
  });

  it('after the last redrive stays as long as the queue has it', async () => {
    const limited = {
      kind: 'rate_limited',
      surface: 'account_call_log',
      group: 'heavy',
      retryAfterSeconds: 60,
    } as const;
    const last = telephony(hungUp, { redriveCount: 5 });
    expect(await deliver(last, answering(limited))).toEqual(kept());
    expect(world.logged('ringcentral.redrive_exhausted')).toHaveLength(1);
  });

  it.each([
    ['no JSON', '{', ['body']],
    ['of no kind', { version: 1, kind: 'mail' }, ['kind']],
    ['without a session', () => message({ telephonySessionId: '' }), ['telephonySessionId']],
    ['of another version', () => message({ version: 2 }), ['version']],
    ['a job`s event of another service', { ...completedEvent('test-rec-1'), source: 'aws.s3' }, ['source']],
  ])('%s: is logged by its fields, and left to the queue', async (_, body, fields) => {
    expect(await deliver(typeof body === 'function' ? body() : body)).toEqual(kept());
    expect(world.lines).toMatchObject([{ level: 'error', event: 'message.invalid', fields: { fields } }]);
  });

  it('while the database is away: nothing was asked of RingCentral', async () => {
    const neon = { run: () => Promise.reject(Object.assign(new Error('secret'), { code: 'ECONNREFUSED' })) };
    expect(await deliver(telephony(hungUp), { neon })).toEqual(kept(60));
    expect(world.lines.at(-1)?.fields).toEqual({
      message_id: 'message-1',
      receive_count: 1,
      kind: 'telephony',
      ...ids,
      error_code: 'ECONNREFUSED',
    });
    expect(world.requests()).toEqual([]);
  });

  it('when its parking can`t be announced', async () => {
    const outcome = { kind: 'no_slot', surface: 'account_call_log', group: 'heavy', waitSeconds: 8 } as const;
    const changes = { ...answering(outcome), state: brokenStateTable };
    expect(await deliver(telephony(hungUp), changes)).toEqual(kept(60));
  });

  it('when its clone can`t be sent', async () => {
    const limited = {
      kind: 'rate_limited',
      surface: 'account_call_log',
      group: 'heavy',
      retryAfterSeconds: 60,
    } as const;
    const queue = { ...recordingQueue(), send: () => Promise.reject(new Error('queue down')) };
    expect((await deliver(telephony(hungUp), { ...answering(limited), queue })).failures).toEqual([
      'message-1',
    ]);
  });
});

it('writes its metrics on every way out', async () => {
  const flushed: number[] = [];
  const meter = { ...world.meter, flush: () => void flushed.push(world.now()) };
  await deliver(telephony(), { meter });
  await deliver('{', { meter });
  expect(flushed).toHaveLength(2);
});

it('a recording that has no time left is parked, and nothing of it begun', async () => {
  await deliver(telephony(hungUp));
  await world.database.query('update calls set snapshot = $1, snapshot_at = now()', [
    JSON.stringify({ fetchedAt: world.clock.now().toISOString(), coverage: 'account', records: [] }),
  ]);
  await world.database.query(
    "insert into call_recordings (recording_id, account_id, telephony_session_id, content_uri) values ('5512', $1, 's-77aa', 'https://media.ringcentral.com/5512')",
    [accountId],
  );
  const processor = world.container(new CallProcess());
  const event = { Records: [anSqsRecord({ body: message() })] };
  const asked = world.requests().length;
  const answer = await processMessages(processor, event, new Date(world.now() + 14_000));
  expect(answer).toEqual({ batchItemFailures: [] });
  expect(await world.calls()).toMatchObject([{ next_step: 'recording' }]);
  expect(world.requests()).toHaveLength(asked);
});
