import { errorCode } from '../platform/errors.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Log } from '../platform/logger.ts';
import type { Meter } from '../platform/metrics.ts';
import type { PersistedMail } from './persist.ts';
import type { PublishOutcome } from './publish.ts';

/** A stored lead is given this long to be published by the poller or the retry processor. */
export const outboxAgeMs = 15 * 60_000;
const outboxLimit = 100;

export interface OutboxDependencies {
  /** Complete leads whose mail has no published_at and was recorded before `before`, oldest first. */
  findUnpublished(query: { before: Date; limit: number }): Promise<PersistedMail[]>;
  publish(persisted: PersistedMail): Promise<PublishOutcome>;
  markPublished(mailKey: string): Promise<void>;
  remainingMs(): number;
  log: Log;
  meter: Meter;
}

/**
 * Publishes what was stored and never went out: the Lambda died between commit and publish, or a retry message
 * was lost. An event that goes out twice is harmless. Stops at the first failure: the next tick goes on.
 *
 * @returns how many went out
 */
export async function republishOutbox(deps: OutboxDependencies, now: Date): Promise<number> {
  const before = new Date(now.getTime() - outboxAgeMs);
  let republished = 0;
  for (const persisted of await deps.findUnpublished({ before, limit: outboxLimit })) {
    if (deps.remainingMs() < 10_000) break;
    const { mailKey } = persisted.mail;
    try {
      if ((await deps.publish(persisted)) !== 'published') continue;
      await deps.markPublished(mailKey);
    } catch (error) {
      deps.log.error(logEvents.outboxFailed, { mail_key: mailKey, error_code: errorCode(error) });
      break;
    }
    republished += 1;
    deps.meter.count('OutboxRepublished');
    deps.log.warn(logEvents.outboxRepublished, { mail_key: mailKey });
  }
  return republished;
}
