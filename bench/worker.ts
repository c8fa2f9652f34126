import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildSync } from 'esbuild';
import { bundleOptions } from '../lib/bundle.ts';
import type { Answer, Job, Measurement, WorkerPlan } from './worker-process.ts';

/** A process of its own, so that the servers and the measured code share neither event loop nor memory. */
export interface Worker {
  run(job: Job): Promise<Measurement>;
  stop(): Promise<void>;
}

/** Starts workers from a bundle made as those of the Lambda functions are; `dispose` removes it. */
export function buildWorker(): { start(plan: WorkerPlan): Worker; dispose(): void } {
  const directory = mkdtempSync(path.join(tmpdir(), 'callytics-bench-'));
  const outfile = path.join(directory, 'worker.mjs');
  buildSync({ ...bundleOptions, entryPoints: ['bench/worker-process.ts'], outfile });
  return {
    start: (plan) => start(outfile, plan),
    dispose: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function start(script: string, plan: WorkerPlan): Worker {
  const child = fork(script, [JSON.stringify(plan)], {
    execArgv: [],
    // Its log lines are written, as in Lambda, and read by nobody.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]) => code);
  return {
    async run(job) {
      child.send(job);
      const answer = await Promise.race([once(child, 'message'), ended]);
      if (!Array.isArray(answer)) throw new Error(`The worker ended with exit code ${answer}`);
      const [first]: Answer[] = answer;
      if (first && 'done' in first) return first.done;
      throw new Error(`In the worker: ${first?.failed}`);
    },
    async stop() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
