import { regions, stages } from '../lib/config.ts';
import { physicalName } from '../lib/names.ts';
import { ops } from '../src/ops/commands.ts';
import { runScript } from '../src/ops/run.ts';
import { processTerminal as terminal } from '../src/ops/terminal.ts';

const deployment = { stages, regions, physicalName };
process.exitCode = await runScript(ops, process.argv.slice(2), { deployment, terminal });
