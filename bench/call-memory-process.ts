import { storeAudio } from '../src/calls/store-audio.ts';
import { systemClock } from '../src/platform/clock.ts';
import { createObjectStore } from '../src/platform/object-store.ts';
import { createRingCentral } from '../src/ringcentral/ringcentral.ts';
import { riverside, simulatedAccounts } from '../test/simulation/call-accounts.ts';
import { callStateTable } from '../test/simulation/call-state-table.ts';

export interface MemoryPlan {
  server: string;
  contentUri: string;
}

export interface MemoryMeasurement {
  bytes: number;
  seconds: number;
  /** The most that the process ever held in memory. */
  peakMegabytes: number;
}

const silent = () => {};

/** Brings one recording from the simulated RingCentral into the bucket, as the processor does. */
async function measure({ server, contentUri }: MemoryPlan): Promise<MemoryMeasurement> {
  const { media } = createRingCentral({
    accounts: simulatedAccounts(server),
    state: callStateTable(),
    clock: systemClock,
    log: { debug: silent, info: silent, warn: silent, error: silent },
    meter: { count: silent, flush: silent },
    reportCapacity: silent,
  });
  const started = performance.now();
  const outcome = await storeAudio(
    { objects: createObjectStore('recordings'), clock: systemClock },
    {
      key: 'recordings/900412/2026/03/5512',
      surface: 'recording_content',
      deadline: new Date(Date.now() + 115_000),
      open: (options) => media.openRecording(contentUri, { accountId: riverside.accountId }, options),
    },
  );
  if (outcome.kind !== 'stored') throw new Error(`The recording was not stored: ${outcome.kind}`);
  return {
    bytes: outcome.audio.bytes,
    seconds: (performance.now() - started) / 1000,
    peakMegabytes: process.resourceUsage().maxRSS / 1024,
  };
}

process.send?.(await measure(JSON.parse(process.argv[2] ?? '{}')));
process.disconnect?.();
