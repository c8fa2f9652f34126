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
  webhookAccepted: 'webhook.accepted',
  /** A handshake, or an event that is not about a telephony session. */
  webhookAcknowledged: 'webhook.acknowledged',
  webhookRefused: 'webhook.refused',
  webhookFailed: 'webhook.failed',
  ringcentralRequestStarted: 'ringcentral.request_started',
  ringcentralRequestCompleted: 'ringcentral.request_completed',
  ringcentralRateLimited: 'ringcentral.rate_limited',
  ringcentralLoginRefused: 'ringcentral.login_refused',
  ringcentralRecordUnreadable: 'ringcentral.record_unreadable',
  recordingAvailabilityObserved: 'ringcentral.recording_availability_observed',
  recordingProcessingStarted: 'ringcentral.recording_processing_started',
  redriveScheduled: 'ringcentral.redrive_scheduled',
  redriveAcknowledged: 'ringcentral.redrive_acknowledged',
  redriveExhausted: 'ringcentral.redrive_exhausted',
  ringcentralParked: 'ringcentral.parked',
  /** A webhook's event is in the session's row and timeline. */
  callEventRecorded: 'call.event_recorded',
  /** A message of transcribe-queue came to its end: `outcome` done, parked or redriven. */
  callProcessed: 'call.processed',
  callProcessingFailed: 'call.processing_failed',
  claimNotReleased: 'call.claim_not_released',
  recordingStored: 'recording.stored',
  recordingNotStored: 'recording.not_stored',
  voicemailStored: 'voicemail.stored',
  voicemailNotStored: 'voicemail.not_stored',
  transcriptionStarted: 'transcription.started',
  transcriptionCompleted: 'transcription.completed',
  transcriptionFailed: 'transcription.failed',
  /** An event that isn't this stage's. */
  transcriptionIgnored: 'transcription.ignored',
  /** The sweep couldn't find out what became of a job; it tries again. */
  transcriptionNotChecked: 'transcription.not_checked',
  sweepFinished: 'call_sweep.finished',
  sweepSkipped: 'call_sweep.skipped',
  sweepFailed: 'call_sweep.failed',
  /** An account has work for the sweep and isn't configured for it; `served` when it has a parameter. */
  sweepUnlistedAccount: 'call_sweep.unlisted_account',
  /** One account's parked work: what was listed and sent, and the slots that were left for it. */
  pumpFinished: 'call_sweep.pump_finished',
  /** One look at an account's call log: what it brought to light. */
  passFinished: 'call_sweep.pass_finished',
  callWithoutWebhook: 'call.without_webhook',
  subscriptionNotActive: 'subscription.not_active',
  subscriptionCreated: 'subscription.created',
  /** `recording_status` none, too_short, deleted or gave_up, with its `reason`. */
  callWithoutRecording: 'call.without_recording',
  alarmDelivered: 'alarm.delivered',
  alarmNotDelivered: 'alarm.not_delivered',
} as const;

export type LogEvent = (typeof logEvents)[keyof typeof logEvents];
