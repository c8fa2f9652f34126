import type { FunctionName } from '../src/platform/environment.ts';
import { logEvents } from '../src/platform/log-events.ts';

interface SavedQuery {
  /** What it answers, in one sentence. */
  readonly answers: string;
  /** The functions whose log groups it reads. */
  readonly logsOf: readonly FunctionName[];
  /** Logs Insights query language. A word in capitals is for the reader to fill in. */
  readonly text: string;
}

const leadFunctions = ['poller', 'neon-retry-processor', 'lead-processor'] as const;
const callFunctions = ['transcribe-processor', 'call-sweep'] as const;

/** What comes before the dash: CloudFormation is not to be trusted with more than ASCII. */
const publishSkipped = logEvents.publishSkipped.replace(/ [^ -~].*/, '');

/** `"a", "b"` for `message in [...]`. */
const list = (...events: string[]) => events.map((event) => `"${event}"`).join(', ');

/**
 * The saved Logs Insights queries: deployed with each stage for the log groups that it has, and printed in
 * docs/runbook.md. Logs Insights counts true as 1, and names the elements of a list `field.0`, `field.1`.
 */
export const savedQueries = {
  'where-is-this-lead': {
    answers: 'What happened to this mail, from the mailbox to the timeline?',
    logsOf: leadFunctions,
    text: `fields @timestamp, service, message, outcome, reason, stage, error_code, receive_count, publish, task_created, timeline_rows, store_id
| filter mail_key = "MAIL_KEY"
| sort @timestamp asc
| limit 1000`,
  },
  'why-late': {
    answers: 'What held leads up, most frequent first?',
    logsOf: leadFunctions,
    text: `fields @timestamp, mail_key
| filter message in [${list(
      logEvents.pollerFailed,
      logEvents.pollerSkipped,
      logEvents.housekeepingFailed,
      logEvents.stateUnreadable,
      logEvents.mailFailed,
      logEvents.storesStale,
      logEvents.leadQueued,
      logEvents.breakerOpened,
      logEvents.retryStageFailed,
      logEvents.visibilityFailed,
      logEvents.messageInvalid,
      logEvents.outboxRepublished,
      logEvents.outboxFailed,
      logEvents.leadProcessingFailed,
    )}] or (message = "${logEvents.pollerFinished}" and (kept > 0 or ispresent(stopped)))
| stats count(*) as times, count_distinct(mail_key) as mails by service, message, stage, error_code, stopped
| sort times desc`,
  },
  'skipped-publishes': {
    answers: 'Which leads were stored and not published, and which fields do they lack?',
    logsOf: ['poller', 'neon-retry-processor'],
    text: `fields @timestamp, service, mail_key, missing_fields.0, missing_fields.1, missing_fields.2, missing_fields.3
| filter message like "${publishSkipped}"
| sort @timestamp desc
| limit 1000`,
  },
  quarantine: {
    answers: 'Which mails could not be read as a lead, or belong to no store?',
    logsOf: ['poller'],
    text: `fields @timestamp, message, reason, known_recipient, store_id, mail_key
| filter message in [${list(logEvents.mailQuarantined, logEvents.mailUnmapped)}]
| sort @timestamp desc
| limit 1000`,
  },
  'retry-stage-failures': {
    answers: 'At which stage and with which error do retries fail?',
    logsOf: ['neon-retry-processor'],
    text: `filter message = "${logEvents.retryStageFailed}"
| stats count(*) as failures, count_distinct(mail_key) as mails, max(receive_count) as highest_receive_count by stage, error_code
| sort failures desc`,
  },
  'where-is-this-call': {
    answers: 'What happened to this call, from the webhook to the transcript?',
    logsOf: ['webhook-receiver', ...callFunctions],
    text: `fields @timestamp, service, message, api_surface, http_status, outcome, reason, error_code, next_step, wait_seconds, receive_count, redrive_count, delay_seconds, recording_status
| filter telephony_session_id = "TELEPHONY_SESSION_ID"
| sort @timestamp asc
| limit 1000`,
  },
  'refused-webhooks': {
    answers: 'Which webhooks were not taken, and why?',
    logsOf: ['webhook-receiver'],
    text: `filter message in [${list(logEvents.webhookRefused, logEvents.webhookFailed)}]
| stats count(*) as webhooks by account_id, message, http_status, reason, error_code
| sort webhooks desc`,
  },
  'parked-calls': {
    answers: 'Which step do calls wait for, in which rate-limit group, and how long?',
    logsOf: callFunctions,
    text: `filter message = "${logEvents.ringcentralParked}"
| stats count(*) as times, count_distinct(telephony_session_id) as calls, max(wait_seconds) as longest_wait_seconds by account_id, next_step, rate_limit_group
| sort times desc`,
  },
  'ringcentral-requests': {
    answers:
      'How many requests does each RingCentral surface get, how do they end, and how long do they take?',
    logsOf: callFunctions,
    text: `fields @timestamp, account_id, telephony_session_id, api_surface, http_status, duration_ms, rate_limit_group, rate_limit_remaining, rate_limit_limit
| filter message = "${logEvents.ringcentralRequestCompleted}"
| stats count() as requests, pct(duration_ms, 50) as p50_ms, pct(duration_ms, 95) as p95_ms, max(duration_ms) as max_ms by account_id, api_surface, http_status
| sort requests desc`,
  },
  'recording-readiness': {
    answers: 'When did the recording of this session become available?',
    logsOf: callFunctions,
    text: `fields @timestamp, message, telephony_session_id, api_has_recording, api_recording_id, call_log_input
| filter telephony_session_id = "TELEPHONY_SESSION_ID"
| filter message = "${logEvents.recordingAvailabilityObserved}" or message = "${logEvents.recordingProcessingStarted}"
| sort @timestamp asc`,
  },
  'rate-limit-redrives': {
    answers: 'Did a refused request (429) lead to another try, or to the end of the tries?',
    logsOf: callFunctions,
    text: `fields @timestamp, message, account_id, telephony_session_id, api_surface, rate_limit_group, retry_after_seconds, client_error_action, redrive_count, delay_seconds, retry_outcome
| filter message = "${logEvents.ringcentralRateLimited}" or message = "${logEvents.redriveScheduled}" or message = "${logEvents.redriveAcknowledged}" or message = "${logEvents.redriveExhausted}"
| sort @timestamp asc`,
  },
  '429s-by-account': {
    answers: 'Which account is refused by RingCentral, in which rate-limit group?',
    logsOf: callFunctions,
    text: `filter message = "${logEvents.ringcentralRateLimited}"
| stats count(*) as refusals, max(retry_after_seconds) as longest_wait_seconds by account_id, rate_limit_group, api_surface
| sort refusals desc`,
  },
  'calls-without-recording': {
    answers: 'Why do calls end without a stored recording?',
    logsOf: callFunctions,
    text: `filter message = "${logEvents.callWithoutRecording}"
| stats count_distinct(telephony_session_id) as calls by account_id, recording_status, reason
| sort calls desc`,
  },
} as const satisfies Record<string, SavedQuery>;

export type QueryName = keyof typeof savedQueries;
