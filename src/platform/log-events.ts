/**
 * Every event name that a function logs as `message`. Handlers, saved queries, runbook and tests take the
 * names from here. Fields are top-level snake_case ids and codes: never a name, a body, a phone number,
 * an e-mail address or a token (a lead's id holds e-mail and phone, so lines carry `mail_key` instead).
 */
export const logEvents = {
  pollerFinished: 'poller.finished',
  pollerFailed: 'poller.failed',
  pollerSkipped: 'poller.skipped',
  housekeepingFailed: 'poller.housekeeping_failed',
  mailProcessed: 'mail.processed',
  mailFailed: 'mail.failed',
  mailQuarantined: 'mail.quarantined',
  mailNotMarkedSeen: 'mail.not_marked_seen',
  mailUnmapped: 'mail.unmapped',
  mailAmbiguousStore: 'mail.ambiguous_store',
  stateUnreadable: 'state.unreadable',
  storesStale: 'stores.stale',
  storesUnavailable: 'stores.unavailable',
  storeInvalidSetting: 'stores.invalid_setting',
  legacyPutRefused: 'legacy.put_refused',
  leadStored: 'lead.stored',
  leadQueued: 'lead.queued',
  leadPublished: 'lead.published',
  /** The wording of the source document; dashboards already search for it. */
  publishSkipped: '[EVENTBRIDGE] Skipping — missing required fields',
  publishMarkFailed: 'lead.publish_mark_failed',
  mirrorFailed: 'mirror.failed',
  breakerOpened: 'breaker.opened',
  breakerClosed: 'breaker.closed',
  outboxRepublished: 'outbox.republished',
  outboxFailed: 'outbox.failed',
  leadsWithoutTimeline: 'leads.without_timeline',
  retrySucceeded: 'retry.succeeded',
  retryStageFailed: 'retry.stage_failed',
  messageInvalid: 'message.invalid',
  visibilityFailed: 'message.visibility_failed',
  leadProcessed: 'lead.processed',
  leadProcessingFailed: 'lead.processing_failed',
  ringcentralRequestStarted: 'ringcentral.request_started',
  ringcentralRequestCompleted: 'ringcentral.request_completed',
  ringcentralRateLimited: 'ringcentral.rate_limited',
  ringcentralLoginRefused: 'ringcentral.login_refused',
  ringcentralRecordUnreadable: 'ringcentral.record_unreadable',
} as const;

export type LogEvent = (typeof logEvents)[keyof typeof logEvents];
