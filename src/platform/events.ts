import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { awsClientConfig } from './aws-client-config.ts';

/** One event for the bus; `detail` is sent as JSON. */
export interface BusEvent {
  source: string;
  detailType: string;
  detail: unknown;
}

/** The event bus as a port. `publish` resolves only when the bus has taken the event. */
export interface EventBus {
  publish(event: BusEvent): Promise<void>;
}

/** PutEvents answered 200, but refused the entry. `code` is EventBridge's ErrorCode. */
export class EventRefusedError extends Error {
  override name = 'EventRefusedError';
  readonly code: string;
  constructor(code: string) {
    super(`EventBridge refused the event: ${code}`);
    this.code = code;
  }
}

/**
 * PutEvents with the check that the SDK does not make: a 200 with FailedEntryCount > 0 doesn't throw, and an
 * unchecked one loses the event (https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html).
 */
export function createEventBus(busName: string, client = new EventBridgeClient(awsClientConfig)): EventBus {
  return {
    async publish({ source, detailType, detail }) {
      const entry = {
        EventBusName: busName,
        Source: source,
        DetailType: detailType,
        Detail: JSON.stringify(detail),
      };
      const answer = await client.send(new PutEventsCommand({ Entries: [entry] }));
      if ((answer.FailedEntryCount ?? 0) > 0) {
        throw new EventRefusedError(answer.Entries?.[0]?.ErrorCode ?? 'Unknown');
      }
    },
  };
}
