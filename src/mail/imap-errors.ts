import type { ImapFlowError } from 'imapflow';
import { MailboxError, type MailboxErrorCode } from './mailbox.ts';

/** What was being done when it failed. */
export type ImapStep = 'connect' | 'select' | 'search' | 'fetch' | 'store';

/** What the connection knows beside the error itself. */
export interface FailureContext {
  /** Why the connection was ended before the error: a time limit, throttling, an error event. */
  ended?: MailboxErrorCode;
  /** The server said BYE. */
  bye: boolean;
  /** Response code of the last tagged answer, such as AUTHENTICATIONFAILED (RFC 5530). */
  responseCode?: string;
}

/** RFC 5530 codes of a refusal that passes by itself: they say nothing about credentials or this mail. */
const temporaryCodes = new Set(['UNAVAILABLE', 'LIMIT', 'INUSE', 'SERVERBUG', 'OVERQUOTA']);

const timeoutCodes = new Set(['CONNECT_TIMEOUT', 'GREETING_TIMEOUT', 'UPGRADE_TIMEOUT', 'ETIMEOUT']);

const sentences: Record<MailboxErrorCode, string> = {
  connect_failed: 'The IMAP server could not be reached',
  login_refused: 'The IMAP server refused the login',
  login_unavailable: 'The IMAP server takes no logins at the moment',
  mailbox_unavailable: 'The mailbox could not be opened',
  search_refused: 'The IMAP server refused a search',
  fetch_refused: 'The IMAP server did not hand out a mail',
  throttled: 'The IMAP server throttles',
  timeout: 'The IMAP server did not answer in time',
  connection_lost: 'The IMAP connection was lost',
};

/**
 * A MailboxError of this code. The message is a sentence of ours and at most one token (an error or response
 * code): what a server or library says can hold the user name, the command, or mail content.
 */
export function mailboxError(code: MailboxErrorCode, step: ImapStep, detail?: string): MailboxError {
  const token = detail !== undefined && /^[\w-]{1,40}$/.test(detail) ? `, ${detail}` : '';
  return new MailboxError(code, `${sentences[code]} (${step}${token})`);
}

/** Classifies whatever imapflow or the socket threw. */
export function toMailboxError(step: ImapStep, error: unknown, context: FailureContext): MailboxError {
  if (error instanceof MailboxError) return error;
  const failure = (error ?? {}) as ImapFlowError;
  const detail = context.responseCode ?? failure.code ?? failure.responseStatus;
  return mailboxError(context.ended ?? classify(step, failure, context), step, detail);
}

function classify(step: ImapStep, failure: ImapFlowError, context: FailureContext): MailboxErrorCode {
  if (failure.code === 'ETHROTTLE') return 'throttled';
  if (timeoutCodes.has(failure.code ?? '')) return 'timeout';
  const temporary = temporaryCodes.has(context.responseCode ?? '');
  if (step === 'connect') {
    if (context.bye) return 'login_unavailable';
    if (!failure.authenticationFailed) return 'connect_failed';
    // A BAD is about the protocol or the server's state; wrong credentials are answered NO.
    return temporary || failure.responseStatus === 'BAD' ? 'login_unavailable' : 'login_refused';
  }
  const refused = failure.responseStatus === 'NO' || failure.responseStatus === 'BAD';
  if (!refused) return 'connection_lost';
  if (step === 'select') return 'mailbox_unavailable';
  if (temporary) return 'throttled';
  return step === 'search' ? 'search_refused' : 'fetch_refused';
}
