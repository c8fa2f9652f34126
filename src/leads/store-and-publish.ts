import type { DatabaseState } from '../db/errors.ts';
import { errorCode } from '../platform/errors.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Log } from '../platform/logger.ts';
import type { Meter } from '../platform/metrics.ts';
import type { Breaker } from './breaker.ts';
import type { MailRecord, PersistedMail } from './persist.ts';
import type { PublishOutcome } from './publish.ts';
import type { RetryStage } from './retry-message.ts';

/** What storing and publishing needs from the outside. All of it may be repeated for the same mail. */
export interface StoreAndPublishDependencies {
  breaker: Breaker;
  persist(record: MailRecord): Promise<PersistedMail>;
  publish(persisted: PersistedMail): Promise<PublishOutcome>;
  markPublished(mailKey: string): Promise<void>;
  /** What a failed write tells of the database: it is down, or up and this one write is wrong, or neither. */
  databaseState(error: unknown): DatabaseState;
  log: Log;
  meter: Meter;
}

/** A mail's way broke off: whoever holds the mail keeps it. `code` is the failure's own, or `breaker_open`. */
export class RetryStageError extends Error {
  override name = 'RetryStageError';
  readonly stage: RetryStage;
  readonly code: string;
  /** The rest of the breaker's pause: before that a retry is in vain. */
  readonly retryAfterSeconds: number | undefined;
  constructor(stage: RetryStage, code: string, options: ErrorOptions & { retryAfterSeconds?: number } = {}) {
    super(`stage ${stage} failed: ${code}`, options);
    this.stage = stage;
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/**
 * Steps 1 and 2 of a mail's way, in the order that loses nothing: commit to Neon -> publish -> published_at.
 *
 * @throws RetryStageError, and nothing else
 */
export async function storeAndPublish(
  deps: StoreAndPublishDependencies,
  record: MailRecord,
): Promise<PublishOutcome> {
  const persisted = await store(deps, record);
  const outcome = await deps.publish(persisted).catch((error: unknown) => {
    throw new RetryStageError('eventbridge', errorCode(error), { cause: error });
  });
  if (outcome === 'published') await noteAsPublished(deps, persisted.mail.mailKey);
  return outcome;
}

async function store(
  { breaker, persist, databaseState, log, meter }: StoreAndPublishDependencies,
  record: MailRecord,
): Promise<PersistedMail> {
  const decision = await breaker.check();
  if (!decision.allowed) {
    meter.count('BreakerOpen');
    throw new RetryStageError('neon', 'breaker_open', { retryAfterSeconds: decision.remainingSeconds });
  }
  const persisted = await persist(record).catch(async (error: unknown) => {
    const state = databaseState(error);
    if (state === 'up') await breaker.succeeded();
    if (state === 'down' && (await breaker.failed())) meter.count('BreakerOpen');
    throw new RetryStageError('neon', errorCode(error), { cause: error });
  });
  await breaker.succeeded();
  const { mail, lead } = persisted;
  log.info(logEvents.leadStored, {
    mail_key: mail.mailKey,
    outcome: mail.outcome,
    store_id: lead?.storeId,
    repeat: mail.repeat,
  });
  return persisted;
}

/** The event is out: without this mark the outbox sends it once more, which is harmless downstream. */
async function noteAsPublished({ markPublished, log }: StoreAndPublishDependencies, mailKey: string) {
  await markPublished(mailKey).catch((error: unknown) => {
    log.warn(logEvents.publishMarkFailed, { mail_key: mailKey, error_code: errorCode(error) });
  });
}
