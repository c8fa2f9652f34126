import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { receiveWebhook, type WebhookReceiver } from './calls/receive-webhook.ts';
import { systemClock } from './platform/clock.ts';
import { readEnvironment } from './platform/environment.ts';
import { lazyService } from './platform/lazy-service.ts';
import { createLog } from './platform/logger.ts';
import { createMeter } from './platform/metrics.ts';
import { createParameters } from './platform/parameters.ts';
import { createQueue } from './platform/queue.ts';
import { createAccounts } from './ringcentral/account.ts';

const service = lazyService(async (): Promise<WebhookReceiver> => {
  const env = readEnvironment('webhook-receiver');
  return {
    accounts: createAccounts(createParameters(), env.RINGCENTRAL_PARAMETER_PREFIX),
    queue: createQueue(env.TRANSCRIBE_QUEUE_URL),
    clock: systemClock,
    log: createLog(),
    meter: createMeter(),
  };
});

/** `POST /ringcentral/{accountId}` of the HTTP API: RingCentral's notifications. */
export async function handler(event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> {
  return receiveWebhook(await service(), event);
}
