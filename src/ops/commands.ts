import { callRefetch } from './call-refetch.ts';
import { callShow } from './call-show.ts';
import { dlqReplay } from './dlq-replay.ts';
import { gateStatus } from './gate-status.ts';
import { leadsReplay } from './leads-replay.ts';
import { leadsShow } from './leads-show.ts';
import { mailTest } from './mail-test.ts';
import type { Script } from './run.ts';
import { subscriptionCheck } from './subscription-check.ts';

/** `npm run ops`: what an operator does by hand. */
export const ops: Script = {
  call: 'npm run ops --',
  about: `Operator's commands. What changes something is a dry run until --yes is given.`,
  commands: [
    leadsShow,
    leadsReplay,
    callShow,
    callRefetch,
    dlqReplay,
    gateStatus,
    subscriptionCheck,
    mailTest,
  ],
};
