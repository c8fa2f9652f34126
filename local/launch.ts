import { fork } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StackTemplate } from './assembly/template.ts';
import { type PostgresServer, startPostgres } from './postgres.ts';

/** What takes longest, each in processes of its own, while this one loads the stand-ins. */
export interface Launch {
  /** A folder of this run, removed at its end. */
  directory: string;
  postgres: Promise<PostgresServer>;
  /** The stage, synthesized as for a deployment. */
  stacks: Promise<StackTemplate[]>;
  /** Waits for both, and leaves nothing of them. */
  undo(): Promise<void>;
}

export function launch(stageName: string): Launch {
  const directory = mkdtempSync(join(tmpdir(), 'callytics-run-'));
  const postgres = startPostgres();
  const stacks = synthesize(stageName, directory);
  // Whoever awaits them later learns of a failure; until then it is not an unhandled one.
  const settled = Promise.allSettled([postgres, stacks]);
  return {
    directory,
    postgres,
    stacks,
    async undo() {
      const [server] = await settled;
      if (server.status === 'fulfilled') await server.value.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function synthesize(stageName: string, directory: string): Promise<StackTemplate[]> {
  const script = fileURLToPath(new URL('synthesis.ts', import.meta.url));
  const child = fork(script, [stageName, directory], {
    // Also where this process reads TypeScript by other means, as under test.
    execArgv: ['--import', 'tsx'],
    // Standard output belongs to the run's own result.
    stdio: ['ignore', process.stderr, process.stderr, 'ipc'],
    // Brings Maps over.
    serialization: 'advanced',
  });
  return new Promise((resolve, reject) => {
    child.once('message', (stacks) => resolve(stacks as unknown as StackTemplate[]));
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`stage ${stageName} could not be synthesized`)));
  });
}
