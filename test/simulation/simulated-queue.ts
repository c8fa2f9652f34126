import type { SQSEvent, SQSRecord } from 'aws-lambda';
import type { Clock } from '../../src/platform/clock.ts';
import type { Queue } from '../../src/platform/queue.ts';

interface Message {
  id: string;
  body: string;
  visibleAt: number;
  receives: number;
}

/** An SQS queue on simulated time: delay, visibility, receive count, and a DLQ behind the last receive. */
export class SimulatedQueue implements Queue {
  readonly deadLetters: string[] = [];
  #messages: Message[] = [];
  #sent = 0;
  readonly #clock: Clock;
  readonly #visibilitySeconds: number;
  readonly #maximumReceives: number;

  constructor(clock: Clock, visibilitySeconds: number, maximumReceives = 3) {
    this.#clock = clock;
    this.#visibilitySeconds = visibilitySeconds;
    this.#maximumReceives = maximumReceives;
  }

  get size(): number {
    return this.#messages.length;
  }

  async send(body: unknown, { delaySeconds = 0 }: { delaySeconds?: number } = {}): Promise<void> {
    this.#sent += 1;
    const visibleAt = this.#clock.now().getTime() + delaySeconds * 1000;
    this.#messages.push({ id: `message-${this.#sent}`, body: JSON.stringify(body), visibleAt, receives: 0 });
  }

  async changeVisibility(receiptHandle: string, seconds: number): Promise<void> {
    const message = this.#messages.find(({ id }) => id === receiptHandle);
    if (message) message.visibleAt = this.#clock.now().getTime() + seconds * 1000;
  }

  /** Up to `count` visible messages as Lambda would hand them over; those received too often go to the DLQ. */
  receive(count: number): SQSEvent {
    const now = this.#clock.now().getTime();
    const due = this.#messages.filter(({ visibleAt }) => visibleAt <= now);
    const records: SQSRecord[] = [];
    for (const message of due) {
      if (message.receives >= this.#maximumReceives) {
        this.deadLetters.push(message.body);
        this.delete(message.id);
      } else if (records.length < count) {
        message.receives += 1;
        message.visibleAt = now + this.#visibilitySeconds * 1000;
        records.push(toRecord(message));
      }
    }
    return { Records: records };
  }

  delete(id: string): void {
    this.#messages = this.#messages.filter((message) => message.id !== id);
  }
}

function toRecord({ id, body, receives }: Message): SQSRecord {
  return {
    messageId: id,
    receiptHandle: id,
    body,
    attributes: {
      ApproximateReceiveCount: String(receives),
      SentTimestamp: '0',
      SenderId: 'simulation',
      ApproximateFirstReceiveTimestamp: '0',
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:simulation',
    awsRegion: 'us-east-1',
  };
}
