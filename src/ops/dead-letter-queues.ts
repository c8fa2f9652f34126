import type { Side } from './deployment.ts';

/** Where each dead-letter queue is, and where its messages belong. */
export const deadLetterQueues = {
  'neon-write-final-dlq': { side: 'leads', destination: 'neon-write-dlq' },
  /** Also what LeadCreatedRule could not deliver: the same body. */
  'lead-processor-dlq': { side: 'calls', destination: 'lead-processor-queue' },
  'transcribe-dlq': { side: 'calls', destination: 'transcribe-queue' },
  /** Events that the forwarding rule could not deliver: no queue fed it, so they are published again. */
  'forwarding-dlq': { side: 'leads', destination: 'event bus' },
} as const satisfies Record<string, { side: Side; destination: string }>;

export type DeadLetterQueueName = keyof typeof deadLetterQueues;
