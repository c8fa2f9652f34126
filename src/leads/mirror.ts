import { errorCode } from '../platform/errors.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Log } from '../platform/logger.ts';
import type { Meter } from '../platform/metrics.ts';
import type { MailRecord } from './persist.ts';

const failuresPerTick = 3;

/**
 * The test mirror of one tick: writes each record to the test stage's Neon, publishes nothing and never
 * rejects. After three failures the rest of the tick goes without.
 *
 * @param persist persistLeadPipeline bound to the mirror's database, which gives up after 3 seconds
 */
export function createMirror(
  persist: (record: MailRecord) => Promise<unknown>,
  log: Log,
  meter: Meter,
): (record: MailRecord) => Promise<void> {
  let failures = 0;
  return async (record) => {
    if (failures >= failuresPerTick) return;
    try {
      await persist(record);
    } catch (error) {
      failures += 1;
      meter.count('MirrorFailed');
      log.warn(logEvents.mirrorFailed, { mail_key: record.mail.mailKey, error_code: errorCode(error) });
    }
  };
}
