import { dlqReplay } from './dlq-replay.ts';
import { leadsReplay } from './leads-replay.ts';
import { leadsShow } from './leads-show.ts';
import { mailTest } from './mail-test.ts';
import type { Script } from './run.ts';

/** `npm run ops`: what an operator does by hand. */
export const ops: Script = {
  call: 'npm run ops --',
  about: `Operator's commands. What changes something is a dry run until --yes is given.`,
  commands: [leadsShow, leadsReplay, dlqReplay, mailTest],
};
