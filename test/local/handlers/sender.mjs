import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';

const client = new EventBridgeClient({});

/** A scheduled function that puts one event on the bus. */
export const handler = async () => {
  const { EVENT_BUS_NAME: bus, STAGE: stage } = process.env;
  if (!bus) throw new Error('missing environment variable EVENT_BUS_NAME');
  const entry = {
    EventBusName: bus,
    Source: 'lead-tracking',
    DetailType: 'LeadCreated',
    Detail: JSON.stringify({ stage, id: 'lead-1' }),
  };
  const answer = await client.send(new PutEventsCommand({ Entries: [entry] }));
  return { failed: answer.FailedEntryCount };
};
