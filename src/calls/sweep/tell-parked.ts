import { logEvents } from '../../platform/log-events.ts';
import type { CallKey } from '../call-statements.ts';
import type { NextStep } from '../step.ts';
import type { SweepDependencies } from './dependencies.ts';

/** The line that parking by a message writes as well, so that a session's steps can be followed. */
export function tellParked(
  { log, clock }: Pick<SweepDependencies, 'log' | 'clock'>,
  { accountId, telephonySessionId }: CallKey,
  { step, at }: { step: NextStep; at: Date },
  group?: 'heavy' | 'light',
): void {
  log.info(logEvents.ringcentralParked, {
    account_id: accountId,
    telephony_session_id: telephonySessionId,
    next_step: step,
    wait_seconds: Math.max(0, Math.ceil((at.getTime() - clock.now().getTime()) / 1000)),
    rate_limit_group: group,
  });
}

/** The group whose slot a step waits for. */
export const groupOf = (step: NextStep) => (step === 'voicemail' ? 'light' : 'heavy');
