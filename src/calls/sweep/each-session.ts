import { errorCode } from '../../platform/errors.ts';
import { logEvents } from '../../platform/log-events.ts';
import type { CallKey } from '../call-statements.ts';
import type { SweepDependencies } from './dependencies.ts';
import { chunksOf } from './session-rows.ts';

/** So many sessions are written at once, each with a few requests. */
const atOnce = 8;
/** When so many fail, it's not the sessions. */
const maximumFailures = 10;
/** Writing stops when less is left of the invocation. */
const reserveMs = 10_000;

export interface Done {
  /** Sessions whose work failed; it is in the log. */
  failed: number;
  /** Whether time was enough for all. */
  complete: boolean;
}

/**
 * Does the work of each session, a few at a time. One session's fault doesn't stop the others.
 *
 * @throws the error of the last of too many
 */
export async function forEachSession<Session extends CallKey>(
  { clock, log }: Pick<SweepDependencies, 'clock' | 'log'>,
  sessions: readonly Session[],
  work: (session: Session) => Promise<void>,
  deadline: Date,
): Promise<Done> {
  let failed = 0;
  for (const some of chunksOf(sessions, atOnce)) {
    if (deadline.getTime() - clock.now().getTime() < reserveMs) return { failed, complete: false };
    await Promise.all(
      some.map(async (session) => {
        try {
          await work(session);
        } catch (error) {
          failed += 1;
          log.error(logEvents.sweepFailed, {
            account_id: session.accountId,
            telephony_session_id: session.telephonySessionId,
            part: 'session',
            error_code: errorCode(error),
          });
          if (failed >= maximumFailures) throw error;
        }
      }),
    );
  }
  return { failed, complete: true };
}
