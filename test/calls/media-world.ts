import type { Readable } from 'node:stream';
import type { SimulatedCall } from '../../local/ringcentral/world.ts';
import { loadSession, recordCallEvent } from '../../src/calls/call-store.ts';
import { readParties } from '../../src/calls/lifecycle.ts';
import { readSnapshot } from '../../src/calls/read-snapshot.ts';
import type { MediaDependencies } from '../../src/calls/recording.ts';
import { saveSnapshot } from '../../src/calls/snapshot-store.ts';
import type { StoredSession } from '../../src/calls/step.ts';
import type { ObjectHead, ObjectStore } from '../../src/platform/object-store.ts';
import type {
  StartOutcome,
  Transcriber,
  TranscriptionJob,
  TranscriptionRequest,
} from '../../src/platform/transcriber.ts';
import { type CallLogSnapshot, snapshotSchema } from '../../src/ringcentral/schemas.ts';
import { telephonyEventSchema } from '../../src/ringcentral/telephony-event.ts';
import { type Container, createWorld } from '../ringcentral/client-under-test.ts';
import { account, startTestSimulator, type TestSimulator } from '../ringcentral/simulated-account.ts';
import type { TestDatabase } from '../support/database.ts';

export const { accountId } = account;
export const riverside = { storeId: '6f1c2a9e-2a55-4b1e-9a53-0d7f3f0b0412', franchiseId: 'orangeTheory' };

interface TestObjects extends ObjectStore {
  objects: Map<string, ObjectHead & { text?: string }>;
  uploads: string[];
}

/** A bucket by what it promises: an upload is whole, or nothing. */
function memoryObjects(): TestObjects {
  const objects: TestObjects['objects'] = new Map();
  const uploads: string[] = [];
  return {
    objects,
    uploads,
    head: async (key) => objects.get(key),
    upload: async (key, stream: Readable, options) => {
      uploads.push(key);
      let bytes = 0;
      for await (const chunk of stream) bytes += chunk.length;
      objects.set(key, { bytes, ...options });
      return bytes;
    },
    getText: async (key) => objects.get(key)?.text,
  };
}

interface TestTranscriber extends Transcriber {
  jobs: Map<string, TranscriptionJob>;
  requests: TranscriptionRequest[];
  /** Answered instead of `started`. */
  answer: StartOutcome;
}

function memoryTranscriber(): TestTranscriber {
  const jobs: TestTranscriber['jobs'] = new Map();
  const requests: TranscriptionRequest[] = [];
  const transcriber: TestTranscriber = {
    jobs,
    requests,
    answer: 'started',
    start: async (request) => {
      requests.push(request);
      if (transcriber.answer === 'started' && !jobs.has(request.jobName)) {
        jobs.set(request.jobName, { status: 'in_progress' });
      }
      return transcriber.answer;
    },
    describe: async (jobName) => jobs.get(jobName),
  };
  return transcriber;
}

export interface MediaWorld {
  database: TestDatabase;
  simulator: TestSimulator;
  container: Container;
  objects: TestObjects;
  transcriber: TestTranscriber;
  deps: MediaDependencies;
  /** What RingCentral was asked since the call log. */
  surfaces(): string[];
  lines(event: string): Record<string, unknown>[];
  deadline(): Date;
  stop(): Promise<void>;
}

/** Real database and simulated RingCentral; bucket and Transcribe in memory. Empties the database. */
export async function startMediaWorld(database: TestDatabase): Promise<MediaWorld> {
  await database.query(
    'truncate calls, call_recordings, voicemails, transcripts, contact_timeline, contacts',
  );
  const simulator = await startTestSimulator({ tokenSeconds: 86_400 });
  const container = createWorld(simulator).container();
  const { log, meter, media } = container;
  const { clock } = simulator;
  const objects = memoryObjects();
  const transcriber = memoryTranscriber();
  return {
    database,
    simulator,
    container,
    objects,
    transcriber,
    deps: {
      neon: { run: (work) => work(database.db) },
      media,
      objects,
      transcriber,
      stage: 'test',
      clock,
      log,
      meter,
    },
    surfaces: () => {
      const surfaces = simulator.journal.map(({ surface }) => surface);
      return surfaces.slice(surfaces.lastIndexOf('account_call_log') + 1);
    },
    lines: (event) => log.lines.filter((line) => line.event === event).map(({ fields }) => fields),
    deadline: () => new Date(clock.now().getTime() + 115_000),
    stop: () => simulator.stop(),
  };
}

/** The session as the call-log step leaves it, asked `minutes` after the call's end. */
export async function afterCallLog(
  { database, simulator, container }: MediaWorld,
  call: SimulatedCall,
  minutes = 5,
  store: typeof riverside | undefined = riverside,
): Promise<{ snapshot: CallLogSnapshot; session: StoredSession }> {
  const { telephonySessionId } = call;
  simulator.calls.push(call);
  for (const json of call.events) {
    const event = telephonyEventSchema.parse(json);
    const parties = readParties(event).map((party) => ({ ...party, store }));
    await recordCallEvent(database.db, { accountId, event, parties }, new Date(event.body.eventTime));
  }
  // Its slot is free again by the time that the content is asked for.
  const askedAt = call.endedAt + (minutes - 1) * 60_000;
  simulator.clock.advance(Math.max(0, askedAt - simulator.clock.now().getTime()));
  const outcome = await container.callLog.fetchCallLog(telephonySessionId, accountId, {
    firstEventAt: new Date(call.endedAt),
  });
  if (outcome.kind !== 'ok') throw new Error(outcome.kind);
  simulator.clock.advance(60_000);
  const snapshot = outcome.value;
  const key = { accountId, telephonySessionId };
  const session = await saveSnapshot(database.db, key, snapshot, readSnapshot(snapshot, true));
  return { snapshot, session };
}

/** What another invocation would find. */
export async function reload({ database }: MediaWorld, { call }: StoredSession) {
  const session = await loadSession(database.db, call);
  if (!session) throw new Error('no such session');
  return { session, snapshot: snapshotSchema.parse(session.call.snapshot) };
}
