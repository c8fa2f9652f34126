import type { Severity } from '../src/alarms/topic.ts';

export interface AlarmText {
  readonly severity: Severity;
  /** It tells of the way that the others take, so it goes past it: by e-mail. */
  readonly byEmail?: true;
  /** What a failure means for the business, in one sentence. */
  readonly meaning: string;
}

/**
 * Every alarm. Constructs make alarms from these names only, and docs/runbook.md has one article for each:
 * its heading is the name.
 */
export const alarmTexts = {
  OldestUnprocessedMail: {
    severity: 'page',
    meaning: 'A mail has been in the mailbox for over 15 minutes without an outcome: its lead is waiting.',
  },
  PollerNotRunning: {
    severity: 'page',
    meaning: 'The poller has not run for 15 minutes: no mail becomes a lead.',
  },
  LeadsWithoutTimeline: {
    severity: 'page',
    meaning:
      'Leads published over 30 minutes ago have no contact, task and timeline: nobody calls them back.',
  },
  NeonWriteFinalDlqNotEmpty: {
    severity: 'page',
    meaning: 'Leads failed three retries against Neon or EventBridge and will be lost after 14 days.',
  },
  LeadProcessorDlqNotEmpty: {
    severity: 'page',
    meaning: 'Leads are stored, but their contact, task and timeline could not be written.',
  },
  ForwardingDlqNotEmpty: {
    severity: 'page',
    meaning: 'LeadCreated events could not be sent to the other region: these leads get no task.',
  },
  NeonWriteQueueOld: {
    severity: 'page',
    meaning: 'A lead has been waiting over two hours to be written to Neon or published.',
  },
  LeadProcessorQueueOld: {
    severity: 'page',
    meaning:
      'A new lead has been waiting over two minutes for its task: the five-minute call-back is at risk.',
  },
  TranscribeDlqNotEmpty: {
    severity: 'page',
    meaning: 'Calls could not be worked off: their recordings or transcripts will be missing after 14 days.',
  },
  TranscribeQueueOld: {
    severity: 'page',
    meaning: 'A call has been waiting over twelve hours to be worked off.',
  },
  CallSweepNotRunning: {
    severity: 'page',
    meaning:
      'The call sweep has not run for 15 minutes: parked calls stay parked, and nobody watches the subscription.',
  },
  SubscriptionNotActive: {
    severity: 'page',
    meaning: 'RingCentral does not send the webhooks of an account: its calls are seen an hour late.',
  },
  RingCentralLoginRefused: {
    severity: 'page',
    meaning: 'RingCentral refuses our login for an account: its recordings and voicemails are not fetched.',
  },
  NeonWriteQueueNotEmpty: {
    severity: 'look',
    meaning: 'The poller could not write leads to Neon or publish them; the retry processor is at work.',
  },
  QuarantinedMailForStore: {
    severity: 'look',
    meaning: 'Mail addressed to one of our stores could not be read as a lead: somebody waits for an answer.',
  },
  UnmappedMail: {
    severity: 'look',
    meaning: 'Leads came for a lead-tracking address that no store has: they are stored, but get no task.',
  },
  BreakerOpen: {
    severity: 'look',
    meaning: 'Five writes to Neon failed in a row: leads go to the retry queue until a probe succeeds.',
  },
  NoLeadInOpeningHours: {
    severity: 'look',
    meaning: 'No lead has come in for unusually many opening hours: forwarding or a form may be broken.',
  },
  PollerErrors: {
    severity: 'look',
    meaning: 'The poller ends with an error again and again: mail may be read late or not at all.',
  },
  GateClosed: {
    severity: 'look',
    meaning: 'RingCentral has been refusing an account for over 15 minutes: its recordings come late.',
  },
  CallsWithoutWebhook: {
    severity: 'look',
    meaning: 'The call log has calls that no webhook told of: their timeline came late and is shorter.',
  },
  WebhookFailed: {
    severity: 'look',
    meaning: 'The receiver could not take webhooks: their calls are seen only when the sweep finds them.',
  },
  WebhookReceiverErrors: {
    severity: 'look',
    meaning:
      'The webhook receiver ends with an error again and again: RingCentral may give up on its address.',
  },
  CallSweepErrors: {
    severity: 'look',
    meaning: 'The call sweep ends with an error again and again: parked and late work may be waiting.',
  },
  FunctionThrottled: {
    severity: 'look',
    meaning: 'Lambda refused to start the function: its work is late, and each refusal costs a receive.',
  },
  AlarmPathFailing: {
    severity: 'page',
    byEmail: true,
    meaning: 'Alarms do not reach Lark: whatever else goes wrong now, nobody is called.',
  },
  AlarmDispatcherErrors: {
    severity: 'look',
    meaning: 'The alarm dispatcher fails again and again: cards come late or by e-mail only.',
  },
  RecursionStopped: {
    severity: 'look',
    meaning:
      'Lambda took the function for an endless loop and dropped invocations: work goes to a DLQ unrun.',
  },
  DeadLettersOld: {
    severity: 'look',
    meaning: 'Messages have been in the dead-letter queue for over ten days and vanish at fourteen.',
  },
} as const satisfies Record<string, AlarmText>;

export type AlarmName = keyof typeof alarmTexts;

/** The anchor of an alarm's runbook article, as GitHub derives it from the heading. */
export function runbookAnchor(name: AlarmName): string {
  return name.toLowerCase();
}
