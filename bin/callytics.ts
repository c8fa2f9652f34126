import { bundleHandlers } from '../lib/bundle.ts';
import { stages } from '../lib/config.ts';
import { createApp } from '../lib/stages.ts';

createApp(stages, bundleHandlers().directories).synth();
