import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  anonymousCall,
  answeredCall,
  missedCall,
  queueCall,
  transferCall,
  voicemailCall,
} from '../../local/ringcentral/sample-calls.ts';
import { recordCallEvent } from '../../src/calls/call-store.ts';
import { readWork } from '../../src/calls/message.ts';
import { placeEvent } from '../../src/calls/place-event.ts';
import { receiveWebhook } from '../../src/calls/receive-webhook.ts';
import { createStoreDirectory } from '../../src/leads/store-directory.ts';
import { accountId, aNotification } from '../calls/events.ts';
import { aRequest, receiverWith } from '../calls/webhooks.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { FakeClock, recordingLog } from '../support/fakes.ts';
import { riversideStore } from '../support/leads.ts';
import { anSqsRecord } from '../support/sqs.ts';

const startedAt = new Date('2026-03-04T15:20:00.000Z');
const after = (seconds: number) => new Date(startedAt.getTime() + seconds * 1000);
const store = { ...riversideStore, phoneNumbers: ['(206) 555-0199'] };

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  await database.query('truncate calls, contact_timeline');
});

/** Events from webhook to row: receiver, message, store, database. Returns the messages' delays. */
async function run(events: readonly unknown[]): Promise<(number | undefined)[]> {
  const { receiver, sent } = receiverWith();
  for (const body of events) await receiveWebhook(receiver, aRequest({ body }));
  expect(sent).toHaveLength(events.length);
  const directory = createStoreDirectory(async () => [store], new FakeClock(), recordingLog());
  for (const { body } of sent) {
    const work = readWork(anSqsRecord({ body }));
    if (work.kind !== 'telephony') throw new Error(`a webhook became ${work.kind}`);
    const placed = await placeEvent(directory, work.accountId, work.event);
    if (placed) await recordCallEvent(database.db, placed, new Date('2026-03-04T15:30:00Z'));
  }
  return sent.map(({ delaySeconds }) => delaySeconds);
}

const calls = () => database.query('select * from calls order by telephony_session_id');
const timeline = async () =>
  (await database.query('select * from contact_timeline order by occurred_at, idempotency_key')).map(
    (row) => row.event_type,
  );

const options = { accountId, startedAt, number: 7 };

it('R14 several Disconnected of one session are one call; each asks for the call log anew', async () => {
  const events = ['p-77aa-1', 'p-77aa-2'].map((partyId, index) =>
    aNotification({ code: 'Disconnected', partyId, sequence: 8 + index, at: 60 + index }),
  );
  expect(await run(events)).toEqual([90, 90]);
  expect(await calls()).toEqual([
    expect.objectContaining({ telephony_session_id: 's-77aa', last_sequence: '9', status: 'disconnected' }),
  ]);
  expect(await timeline()).toEqual(['call.disconnected', 'call.disconnected']);
});

describe('R15 blind transfer', () => {
  const { events, endedAt } = transferCall(options);

  it('R15 the first Disconnected does not end a call that goes on', async () => {
    expect(await run(events.slice(0, 4))).toEqual([0, 0, 90, 0]);
    expect(await calls()).toEqual([expect.objectContaining({ status: 'setup', ended_at: null })]);
  });

  it('R15 the last one does, and the recording of the second leg is expected', async () => {
    expect((await run(events)).at(-1)).toBe(90);
    expect(await calls()).toEqual([
      expect.objectContaining({
        status: 'disconnected',
        ended_at: new Date(endedAt),
        started_at: startedAt,
        call_log_status: 'pending',
        recording_status: 'expected',
        extension_ids: [`${accountId}201`, `${accountId}202`],
      }),
    ]);
  });
});

describe('R16 queue call', () => {
  const { events, endedAt } = queueCall(options);
  const isTheAnsweredCall = expect.objectContaining({
    extension_id: `${accountId}201`,
    contact_phone: '+14155550007',
    status: 'disconnected',
    ended_at: new Date(endedAt),
    recording_status: 'expected',
    voicemail_status: 'none',
  });

  it('R16 is one call, of the agent who answered', async () => {
    await run(events);
    expect(await calls()).toEqual([isTheAnsweredCall]);
    expect((await timeline()).filter((type) => type === 'call.answered')).toHaveLength(1);
  });

  it('R16 whoever is heard of first', async () => {
    await run(events.toReversed());
    expect(await calls()).toEqual([isTheAnsweredCall]);
  });
});

it('R20 Answered after Disconnected neither reopens nor downgrades', async () => {
  const { events, endedAt } = answeredCall(options);
  await run(events.toReversed());
  expect(await calls()).toEqual([
    expect.objectContaining({
      status: 'disconnected',
      started_at: startedAt,
      ended_at: new Date(endedAt),
      last_sequence: '5',
    }),
  ]);
  expect(await timeline()).toEqual(['call.setup', 'call.proceeding', 'call.answered', 'call.disconnected']);
});

it('R21 events of two subscriptions, and delivered again, make the rows of one', async () => {
  const { events } = answeredCall(options);
  const doubles = events.map((event) => ({ ...event, uuid: `2${event.uuid}`, subscriptionId: 'second' }));
  await run([...events, ...doubles, ...events]);
  expect(await calls()).toHaveLength(1);
  expect(await timeline()).toHaveLength(4);
});

it('R24 anonymous calls are kept, each for itself, and told in no timeline', async () => {
  const numbers = [1, 2];
  await run(numbers.flatMap((number) => anonymousCall({ ...options, number }).events));
  expect(await calls()).toEqual(
    numbers.map(() =>
      expect.objectContaining({ from_number: null, contact_phone: null, store_id: store.storeId }),
    ),
  );
  expect(await timeline()).toEqual([]);
});

it('R26 a caller whose number comes in several ways is one contact', async () => {
  const written = ['(415) 555-0111', '14155550111', '+14155550111'];
  await run(
    written.map((phoneNumber, index) =>
      aNotification({ telephonySessionId: `s-${index}`, party: { from: { phoneNumber } } }),
    ),
  );
  expect((await calls()).map((row) => row.contact_phone)).toEqual(Array(3).fill('+14155550111'));
});

it('R36 a fax leaves no row', async () => {
  await run([aNotification({ code: 'FaxReceive' })]);
  expect(await calls()).toEqual([]);
  expect(await timeline()).toEqual([]);
});

it('R41 a call whose Disconnected never came stays among the unresolved', async () => {
  const { events } = missedCall(options);
  await run(events.slice(0, 1));
  const unresolved = await database.query(
    `select status, ended_at, call_log_status from calls where account_id = $1 and started_at >= $2
     and recording_status in ('pending', 'expected', 'available')`,
    [accountId, startedAt],
  );
  expect(unresolved).toEqual([{ status: 'setup', ended_at: null, call_log_status: 'none' }]);
});

it('R33 a voicemail`s events name no message: none is guessed before the call log has told', async () => {
  await run(voicemailCall(options).events);
  expect(await calls()).toEqual([
    expect.objectContaining({ status: 'disconnected', voicemail_status: 'none', ended_at: after(49) }),
  ]);
  expect(await timeline()).toEqual(['call.setup', 'call.proceeding', 'call.voicemail', 'call.disconnected']);
});
