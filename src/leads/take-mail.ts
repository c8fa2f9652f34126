import type { ParsedMail } from '../mail/parsed-mail.ts';
import type { Clock } from '../platform/clock.ts';
import { errorCode } from '../platform/errors.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Queue } from '../platform/queue.ts';
import { buildLead } from './build-lead.ts';
import type { LeadInput } from './lead.ts';
import type { PutLegacyLead } from './legacy-table.ts';
import type { MailRecord } from './persist.ts';
import { buildRetryMessage } from './retry-message.ts';
import {
  type RetryStageError,
  type StoreAndPublishDependencies,
  storeAndPublish,
} from './store-and-publish.ts';
import type { StoreDirectory, StoreMatch } from './store-directory.ts';

/** What a mail's way needs from the outside. */
export interface TakeMailDependencies extends StoreAndPublishDependencies {
  directory: StoreDirectory;
  /** Absent where the transitional table is switched off. */
  putLegacyLead?: PutLegacyLead;
  /** Writes the test mirror; never rejects. Absent where no mirror is configured. */
  mirror?(record: MailRecord): Promise<void>;
  retryQueue: Queue;
  clock: Clock;
}

/** A mail in the box: where it lies and when it came. */
export interface MailPosition {
  mailbox: string;
  uidValidity: number;
  uid: number;
  /** INTERNALDATE. */
  receivedAt: Date;
}

/**
 * `settled` — stored or queued: the mail may be marked SEEN.
 * `kept` — nothing durable holds it yet: it stays UNSEEN and pending, and the next tick takes it again.
 */
export type TakeMailResult =
  | { kind: 'settled' }
  | { kind: 'kept'; reason: 'stores_unavailable' | 'legacy_put_failed' | 'retry_queue_unavailable' };

/**
 * One mail's way, in the order that loses nothing: commit to Neon (or queue) -> publish (or queue) ->
 * published_at. Marking SEEN comes after, and is the caller's.
 */
export async function takeMail(
  deps: TakeMailDependencies,
  parsed: ParsedMail,
  position: MailPosition,
): Promise<TakeMailResult> {
  const { log, meter } = deps;
  const match = await findStore(deps, parsed);
  if (match === 'unavailable') return { kind: 'kept', reason: 'stores_unavailable' };

  const record = toRecord(parsed, position, match);
  if (record.lead && record.mail.outcome === 'lead' && deps.putLegacyLead) {
    try {
      const put = await deps.putLegacyLead(record.lead);
      if (put === 'refused') {
        meter.count('LegacyPutRefused');
        log.warn(logEvents.legacyPutRefused, { mail_key: parsed.mailKey });
      }
    } catch (error) {
      log.error(logEvents.mailFailed, {
        mail_key: parsed.mailKey,
        stage: 'legacy_table',
        error_code: errorCode(error),
      });
      return { kind: 'kept', reason: 'legacy_put_failed' };
    }
  }

  const [result] = await Promise.all([storeOrEnqueue(deps, record), deps.mirror?.(record)]);
  if (result.kind === 'settled') countOutcome(deps, parsed, match);
  return result;
}

async function findStore(
  { directory, log, meter }: TakeMailDependencies,
  parsed: ParsedMail,
): Promise<StoreMatch | undefined | 'unavailable'> {
  try {
    const match = await directory.findByRecipients(parsed.recipients);
    if (match?.ambiguous) {
      meter.count('MailAmbiguousStore');
      log.warn(logEvents.mailAmbiguousStore, { mail_key: parsed.mailKey, store_id: match.store.storeId });
    }
    return match;
  } catch (error) {
    log.error(logEvents.mailFailed, {
      mail_key: parsed.mailKey,
      stage: 'stores',
      error_code: errorCode(error),
    });
    return 'unavailable';
  }
}

/** The parsed mail as it is stored: its line in the ledger, and its lead where it tells of one. */
export function toRecord(
  parsed: ParsedMail,
  position: MailPosition,
  match: StoreMatch | undefined,
): MailRecord {
  const { outcome, reason, format, fields, mailKey, messageId, subject, rawDate } = parsed;
  const carriesLead = outcome === 'lead' || outcome === 'cancellation';
  const lead = carriesLead ? buildLead(parsed, position.receivedAt, match) : null;
  const person = outcome === 'cancellation' && lead ? { person: cancelledPerson(lead) } : {};
  return {
    mail: {
      ...position,
      mailKey,
      outcome,
      reason: reason ?? null,
      parsed: { format, messageId, subject, rawDate, ...fields, ...person },
    },
    lead,
  };
}

/** Who is to be found when a cancellation is stored before the lead whose booking it cancels. */
function cancelledPerson({ storeId, phone, leadEmail, emailFrom }: LeadInput) {
  // A relay's From is shared by all its visitors.
  return { storeId, phone, email: leadEmail === emailFrom ? null : leadEmail };
}

/** Steps 1 and 2. What fails goes to the retry queue, whose processor ends in the same event. */
async function storeOrEnqueue(deps: TakeMailDependencies, record: MailRecord): Promise<TakeMailResult> {
  const { retryQueue, clock, log, meter } = deps;
  const { mailKey } = record.mail;
  const failure = await storeAndPublish(deps, record).then(
    () => undefined,
    (error: RetryStageError) => error,
  );
  if (!failure) return { kind: 'settled' };

  const { stage, code, retryAfterSeconds } = failure;
  try {
    const message = buildRetryMessage({ stage, failedAt: clock.now(), error: code, ...record });
    await retryQueue.send(
      message,
      retryAfterSeconds === undefined ? {} : { delaySeconds: retryAfterSeconds },
    );
  } catch (error) {
    log.error(logEvents.mailFailed, {
      mail_key: mailKey,
      stage: 'retry_queue',
      error_code: errorCode(error),
    });
    return { kind: 'kept', reason: 'retry_queue_unavailable' };
  }
  meter.count('LeadQueued');
  log.warn(logEvents.leadQueued, { mail_key: mailKey, stage, error_code: code });
  return { kind: 'settled' };
}

/** Counted once the mail is safe, so that a mail taken twice by a crash is not counted as two. */
function countOutcome(
  { log, meter }: TakeMailDependencies,
  parsed: ParsedMail,
  match: StoreMatch | undefined,
): void {
  const { outcome, reason, mailKey, format } = parsed;
  const store = { store_id: match?.store.storeId };
  switch (outcome) {
    case 'lead':
      meter.count('MailLead');
      if (!match) {
        meter.count('MailUnmapped');
        log.error(logEvents.mailUnmapped, { mail_key: mailKey });
      }
      break;
    case 'skipped':
      meter.count('MailSkipped');
      break;
    case 'cancellation':
      meter.count('MailCancellation');
      break;
    case 'quarantined':
      meter.count('MailQuarantined');
      if (match) meter.count('MailQuarantinedKnownRecipient');
      log.warn(logEvents.mailQuarantined, {
        mail_key: mailKey,
        reason,
        known_recipient: match !== undefined,
        ...store,
      });
      break;
  }
  log.info(logEvents.mailProcessed, { mail_key: mailKey, outcome, reason, format, ...store });
}
