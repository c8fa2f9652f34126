import type { SQSRecord } from 'aws-lambda';
import type { Clock } from '../../src/platform/clock.ts';
import type { Queue } from '../../src/platform/queue.ts';

interface Message {
  id: string;
  body: string;
  sentAt: number;
  visibleAt: number;
  receives: number;
  firstReceivedAt: number;
}

interface QueueOptions {
  clock: Clock;
  /** Told of every moment at which a message becomes visible. */
  onVisible: (at: number) => void;
  visibilitySeconds?: number;
  defaultDelaySeconds?: number;
  maximumReceives?: number;
}

/** transcribe-queue on simulated time: delays, visibility, receive counts and the dead-letter queue behind it. */
export class CallQueue implements Queue {
  /** Bodies of what came to the dead-letter queue, oldest first. */
  readonly deadLetters: string[] = [];
  /** Everything ever sent, with its delay. */
  readonly sent: { at: number; body: string; delaySeconds: number }[] = [];
  readonly #messages = new Map<string, Message>();
  readonly #options: Required<QueueOptions>;

  constructor(options: QueueOptions) {
    this.#options = { visibilitySeconds: 720, defaultDelaySeconds: 300, maximumReceives: 3, ...options };
  }

  get size(): number {
    return this.#messages.size;
  }

  get bodies(): string[] {
    return [...this.#messages.values()].map(({ body }) => body);
  }

  async send(body: unknown, { delaySeconds }: { delaySeconds?: number } = {}): Promise<void> {
    const { defaultDelaySeconds } = this.#options;
    const seconds =
      delaySeconds === undefined ? defaultDelaySeconds : Math.max(0, Math.min(900, Math.ceil(delaySeconds)));
    this.#add(JSON.stringify(body), seconds);
  }

  async changeVisibility(receiptHandle: string, seconds: number): Promise<void> {
    const message = this.#messages.get(receiptHandle);
    if (message) this.#showAt(message, this.#now() + Math.ceil(seconds) * 1000);
  }

  /** The message that has been visible longest, as Lambda hands it over. Those received too often go to the DLQ. */
  receive(): SQSRecord | undefined {
    const now = this.#now();
    const due = [...this.#messages.values()]
      .filter(({ visibleAt }) => visibleAt <= now)
      .sort((a, b) => a.visibleAt - b.visibleAt);
    for (const message of due) {
      if (message.receives >= this.#options.maximumReceives) {
        this.deadLetters.push(message.body);
        this.#messages.delete(message.id);
        continue;
      }
      message.receives += 1;
      if (message.receives === 1) message.firstReceivedAt = now;
      this.#showAt(message, now + this.#options.visibilitySeconds * 1000);
      return toRecord(message);
    }
    return undefined;
  }

  delete(id: string): void {
    this.#messages.delete(id);
  }

  /** As the console's button does: new messages with new times and no receives. */
  redriveDeadLetters(): void {
    for (const body of this.deadLetters.splice(0)) this.#add(body, 0);
  }

  #add(body: string, delaySeconds: number): void {
    const now = this.#now();
    this.sent.push({ at: now, body, delaySeconds });
    const id = `message-${this.sent.length}`;
    const message = { id, body, sentAt: now, visibleAt: now, receives: 0, firstReceivedAt: 0 };
    this.#messages.set(id, message);
    this.#showAt(message, now + delaySeconds * 1000);
  }

  #showAt(message: Message, at: number): void {
    message.visibleAt = at;
    this.#options.onVisible(at);
  }

  #now(): number {
    return this.#options.clock.now().getTime();
  }
}

const toRecord = ({ id, body, receives, sentAt, firstReceivedAt }: Message): SQSRecord => ({
  messageId: id,
  receiptHandle: id,
  body,
  attributes: {
    ApproximateReceiveCount: String(receives),
    SentTimestamp: String(sentAt),
    SenderId: 'simulation',
    ApproximateFirstReceiveTimestamp: String(firstReceivedAt),
  },
  messageAttributes: {},
  md5OfBody: '',
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:us-west-2:000000000000:transcribe-queue',
  awsRegion: 'us-west-2',
});
