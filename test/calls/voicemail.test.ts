import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { audioBytes } from '../../local/ringcentral/audio.ts';
import type { Fault } from '../../local/ringcentral/faults.ts';
import { voicemailCall } from '../../local/ringcentral/sample-calls.ts';
import type { SimulatedCall, SimulatedVoicemail } from '../../local/ringcentral/world.ts';
import type { StoredSession } from '../../src/calls/step.ts';
import { processVoicemail } from '../../src/calls/voicemail.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import {
  accountId,
  afterCallLog,
  type MediaWorld,
  reload,
  riverside,
  startMediaWorld,
} from './media-world.ts';

let database: TestDatabase;
let world: MediaWorld;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  world = await startMediaWorld(database);
});
afterEach(() => world.stop());

function aCall(change: Partial<SimulatedVoicemail> = {}): SimulatedCall {
  const startedAt = world.simulator.clock.now();
  const call = voicemailCall({ accountId, number: 1, startedAt, transcript: 'Please call me back.' });
  for (const voicemail of call.voicemails) Object.assign(voicemail, change);
  return call;
}

const run = ({ session }: { session: StoredSession }) =>
  processVoicemail(world.deps, session, world.deadline());
const callRow = async () => (await database.query('select * from calls'))[0];
const voicemails = () => database.query('select * from voicemails');
const transcripts = () => database.query('select * from transcripts');
const received = () =>
  database.query(`select * from contact_timeline where event_type = 'call.voicemail_received'`);
const fault = (
  surface: 'voicemail_message_detail' | 'voicemail_transcript_content',
  what: Fault,
  times = 1,
) => world.simulator.faults.add({ surface, fault: what, times });

const key = 'voicemails/900100/2026/03/66000010.wav';
const bytes = audioBytes({ format: 'wav', seconds: 27 });
const done = { kind: 'done' };

describe('a voicemail', () => {
  it('is stored with RingCentral`s transcript and told of, in one transaction', async () => {
    const call = aCall();
    const stored = await afterCallLog(world, call);
    expect(await run(stored)).toEqual(done);

    expect(world.surfaces()).toEqual([
      'voicemail_message_detail',
      'voicemail_transcript_content',
      'voicemail_transcript_content',
    ]);
    expect(world.objects.objects.get(key)).toMatchObject({ bytes, contentType: 'audio/wav' });
    expect(await voicemails()).toEqual([
      expect.objectContaining({
        s3_key: key,
        bytes: String(bytes),
        duration_ms: 27_000,
        stored_at: world.simulator.clock.now(),
        transcription_job: null,
        transcription_status: 'completed',
      }),
    ]);
    expect(await callRow()).toMatchObject({ voicemail_status: 'stored' });
    expect(await transcripts()).toEqual([
      {
        source: 'voicemail',
        source_id: '66000010',
        text: 'Please call me back.',
        segments: [],
        language: null,
        speaker_basis: 'none',
        created_at: expect.any(Date),
      },
    ]);
    expect(await received()).toEqual([
      expect.objectContaining({
        contact_phone: '+14155550001',
        store_id: riverside.storeId,
        entity_id: call.telephonySessionId,
        occurred_at: new Date(call.endedAt),
        actor_type: 'ringcentral_webhook',
        new_value: { messageId: '66000010' },
        idempotency_key: 'call.voicemail_received:66000010',
      }),
    ]);
    expect(world.transcriber.requests).toEqual([]);
    expect(world.container.meter.totals).toMatchObject({ TranscriptStored: 1 });
    expect(world.lines('voicemail.stored')).toMatchObject([
      { message_id: '66000010', bytes, transcript: 'ringcentral' },
    ]);
  });

  it('that is stored costs nothing more', async () => {
    const stored = await afterCallLog(world, aCall());
    await run(stored);
    const requests = world.surfaces().length;
    expect(await run(await reload(world, stored.session))).toEqual(done);
    expect(world.surfaces()).toHaveLength(requests);
    expect(await received()).toHaveLength(1);
  });

  it('whose sound is in the bucket already is not downloaded again', async () => {
    const stored = await afterCallLog(world, aCall());
    const metadata = { channels: '1', 'announced-bytes': '1000' };
    world.objects.objects.set(key, { bytes: 1000, contentType: 'audio/wav', metadata });
    await run(stored);
    expect(world.objects.uploads).toEqual([]);
    expect(await voicemails()).toMatchObject([{ bytes: '1000', transcription_status: 'completed' }]);
  });

  it('of a caller that nobody knows tells no timeline', async () => {
    const stored = await afterCallLog(world, aCall(), 5, undefined);
    await database.query('update calls set store_id = null');
    const { session } = await reload(world, stored.session);
    expect(await processVoicemail(world.deps, session, world.deadline())).toEqual(done);
    expect(await voicemails()).toMatchObject([{ s3_key: key }]);
    expect(await received()).toEqual([]);
  });

  it('is parked rather than begun when no time is left', async () => {
    const { session } = await afterCallLog(world, aCall());
    const deadline = new Date(world.simulator.clock.now().getTime() + 14_000);
    expect(await processVoicemail(world.deps, session, deadline)).toEqual({
      kind: 'park',
      step: 'voicemail',
      waitSeconds: 0,
    });
  });
});

describe('without a transcript of RingCentral`s', () => {
  const startsOwn = async () => {
    expect(await voicemails()).toMatchObject([
      { s3_key: key, transcription_job: 'test-vm-66000010', transcription_status: 'started' },
    ]);
    expect(await transcripts()).toEqual([]);
    expect(world.transcriber.requests).toEqual([
      {
        jobName: 'test-vm-66000010',
        mediaKey: key,
        mediaFormat: 'wav',
        stereo: true,
        outputKey: 'transcripts/voicemails/900100/2026/03/66000010.json',
      },
    ]);
    expect(await callRow()).toMatchObject({ voicemail_status: 'stored' });
  };

  it.each(['NotAvailable', 'TimedOut', 'Failed', 'Unknown'] as const)(
    '(%s) our own transcription begins at once',
    async (transcription) => {
      expect(await run(await afterCallLog(world, aCall({ transcription })))).toEqual(done);
      await startsOwn();
    },
  );

  it('that is still in progress it isn`t waited for', async () => {
    const call = aCall();
    for (const voicemail of call.voicemails) voicemail.transcribedAt = call.endedAt + 3600_000;
    expect(await run(await afterCallLog(world, call))).toEqual(done);
    await startsOwn();
  });

  it('because it won`t be given, our own begins as well', async () => {
    const stored = await afterCallLog(world, aCall());
    fault('voicemail_transcript_content', { kind: 'status', status: 500 });
    expect(await run(stored)).toEqual(done);
    await startsOwn();
  });

  it('a busy Transcribe is asked later, and RingCentral isn`t', async () => {
    const stored = await afterCallLog(world, aCall({ transcription: 'NotAvailable' }));
    world.transcriber.answer = 'busy';
    expect(await run(stored)).toEqual({ kind: 'park', step: 'transcription', waitSeconds: 60 });
    world.transcriber.answer = 'started';
    const requests = world.surfaces().length;
    expect(await run(await reload(world, stored.session))).toEqual(done);
    expect(world.surfaces()).toHaveLength(requests);
    expect(await voicemails()).toMatchObject([{ transcription_status: 'started' }]);
  });
});

describe('a failure', () => {
  it.each([
    ['500 of the detail', 'voicemail_message_detail', { kind: 'status', status: 500 }, 'server_error'],
    ['403 of the detail', 'voicemail_message_detail', { kind: 'status', status: 403 }, 'forbidden'],
    ['404 of the detail', 'voicemail_message_detail', { kind: 'status', status: 404 }, 'not_found'],
    [
      'a scope that is missing',
      'voicemail_message_detail',
      { kind: 'status', status: 403, errorCode: 'CMN-401' },
      'app_permission',
    ],
    ['a cut connection', 'voicemail_message_detail', { kind: 'reset' }, 'network'],
    ['sound that ends too early', 'voicemail_transcript_content', { kind: 'truncate' }, 'incomplete_content'],
  ] as const)('(%s) doesn`t hold up the message, and stays pending', async (_, surface, what, reason) => {
    const stored = await afterCallLog(world, aCall({ audio: { format: 'wav', seconds: 120 } }));
    fault(surface, what, 2);
    expect(await run(stored)).toEqual(done);
    expect(await callRow()).toMatchObject({ voicemail_status: 'pending' });
    expect(await voicemails()).toMatchObject([{ stored_at: null, unavailable_reason: null }]);
    expect(world.objects.objects.size).toBe(0);
    expect(world.lines('voicemail.not_stored')).toMatchObject([{ message_id: '66000010', reason }]);

    world.simulator.faults.clear();
    expect(await run(await reload(world, stored.session))).toEqual(done);
    expect(await callRow()).toMatchObject({ voicemail_status: 'stored' });
  });

  it.each(['voicemail_message_detail', 'voicemail_transcript_content'] as const)(
    '429 of %s is redriven',
    async (surface) => {
      const stored = await afterCallLog(world, aCall());
      fault(surface, { kind: 'status', status: 429, headers: { 'retry-after': '30' } });
      expect(await run(stored)).toMatchObject({
        kind: 'redrive',
        retryAfterSeconds: 30,
        step: 'voicemail',
      });
      expect(await callRow()).toMatchObject({ voicemail_status: 'pending' });
    },
  );

  it('for want of a slot is parked', async () => {
    const stored = await afterCallLog(world, aCall());
    await world.container.gate.close({ owner: accountId, group: 'light' }, 60);
    expect(await run(stored)).toMatchObject({ kind: 'park', step: 'voicemail', group: 'light' });
  });
});

describe('a message that is gone', () => {
  it.each(['Deleted', 'Purged'] as const)('(%s) ends, and stays so', async (availability) => {
    const stored = await afterCallLog(world, aCall({ availability }));
    expect(await run(stored)).toEqual(done);
    expect(await callRow()).toMatchObject({ voicemail_status: 'deleted' });
    expect(await voicemails()).toMatchObject([{ unavailable_reason: 'deleted', stored_at: null }]);
    const requests = world.surfaces().length;
    await run(await reload(world, stored.session));
    expect(world.surfaces()).toHaveLength(requests);
    expect(await received()).toEqual([]);
  });

  it('(404) is waited for until call end + duration + 15 minutes', async () => {
    const call = aCall();
    // The call took 49 s.
    const stored = await afterCallLog(world, call, 15);
    call.voicemails.length = 0;
    await run(stored);
    expect(await callRow()).toMatchObject({ voicemail_status: 'pending' });
    world.simulator.clock.advance(49_001);
    await run(await reload(world, stored.session));
    expect(await callRow()).toMatchObject({ voicemail_status: 'deleted' });
  });
});
