import type { EventBus } from '../platform/events.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Log } from '../platform/logger.ts';
import type { Meter } from '../platform/metrics.ts';
import { buildLeadCreated, leadCreatedDetailType, leadCreatedSource } from './lead-created.ts';
import type { PersistedMail } from './persist.ts';

export interface PublishDependencies {
  bus: EventBus;
  stage: string;
  log: Log;
  meter: Meter;
}

/** `not-due`: no lead, no lead outcome, or the mail's event is out already. */
export type PublishOutcome = 'published' | 'skipped' | 'not-due';

/**
 * Step 2 of a mail's way: publishes LeadCreated for a stored mail, once per mail.
 *
 * @throws whatever the bus throws, EventRefusedError for a 200 with a failed entry included: the caller keeps
 *   the mail's work.
 */
export async function publishLeadCreated(
  { bus, stage, log, meter }: PublishDependencies,
  { lead, mail }: PersistedMail,
): Promise<PublishOutcome> {
  if (!lead || mail.outcome !== 'lead' || mail.publishedAt) return 'not-due';
  const built = buildLeadCreated({ lead, mail }, stage);
  if ('missing' in built) {
    meter.count('PublishSkipped');
    log.info(logEvents.publishSkipped, { mail_key: mail.mailKey, missing_fields: built.missing });
    return 'skipped';
  }
  await bus.publish({ source: leadCreatedSource, detailType: leadCreatedDetailType, detail: built.detail });
  meter.count('LeadPublished');
  log.info(logEvents.leadPublished, { mail_key: mail.mailKey, store_id: lead.storeId, repeat: mail.repeat });
  return 'published';
}
