import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { audioBytes } from '../../local/ringcentral/audio.ts';
import { answeredCall, voicemailCall } from '../../local/ringcentral/sample-calls.ts';
import type { SimulatedCall } from '../../local/ringcentral/world.ts';
import { recordingsOf } from '../../src/ringcentral/snapshot.ts';
import { type Container, createWorld } from './client-under-test.ts';
import { account, startTestSimulator, type TestSimulator } from './simulated-account.ts';

const { accountId } = account;
let simulator: TestSimulator;
let container: Container;

beforeEach(async () => {
  simulator = await startTestSimulator({ tokenSeconds: 86_400 });
  container = createWorld(simulator).container();
});
afterEach(() => simulator.stop());

/** The call's snapshot three hours after its end. */
async function snapshotOf(call: SimulatedCall) {
  simulator.calls.push(call);
  simulator.clock.advance(call.endedAt - simulator.clock.now().getTime() + 3 * 3600_000);
  const { telephonySessionId } = call;
  const outcome = await container.callLog.fetchCallLog(telephonySessionId, accountId, {
    firstEventAt: new Date(call.endedAt),
  });
  if (outcome.kind !== 'ok') throw new Error(outcome.kind);
  return outcome.value;
}

const options = () => ({ accountId, number: 1, startedAt: simulator.clock.now() });
const context = { accountId, telephonySessionId: 's-900100z00001' };

describe('a recording', () => {
  const open = async (call: SimulatedCall) => {
    const [recording] = recordingsOf(await snapshotOf(call));
    return container.media.openRecording(recording?.contentUri ?? '', context);
  };

  it.each([
    ['mp3', 'audio/mpeg'],
    ['wav', 'audio/wav'],
  ] as const)('comes as a stream of %s', async (format, contentType) => {
    const outcome = await open(answeredCall({ ...options(), format, talkSeconds: 60 }));
    if (outcome.kind !== 'ok') throw new Error(outcome.kind);
    expect(outcome.value).toMatchObject({ format, contentType, bytes: audioBytes({ format, seconds: 60 }) });
    expect((await buffer(outcome.value.stream)).length).toBe(outcome.value.bytes);
  });

  it('of 90 minutes is not held in memory', async () => {
    const outcome = await open(answeredCall({ ...options(), format: 'wav', talkSeconds: 5400 }));
    if (outcome.kind !== 'ok') throw new Error(outcome.kind);
    let bytes = 0;
    let peak = 0;
    const before = process.memoryUsage().arrayBuffers;
    for await (const chunk of outcome.value.stream) {
      bytes += chunk.length;
      peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
    }
    expect(bytes).toBe(5400 * 32_000 + 44);
    expect(peak).toBeLessThan(64 * 2 ** 20);
  });

  it('that is cut off fails in its stream', async () => {
    simulator.faults.add({ surface: 'recording_content', fault: { kind: 'truncate' } });
    const outcome = await open(answeredCall(options()));
    if (outcome.kind !== 'ok') throw new Error(outcome.kind);
    await expect(buffer(outcome.value.stream)).rejects.toThrow();
  });

  it('that is not there, or no longer, is not_found', async () => {
    const call = answeredCall(options());
    for (const recording of call.recordings) recording.deleted = true;
    expect(await open(call)).toMatchObject({ kind: 'not_found', errorCode: 'CMN-102' });
  });
});

describe('a voicemail', () => {
  it("is read by the record's own URI, in whatever extension it is, with its transcript and sound", async () => {
    const call = voicemailCall({ ...options(), transcript: 'Please call me back.' });
    for (const voicemail of call.voicemails) voicemail.extensionId = '900100299';
    const { records } = await snapshotOf(call);
    const uri = records[0]?.message?.uri ?? '';
    expect(uri).toContain('/extension/900100299/message-store/');
    const detail = await container.media.fetchVoicemail(uri, context);
    expect(detail).toMatchObject({
      kind: 'ok',
      value: {
        id: records[0]?.message?.id,
        vmTranscriptionStatus: 'Completed',
        attachments: [{ type: 'AudioRecording' }, { type: 'AudioTranscription' }],
      },
    });
    if (detail.kind !== 'ok') return;
    const [sound, text] = detail.value.attachments ?? [];
    expect(await container.media.fetchTranscript(text?.uri ?? '', context)).toEqual({
      kind: 'ok',
      value: 'Please call me back.',
    });
    const audio = await container.media.openVoicemailAudio(sound?.uri ?? '', context);
    if (audio.kind !== 'ok') throw new Error(audio.kind);
    expect(audio.value).toMatchObject({ format: 'wav', contentType: 'audio/wav', bytes: sound?.size });
    audio.value.stream.destroy();
  });

  it.each([
    [500, 'return_undefined'],
    [403, 'return_undefined'],
    [429, 'throw'],
  ])('whose detail answers %i has client_error_action %s', async (status, action) => {
    const { records } = await snapshotOf(voicemailCall(options()));
    simulator.faults.add({ surface: 'voicemail_message_detail', fault: { kind: 'status', status } });
    await container.media.fetchVoicemail(records[0]?.message?.uri ?? '', context);
    const line = container.log.lines.find(
      ({ event, fields }) =>
        event === 'ringcentral.request_completed' && fields.api_surface === 'voicemail_message_detail',
    );
    expect(line?.fields).toMatchObject({ http_status: status, client_error_action: action });
  });
});
