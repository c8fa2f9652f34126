/**
 * Every metric that a function emits, with its unit. Handlers, alarms and dashboard take the names from
 * here, so that an alarm can't wait for a name that nobody emits. Dimension: `service` (POWERTOOLS_SERVICE_NAME)
 * and `Stage`.
 */
export const metricUnits = {
  PollerRuns: 'Count',
  PollerFailures: 'Count',
  OldestUnprocessedMailAge: 'Seconds',
  LeadsWithoutTimeline: 'Count',
  HoursSinceLead: 'Count',
  MailLead: 'Count',
  MailSkipped: 'Count',
  MailCancellation: 'Count',
  MailQuarantined: 'Count',
  /** Quarantined mail whose recipient is one of our stores: somebody waits for that lead. */
  MailQuarantinedKnownRecipient: 'Count',
  /** A lead for a `lead-tracking+{ID}@` address that no store has. */
  MailUnmapped: 'Count',
  MailAmbiguousStore: 'Count',
  MailNotMarkedSeen: 'Count',
  StoreInvalidSetting: 'Count',
  LegacyPutRefused: 'Count',
  LeadQueued: 'Count',
  LeadPublished: 'Count',
  PublishSkipped: 'Count',
  OutboxRepublished: 'Count',
  MirrorFailed: 'Count',
  BreakerOpen: 'Count',
  RetryNeonFailed: 'Count',
  RetryEventBridgeFailed: 'Count',
  LeadProcessed: 'Count',
  WebhookAccepted: 'Count',
  WebhookUnauthorized: 'Count',
  /** Answered 503: the event is lost unless RingCentral sends it again. */
  WebhookFailed: 'Count',
  /** RingCentral's own headers, with the dimensions Source, and AccountId and Source, alone. */
  RateLimitLimit: 'Count',
  RateLimitRemaining: 'Count',
  RingCentralLoginRefused: 'Count',
  /** 1 for each minute and account whose Heavy bucket is closed by a 429. */
  GateClosed: 'Count',
  /** Messages of transcribe-queue by their end. */
  CallProcessed: 'Count',
  CallParked: 'Count',
  CallRedriven: 'Count',
  RecordingStored: 'Count',
  TranscriptStored: 'Count',
  TranscriptionFailed: 'Count',
  /** Calls that end without a stored recording, whatever the reason. */
  CallsWithoutRecording: 'Count',
  /** Calls that the call log has and no webhook told of: a subscription may be failing. */
  CallsWithoutWebhook: 'Count',
  SweepRuns: 'Count',
  /** Sessions that wait for a slot. */
  ParkedCalls: 'Count',
  SubscriptionNotActive: 'Count',
  AlarmDelivered: 'Count',
} as const;

export type MetricName = keyof typeof metricUnits;
