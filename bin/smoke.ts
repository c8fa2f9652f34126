import { regions, stages } from '../lib/config.ts';
import { physicalName } from '../lib/names.ts';
import { runScript } from '../src/ops/run.ts';
import { smoke } from '../src/ops/smoke.ts';
import { processTerminal as terminal } from '../src/ops/terminal.ts';

const deployment = { stages, regions, physicalName };
process.exitCode = await runScript(smoke, process.argv.slice(2), { deployment, terminal });
