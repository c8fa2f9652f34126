import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answeredCall } from '../../local/ringcentral/sample-calls.ts';
import { type MediaDependencies, processRecording } from '../../src/calls/recording.ts';
import type { StoredSession } from '../../src/calls/step.ts';
import { storeAudio } from '../../src/calls/store-audio.ts';
import type { CallLogSnapshot } from '../../src/ringcentral/schemas.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { accountId, afterCallLog, type MediaWorld, reload, startMediaWorld } from './media-world.ts';

let database: TestDatabase;
let world: MediaWorld;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  world = await startMediaWorld(database);
});
afterEach(() => world.stop());

const aCall = (options: Partial<Parameters<typeof answeredCall>[0]> = {}) =>
  answeredCall({ accountId, number: 1, startedAt: world.simulator.clock.now(), talkSeconds: 60, ...options });
type Stored = { snapshot: CallLogSnapshot; session: StoredSession };
const run = ({ snapshot, session }: Stored, deps: MediaDependencies = world.deps) =>
  processRecording(deps, snapshot, session, world.deadline());
const callRow = async () => (await database.query('select * from calls'))[0];
const recordings = () => database.query('select * from call_recordings order by recording_id');
const fail = (status: number, errorCode?: string, times = 1) =>
  world.simulator.faults.add({
    surface: 'recording_content',
    fault: { kind: 'status', status, ...(errorCode === undefined ? {} : { errorCode }) },
    times,
  });

describe('content that is not there', () => {
  it('stays pending until call end + duration + 15 minutes, and is deleted then', async () => {
    const call = aCall();
    for (const recording of call.recordings) recording.deleted = true;
    // The call took 68 s.
    const stored = await afterCallLog(world, call, 16);
    expect(await run(stored)).toEqual({ kind: 'done' });
    expect(await callRow()).toMatchObject({
      recording_status: 'pending',
      recording_reason: 'content_not_found',
    });
    expect(await recordings()).toMatchObject([{ unavailable_reason: null, stored_at: null }]);
    expect(world.lines('call.without_recording')).toEqual([]);

    world.simulator.clock.advance(8_001);
    const later = await reload(world, stored.session);
    expect(await run(later)).toEqual({ kind: 'done' });
    expect(await callRow()).toMatchObject({
      recording_status: 'deleted',
      recording_reason: 'content_deleted',
    });
    expect(await recordings()).toMatchObject([{ unavailable_reason: 'deleted' }]);
    expect(world.lines('call.without_recording')).toEqual([
      {
        account_id: accountId,
        telephony_session_id: call.telephonySessionId,
        recording_status: 'deleted',
        reason: 'content_deleted',
      },
    ]);
    expect(world.container.meter.totals.CallsWithoutRecording).toBe(1);

    const requests = world.surfaces().length;
    await run(await reload(world, stored.session));
    expect(world.surfaces()).toHaveLength(requests);
    expect(world.container.meter.totals.CallsWithoutRecording).toBe(1);
  });
});

describe('a download that fails', () => {
  it.each([
    [403, undefined, { kind: 'failed', reason: 'recording_forbidden' }],
    [403, 'CMN-401', { kind: 'failed', reason: 'app_permission' }],
    [503, undefined, { kind: 'retry', reason: 'server_error' }],
  ])('with %i %s changes nothing', async (status, code, result) => {
    const stored = await afterCallLog(world, aCall());
    fail(status, code);
    expect(await run(stored)).toEqual(result);
    expect(world.surfaces()).toEqual(['recording_content']);
    expect(await recordings()).toMatchObject([{ stored_at: null, unavailable_reason: null, s3_key: null }]);
    expect(await callRow()).toMatchObject({ recording_status: 'available' });
    expect(world.lines('recording.not_stored')).toMatchObject([
      { reason: result.reason === 'recording_forbidden' ? 'forbidden' : result.reason },
    ]);
  });

  it('half-way leaves nothing in the bucket', async () => {
    const stored = await afterCallLog(world, aCall({ talkSeconds: 600 }), 20);
    world.simulator.faults.add({ surface: 'recording_content', fault: { kind: 'truncate' } });
    expect(await run(stored)).toEqual({ kind: 'retry', reason: 'incomplete_content' });
    expect(world.objects.objects.size).toBe(0);
    expect(await recordings()).toMatchObject([{ stored_at: null }]);
    expect(await run(stored)).toEqual({ kind: 'done' });
  });

  it.each([
    ['JSON', '{"errorCode":"CMN-101"}', 'application/json'],
    ['HTML', '<html>please log in</html>', 'text/html'],
  ])('as %s is no sound', async (_, body, contentType) => {
    const stored = await afterCallLog(world, aCall());
    world.simulator.faults.add({
      surface: 'recording_content',
      fault: { kind: 'status', status: 200, body, contentType },
    });
    expect(await run(stored)).toEqual({ kind: 'retry', reason: 'not_audio' });
    expect(world.objects.objects.size).toBe(0);
  });

  it('at its deadline is an unfinished step', async () => {
    const { session } = await afterCallLog(world, aCall());
    world.simulator.faults.add({ surface: 'recording_content', fault: { kind: 'hang' } });
    const uri = session.recordings[0]?.contentUri ?? '';
    const outcome = await storeAudio(world.deps, {
      key: 'recordings/late',
      surface: 'recording_content',
      // All but 100 ms are kept back for what follows.
      deadline: new Date(world.simulator.clock.now().getTime() + 8_100),
      open: (options) => world.deps.media.openRecording(uri, { accountId }, options),
    });
    expect(outcome).toMatchObject({ kind: 'retry', reason: 'timeout' });
  });

  it('for want of a slot is parked', async () => {
    const stored = await afterCallLog(world, aCall());
    await world.container.gate.close({ owner: accountId, group: 'heavy' }, 60);
    const result = await run(stored);
    expect(result).toMatchObject({ kind: 'park', step: 'recording', group: 'heavy' });
    expect(world.surfaces()).toEqual([]);
    expect(world.lines('ringcentral.recording_processing_started')).toEqual([]);
    expect(world.lines('recording.not_stored')).toEqual([]);
  });

  it('keeps the message when the bucket is down', async () => {
    const stored = await afterCallLog(world, aCall());
    const objects = { ...world.objects, upload: () => Promise.reject(new Error('S3 is down')) };
    await expect(run(stored, { ...world.deps, objects })).rejects.toThrow('S3 is down');
    expect(await recordings()).toMatchObject([{ stored_at: null }]);
  });
});
