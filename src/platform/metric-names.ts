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
  AlarmDelivered: 'Count',
} as const;

export type MetricName = keyof typeof metricUnits;
