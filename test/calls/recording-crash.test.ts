import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answeredCall } from '../../local/ringcentral/sample-calls.ts';
import { type MediaDependencies, processRecording } from '../../src/calls/recording.ts';
import type { StoredSession } from '../../src/calls/step.ts';
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
const key = 'recordings/900100/2026/03/55000010.mp3';

describe('a process that dies', () => {
  /** The dependencies of an invocation that dies before or after its n-th access to the outside. */
  function mortal(accesses: number, when: 'before' | 'after'): MediaDependencies {
    let left = accesses;
    const dying =
      <A extends unknown[], T>(access: (...args: A) => Promise<T>) =>
      async (...args: A): Promise<T> => {
        left -= 1;
        const dies = left === 0;
        if (dies && when === 'before') throw new Error('died');
        const answer = await access(...args);
        if (dies) throw new Error('died');
        return answer;
      };
    const { deps } = world;
    return {
      ...deps,
      neon: { run: (work, deadline) => dying(() => deps.neon.run(work, deadline))() },
      media: { ...deps.media, openRecording: dying(deps.media.openRecording) },
      objects: {
        head: dying(deps.objects.head),
        upload: dying(deps.objects.upload),
        getText: dying(deps.objects.getText),
      },
      transcriber: {
        start: dying(deps.transcriber.start),
        describe: dying(deps.transcriber.describe),
      },
    };
  }

  it.each(['before', 'after'] as const)(
    '%s any of its steps loses and doubles nothing',
    async (when) => {
      let deaths = 0;
      for (let accesses = 1; ; accesses += 1) {
        await world.stop();
        world = await startMediaWorld(database);
        const stored = await afterCallLog(world, aCall());
        const first = await run(stored, mortal(accesses, when)).catch((error: Error) => error.message);
        if (first !== 'died') break;
        deaths += 1;
        expect(await run(await reload(world, stored.session))).toEqual({ kind: 'done' });
        expect(await callRow()).toMatchObject({ recording_status: 'stored' });
        expect(await recordings()).toMatchObject([{ transcription_status: 'started', s3_key: key }]);
        expect([...world.transcriber.jobs.keys()]).toEqual(['test-rec-55000010']);
        expect(world.container.meter.totals.RecordingStored ?? 0).toBeLessThanOrEqual(1);
        // Once it is in the bucket whole, it isn't fetched again.
        const downloads = world.objects.uploads.length;
        expect(world.surfaces().length).toBeLessThanOrEqual(downloads + 1);
        expect(downloads).toBe(1);
      }
      // Two looks into the bucket, the download, the upload, the row, the look before the job, the job, the row.
      expect(deaths).toBe(8);
    },
    60_000,
  );
});
