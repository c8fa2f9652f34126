// A process of its own (see launch.ts): synthesizes one stage and hands its stacks to the parent.
import { join } from 'node:path';
import { bundleHandlers } from '../lib/bundle.ts';
import { synthesizeStage } from '../lib/synthesize.ts';
import { readStacks } from './assembly/read-stacks.ts';

const [stageName = '', directory = ''] = process.argv.slice(2);
const { directories } = bundleHandlers(join(directory, 'dist'));
process.send?.(readStacks(synthesizeStage(stageName, join(directory, 'cdk.out'), directories)));
