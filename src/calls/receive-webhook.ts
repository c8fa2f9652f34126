import { setTimeout as wait } from 'node:timers/promises';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import * as z from 'zod';
import type { Clock } from '../platform/clock.ts';
import { errorCode } from '../platform/errors.ts';
import { logEvents } from '../platform/log-events.ts';
import type { Log } from '../platform/logger.ts';
import { InvalidMessageError, parseMessage } from '../platform/message.ts';
import type { Meter } from '../platform/metrics.ts';
import type { Queue } from '../platform/queue.ts';
import type { Accounts, RingCentralAccount } from '../ringcentral/account.ts';
import { type TelephonyEvent, telephonyEventSchema } from '../ringcentral/telephony-event.ts';
import { sendCallWork } from './message.ts';
import { hasDisconnected } from './party-status.ts';
import { isAccepted, readWebhookRequest, type WebhookRequest } from './webhook-request.ts';

export interface WebhookReceiver {
  accounts: Accounts;
  /** transcribe-queue. */
  queue: Pick<Queue, 'send'>;
  clock: Clock;
  log: Log;
  meter: Meter;
  /** RingCentral waits 3 s, and gives up an address that is often late. Default 2 s. */
  limitMs?: number;
}

/** What becomes of a request. */
type Outcome =
  | { kind: 'handshake'; token: string }
  | { kind: 'accepted'; event: TelephonyEvent; delaySeconds: number }
  /** Not about a telephony session: a reminder, or an event that nobody here reads. */
  | { kind: 'ignored' }
  | { kind: 'refused'; status: 400 | 401 | 404 | 413; reason: string; fields?: string[] }
  /** Our fault: RingCentral may send it again. */
  | { kind: 'unavailable'; reason: string; error?: unknown };

/** The call log lags 15-30 s behind the call, and recordings come later still. */
const disconnectedDelaySeconds = 90;
const defaultLimitMs = 2_000;
/** Clocks differ by seconds; a call of the day after tomorrow is none. */
const longestAheadMs = 24 * 60 * 60_000;
/** A UUID in practice; the answer with it has to stay under 1,024 bytes. */
const echoable = /^[\x21-\x7e]{1,256}$/;
const accountIdPattern = /^\d{1,20}$/;
const notificationSchema = z.object({ event: z.string() });

/** Answers one request of `POST /ringcentral/{accountId}`. At most one message is sent, and none without the secret. */
export async function receiveWebhook(
  receiver: WebhookReceiver,
  event: APIGatewayProxyEventV2,
): Promise<APIGatewayProxyStructuredResultV2> {
  const request = readWebhookRequest(event);
  try {
    const outcome = await withinLimit(receiver, decide(receiver, request));
    report(receiver, request, outcome);
    return answer(outcome);
  } finally {
    receiver.meter.flush();
  }
}

async function withinLimit(
  { limitMs = defaultLimitMs }: WebhookReceiver,
  decision: Promise<Outcome>,
): Promise<Outcome> {
  const timer = new AbortController();
  const late = wait(limitMs, { kind: 'unavailable', reason: 'timeout' } as const, { signal: timer.signal });
  try {
    return await Promise.race([decision, late]);
  } finally {
    late.catch(() => {});
    timer.abort();
  }
}

async function decide(receiver: WebhookReceiver, request: WebhookRequest): Promise<Outcome> {
  const { accountId, validationToken, body } = request;
  if (!accountIdPattern.test(accountId)) return refuse(404, 'unknown_account');
  if (body === undefined) return refuse(413, 'too_large');
  try {
    const account = await receiver.accounts.find(accountId);
    if (!account) return refuse(404, 'unknown_account');
    if (validationToken !== undefined && body.trim() === '') {
      return echoable.test(validationToken)
        ? { kind: 'handshake', token: validationToken }
        : refuse(400, 'unusable_validation_token');
    }
    if (!(await isAuthentic(receiver, account, request))) return refuse(401, 'wrong_secret');
  } catch (error) {
    // Not to know the secret is not to be shown a wrong one: a 401 would lose the event.
    return { kind: 'unavailable', reason: 'account_unreadable', error };
  }
  const event = readEvent(body);
  if ('kind' in event) return event;
  if (new Date(event.body.eventTime).getTime() > receiver.clock.now().getTime() + longestAheadMs) {
    return refuse(400, 'malformed', ['body.eventTime']);
  }
  if (event.body.parties.some((party) => party.accountId !== accountId)) {
    return refuse(401, 'foreign_account');
  }
  return enqueue(receiver, accountId, event);
}

/** A secret that isn't known may have been added within the five minutes that a parameter is cached. */
async function isAuthentic(
  { accounts }: WebhookReceiver,
  account: RingCentralAccount,
  { presentedTokens }: WebhookRequest,
): Promise<boolean> {
  if (presentedTokens.length === 0) return false;
  if (isAccepted(presentedTokens, account.webhookVerificationTokens)) return true;
  const fresh = await accounts.refresh(account.accountId);
  return fresh !== undefined && isAccepted(presentedTokens, fresh.webhookVerificationTokens);
}

function readEvent(body: string): TelephonyEvent | Outcome {
  // PostgreSQL's texts can't hold it, so such a message could never be worked off.
  if (/\\u0000/.test(body)) return refuse(400, 'malformed', ['body']);
  try {
    const { event } = parseMessage(notificationSchema, body);
    return event.includes('/telephony/sessions')
      ? parseMessage(telephonyEventSchema, body)
      : { kind: 'ignored' };
  } catch (error) {
    if (error instanceof InvalidMessageError) return refuse(400, 'malformed', error.fields);
    throw error;
  }
}

async function enqueue(
  { queue, clock }: WebhookReceiver,
  accountId: string,
  event: TelephonyEvent,
): Promise<Outcome> {
  const { telephonySessionId } = event.body;
  const delaySeconds = hasDisconnected(event) ? disconnectedDelaySeconds : 0;
  const work = { kind: 'telephony', accountId, telephonySessionId, event, redriveCount: 0 } as const;
  try {
    await sendCallWork(queue, work, { now: clock.now(), delaySeconds });
    return { kind: 'accepted', event, delaySeconds };
  } catch (error) {
    return { kind: 'unavailable', reason: 'queue_unavailable', error };
  }
}

const refuse = (status: 400 | 401 | 404 | 413, reason: string, fields?: string[]): Outcome => ({
  kind: 'refused',
  status,
  reason,
  ...(fields ? { fields } : {}),
});

function answer(outcome: Outcome): APIGatewayProxyStructuredResultV2 {
  const headers = { 'Content-Type': 'application/json' };
  if (outcome.kind === 'handshake') {
    return { statusCode: 200, headers: { ...headers, 'Validation-Token': outcome.token }, body: '' };
  }
  if (outcome.kind === 'refused') return { statusCode: outcome.status, headers, body: '' };
  return { statusCode: outcome.kind === 'unavailable' ? 503 : 200, headers, body: '' };
}

function report({ log, meter }: WebhookReceiver, { accountId }: WebhookRequest, outcome: Outcome): void {
  meter.count('WebhookAccepted', outcome.kind === 'accepted' ? 1 : 0);
  meter.count('WebhookUnauthorized', outcome.kind === 'refused' && outcome.status === 401 ? 1 : 0);
  meter.count('WebhookFailed', outcome.kind === 'unavailable' ? 1 : 0);
  // Anybody can put anything into the path.
  const account_id = accountIdPattern.test(accountId) ? accountId : undefined;
  switch (outcome.kind) {
    case 'accepted': {
      const { telephonySessionId, sequence, parties } = outcome.event.body;
      log.info(logEvents.webhookAccepted, {
        account_id,
        telephony_session_id: telephonySessionId,
        sequence,
        statuses: parties.map(({ status }) => status.code),
        delay_seconds: outcome.delaySeconds,
      });
      break;
    }
    case 'refused':
      log.warn(logEvents.webhookRefused, {
        account_id,
        http_status: outcome.status,
        reason: outcome.reason,
        fields: outcome.fields,
      });
      break;
    case 'unavailable':
      log.error(logEvents.webhookFailed, {
        account_id,
        reason: outcome.reason,
        error_code: outcome.error === undefined ? undefined : errorCode(outcome.error),
      });
      break;
    default:
      log.info(logEvents.webhookAcknowledged, { account_id, outcome: outcome.kind });
  }
}
