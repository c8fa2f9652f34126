import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { audioBytes } from '../../local/ringcentral/audio.ts';
import { answeredCall, voicemailCall } from '../../local/ringcentral/sample-calls.ts';
import type { SimulatedCall, SimulatedVoicemail } from '../../local/ringcentral/world.ts';
import { processRecording } from '../../src/calls/recording.ts';
import type { StoredSession } from '../../src/calls/step.ts';
import { processVoicemail } from '../../src/calls/voicemail.ts';
import type { CallLogSnapshot } from '../../src/ringcentral/schemas.ts';
import { accountId, afterCallLog, type MediaWorld, reload, startMediaWorld } from '../calls/media-world.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let world: MediaWorld;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  world = await startMediaWorld(database);
});
afterEach(() => world.stop());

const options = (number = 1) => ({ accountId, number, startedAt: world.simulator.clock.now() });
const aRecordedCall = (format: 'mp3' | 'wav' = 'mp3') =>
  answeredCall({ ...options(), talkSeconds: 60, format });
const record = ({ snapshot, session }: { snapshot: CallLogSnapshot; session: StoredSession }) =>
  processRecording(world.deps, snapshot, session, world.deadline());
const voicemail = ({ session }: { session: StoredSession }) =>
  processVoicemail(world.deps, session, world.deadline());
const query = (text: string) => database.query(text);
const done = { kind: 'done' };

it('R5 a recording that was deleted ends with a stable reason, not in the dead-letter queue', async () => {
  const call = aRecordedCall();
  for (const recording of call.recordings) recording.deleted = true;
  const stored = await afterCallLog(world, call, 2 * 24 * 60);
  for (let receive = 1; receive <= 3; receive += 1) {
    const again = receive === 1 ? stored : await reload(world, stored.session);
    expect(await record(again)).toEqual(done);
    expect(await query('select recording_status, recording_reason from calls')).toEqual([
      { recording_status: 'deleted', recording_reason: 'content_deleted' },
    ]);
  }
  expect(world.surfaces()).toEqual(['recording_content']);
});

it('R7 429 on media is redriven as one, and the next attempt uses the known contentUri', async () => {
  const stored = await afterCallLog(world, aRecordedCall());
  world.simulator.faults.add({
    surface: 'recording_content',
    fault: {
      kind: 'status',
      status: 429,
      headers: { 'x-rate-limit-group': 'heavy', 'retry-after': '45' },
    },
  });
  expect(await record(stored)).toEqual({
    kind: 'redrive',
    step: 'recording',
    retryAfterSeconds: 45,
    group: 'heavy',
  });
  world.simulator.clock.advance(10 * 60_000);
  expect(await record(await reload(world, stored.session))).toEqual(done);
  expect(world.surfaces()).toEqual(['recording_content', 'recording_content']);
});

it.each([
  ['wav', 'audio/x-wav'],
  ['mp3', 'audio/mpeg; charset=binary'],
  ['wav', 'application/octet-stream'],
  ['mp3', 'application/octet-stream'],
  ['wav', null],
  ['mp3', null],
] as const)('R27 %s with the header %s: ending, type and media format agree', async (format, header) => {
  const call = aRecordedCall(format);
  for (const recording of call.recordings) recording.contentType = header;
  expect(await record(await afterCallLog(world, call))).toEqual(done);
  const key = `recordings/900100/2026/03/55000010.${format}`;
  expect([...world.objects.objects]).toEqual([
    [
      key,
      expect.objectContaining({
        bytes: audioBytes({ format, seconds: 60 }),
        contentType: format === 'mp3' ? 'audio/mpeg' : 'audio/wav',
      }),
    ],
  ]);
  expect(world.transcriber.requests).toMatchObject([{ mediaKey: key, mediaFormat: format }]);
});

it('R27 what is no sound by header and first bytes is a clear error', async () => {
  const stored = await afterCallLog(world, aRecordedCall());
  world.simulator.faults.add({
    surface: 'recording_content',
    fault: { kind: 'status', status: 200, body: 'neither', contentType: 'application/octet-stream' },
  });
  expect(await record(stored)).toEqual({ kind: 'retry', reason: 'not_audio' });
  expect(world.lines('recording.not_stored')).toMatchObject([{ reason: 'not_audio' }]);
});

it('R30 401 on content: one re-auth, one more request, then SQS tries again', async () => {
  const stored = await afterCallLog(world, aRecordedCall());
  const unauthorized = { kind: 'status', status: 401, errorCode: 'TokenInvalid' } as const;
  world.simulator.faults.add({ surface: 'recording_content', fault: unauthorized, times: 2 });
  expect(await record(stored)).toEqual({ kind: 'retry', reason: 'unauthorized' });
  expect(world.surfaces()).toEqual(['recording_content', 'oauth_token', 'recording_content']);
  expect(await query('select stored_at, unavailable_reason from call_recordings')).toEqual([
    { stored_at: null, unavailable_reason: null },
  ]);

  world.simulator.clock.advance(60_000);
  expect(await record(await reload(world, stored.session))).toEqual(done);
  const everything = JSON.stringify([world.container.log.lines, world.simulator.journal]);
  expect(everything).not.toContain('access_token');
});

function aVoicemail(change: Partial<SimulatedVoicemail>, number = 1): SimulatedCall {
  const call = voicemailCall({ ...options(number), transcript: 'Please call me back.' });
  for (const message of call.voicemails) Object.assign(message, change);
  return call;
}

it('R32 a transcript that RingCentral is still making isn`t waited for', async () => {
  const later = world.simulator.clock.now().getTime() + 24 * 3600_000;
  expect(await voicemail(await afterCallLog(world, aVoicemail({ transcribedAt: later })))).toEqual(done);
  expect(world.transcriber.requests).toMatchObject([{ jobName: 'test-vm-66000010' }]);
  expect(await query('select voicemail_status from calls')).toEqual([{ voicemail_status: 'stored' }]);
});

it('R32 a transcript of a part is used', async () => {
  const call = aVoicemail({ transcription: 'CompletedPartially' });
  expect(await voicemail(await afterCallLog(world, call))).toEqual(done);
  expect(await query('select text from transcripts')).toEqual([{ text: 'Please call me back.' }]);
  expect(world.transcriber.requests).toEqual([]);
});

it.each(['NotAvailable', 'Failed', 'TimedOut'] as const)(
  'R32 %s: our own transcription at once',
  async (transcription) => {
    expect(await voicemail(await afterCallLog(world, aVoicemail({ transcription })))).toEqual(done);
    expect(world.transcriber.requests).toHaveLength(1);
  },
);

it('R33 two anonymous callers within a minute: each call has its own message, by its id', async () => {
  const first = aVoicemail({ transcript: 'first' }, 1);
  const second = aVoicemail({ transcript: 'second' }, 2);
  for (const call of [first, second]) {
    for (const leg of call.records.flatMap((one) => [one, ...one.legs])) leg.from = { name: 'Anonymous' };
  }
  // The later one is worked on first.
  const sessions = [await afterCallLog(world, second)];
  sessions.push(await afterCallLog(world, first));
  for (const session of sessions) expect(await voicemail(session)).toEqual(done);
  expect(
    await query(
      `select telephony_session_id as session, text from voicemails join transcripts on source_id = message_id
       where source = 'voicemail' order by 1`,
    ),
  ).toEqual([
    { session: first.telephonySessionId, text: 'first' },
    { session: second.telephonySessionId, text: 'second' },
  ]);
  expect(world.simulator.journal.map(({ surface }) => surface)).not.toContain('message_store_search');
});

it('R35 a voicemail that was purged ends', async () => {
  const stored = await afterCallLog(world, aVoicemail({ availability: 'Purged' }));
  expect(await voicemail(stored)).toEqual(done);
  expect(await voicemail(await reload(world, stored.session))).toEqual(done);
  expect(await query('select voicemail_status from calls')).toEqual([{ voicemail_status: 'deleted' }]);
  expect(world.surfaces()).toEqual(['voicemail_message_detail']);
});
