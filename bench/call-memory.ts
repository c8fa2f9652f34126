import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildSync } from 'esbuild';
import { bundleOptions } from '../lib/bundle.ts';
import { type Simulator, startSimulator } from '../local/ringcentral/simulator.ts';
import { riverside } from '../test/simulation/call-accounts.ts';
import { sessionOf } from '../test/simulation/call-samples.ts';
import type { MemoryMeasurement, MemoryPlan } from './call-memory-process.ts';
import { median, type Report, ratio } from './report.ts';

const megabytes = [1, 50, 500];
const rounds = 3;
/** WAV as the simulator makes it: stereo, 8 kHz, 16 bits. */
const wavBytesPerSecond = 32_000;

/** Memory of a download at its peak, by the size of the recording; each in a process of its own. */
export async function measureCallMemory(): Promise<Report> {
  const directory = mkdtempSync(path.join(tmpdir(), 'callytics-bench-'));
  const script = path.join(directory, 'worker.mjs');
  buildSync({ ...bundleOptions, entryPoints: ['bench/call-memory-process.ts'], outfile: script });
  // Each process logs in anew.
  const simulator = await startSimulator({ accounts: [riverside], limits: { auth: { limit: 100 } } });
  const s3 = await startDiscardingS3();
  const results = new Map(megabytes.map((size) => [size, [] as MemoryMeasurement[]]));
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const size of megabytes) {
        const plan = { server: simulator.url, contentUri: addRecording(simulator, size) };
        results.get(size)?.push(await run(script, plan, s3.url));
      }
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
    s3.server.closeAllConnections();
    s3.server.close();
    await simulator.stop();
  }
  const peaks = (size: number) => (results.get(size) ?? []).map(({ peakMegabytes }) => peakMegabytes);
  return {
    title: 'Memory of a recording',
    notes: [
      `From the simulated RingCentral through the client and the bucket's adapter to an S3 that throws everything away; medians of ${rounds} rounds, each in a process of its own.`,
    ],
    columns: ['MB', 'parts of 8 MB', 'memory at its peak, MB', 'memory', 'MB/s'],
    rows: megabytes.map((size) => [
      String(size),
      String(Math.ceil(size / 8)),
      median(peaks(size)).toFixed(0),
      ratio(peaks(size), peaks(1)),
      median((results.get(size) ?? []).map(({ bytes, seconds }) => bytes / 1e6 / seconds)).toFixed(0),
    ]),
  };
}

/** A recording of so many megabytes; the address of its content. */
function addRecording(simulator: Simulator, size: number): string {
  const { accountId } = riverside;
  const startedAt = new Date(Date.now() - 3600_000);
  const number = simulator.calls.length + 1;
  const call = sessionOf({ accountId, startedAt, number, disconnects: [60], readyAfter: 60 });
  const audio = { format: 'wav', seconds: (size * 1e6) / wavBytesPerSecond } as const;
  simulator.calls.push({ ...call, recordings: call.recordings.map((one) => ({ ...one, audio })) });
  return `${simulator.url}/media/restapi/v1.0/account/${accountId}/recording/${call.recordings[0]?.id}/content`;
}

async function run(script: string, plan: MemoryPlan, s3Url: string): Promise<MemoryMeasurement> {
  const env = {
    ...process.env,
    AWS_ENDPOINT_URL_S3: s3Url,
    AWS_REGION: 'us-west-2',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    // The SDK's notice about Node 20; Lambda runs Node 24.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  };
  const child = fork(script, [JSON.stringify(plan)], {
    execArgv: [],
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]) => code);
  const answer = await Promise.race([once(child, 'message'), ended]);
  if (!Array.isArray(answer)) throw new Error(`The process ended with exit code ${answer}`);
  await ended;
  const [measurement]: MemoryMeasurement[] = answer;
  if (!measurement) throw new Error('The process measured nothing');
  return measurement;
}

/** As much of S3 as an upload needs, in one piece or in parts. Nothing is kept. */
async function startDiscardingS3(): Promise<{ url: string; server: Server }> {
  const xml = (name: string, fields: string) => `<?xml version="1.0"?><${name}>${fields}</${name}>`;
  const target = '<Bucket>recordings</Bucket><Key>recording</Key>';
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
      if (request.method === 'HEAD') response.writeHead(404).end();
      else if (request.method === 'PUT') response.writeHead(200, { etag: '"part"' }).end();
      else if (searchParams.has('uploads')) {
        response.end(xml('InitiateMultipartUploadResult', `${target}<UploadId>upload</UploadId>`));
      } else response.end(xml('CompleteMultipartUploadResult', `${target}<ETag>"whole"</ETag>`));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}
