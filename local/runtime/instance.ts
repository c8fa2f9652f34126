import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { FunctionPlan } from '../assembly/functions.ts';
import { type InvocationResult, startRuntimeApi } from './runtime-api.ts';

/** One running process of a function: it takes one invocation at a time. */
export interface Instance {
  /** Whether it can take another invocation. */
  readonly alive: boolean;
  invoke(event: string): Promise<InvocationResult>;
  /** Kills the process and waits for its end. */
  stop(): Promise<void>;
}

const bootstrap = fileURLToPath(new URL('bootstrap.mjs', import.meta.url));

/**
 * Starts a process of the function with its environment and nothing of ours. A process that outlives its
 * time-out is killed, as Lambda does.
 *
 * @param environment the template's variables, and what Lambda adds
 */
export async function startInstance(
  plan: FunctionPlan,
  environment: Record<string, string>,
  log: (line: string) => void,
): Promise<Instance> {
  let alive = true;
  const api = await startRuntimeApi(plan.arn, {
    timeoutMs: plan.timeoutSeconds * 1000,
    onTimeout() {
      alive = false;
      child.kill('SIGKILL');
    },
  });
  const child = spawn(process.execPath, [`--max-old-space-size=${plan.memoryMegabytes}`, bootstrap], {
    cwd: plan.directory,
    env: { ...environment, AWS_LAMBDA_RUNTIME_API: api.address },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = new Promise<void>((resolve) => {
    const end = (reason: string) => {
      alive = false;
      api.fail('Runtime.ExitError', `Runtime exited with error: ${reason}`);
      api.close();
      resolve();
    };
    child.once('error', (error) => end(error.message));
    child.once('close', (code, signal) => end(signal ? `signal: ${signal}` : `exit status ${code}`));
  });
  for (const stream of [child.stdout, child.stderr]) logLines(stream, log);

  return {
    get alive() {
      return alive && !api.broken;
    },
    invoke: api.invoke,
    stop() {
      child.kill('SIGKILL');
      return closed;
    },
  };
}

function logLines(stream: Readable, log: (line: string) => void): void {
  createInterface({ input: stream }).on('line', (line) => {
    if (line.trim() !== '') log(line);
  });
}
