import { type Json, localAccount } from '../assembly/template.ts';
import {
  type AwsCall,
  type AwsService,
  awsError,
  awsJson,
  type Need,
  UnknownOperationError,
} from '../services/aws-service.ts';
import { type EventBuses, envelope } from './bus.ts';

interface Entry {
  EventBusName?: string;
  Source?: string;
  DetailType?: string;
  Detail?: string;
}

const maximumEntries = 10;
/** Of all entries together (API_PutEvents). */
const maximumBytes = 1_048_576;

/** EventBridge with the one call that functions make: PutEvents, with a verdict for each entry. */
export function createEvents(buses: EventBuses): AwsService {
  function put(
    region: string,
    entry: Entry,
  ): { EventId: string } | { ErrorCode: string; ErrorMessage: string } {
    const { Source, DetailType, Detail } = entry;
    const busName = busNameOf(entry);
    if (!Source || !DetailType || !Detail) return refused('InvalidArgument', 'a required field is missing');
    const detail = parseDetail(Detail);
    if (!detail) return refused('MalformedDetail', 'Detail is not a JSON object');
    if (!buses.has(region, busName)) return refused('InvalidArgument', `no event bus ${busName}`);
    const event = envelope(region, Source, DetailType, detail);
    buses.put(region, busName, event);
    return { EventId: event.id };
  }

  return {
    needs({ operation, region, body }) {
      if (operation !== 'PutEvents') throw new UnknownOperationError('EventBridge', operation);
      return entriesOf(body).map(
        (entry): Need => ({
          action: 'events:PutEvents',
          resource: `arn:aws:events:${region}:${localAccount}:event-bus/${busNameOf(entry)}`,
          context: { 'events:source': [entry.Source ?? ''], 'events:detail-type': [entry.DetailType ?? ''] },
        }),
      );
    },
    async handle({ region, body, raw }: AwsCall) {
      const entries = entriesOf(body);
      if (entries.length === 0 || entries.length > maximumEntries || raw.length > maximumBytes) {
        return awsError(400, 'ValidationException', `1 to ${maximumEntries} entries of under 1 MB together`);
      }
      const results = entries.map((entry) => put(region, entry));
      const failed = results.filter((result) => 'ErrorCode' in result).length;
      return awsJson({ FailedEntryCount: failed, Entries: results });
    },
  };
}

const refused = (ErrorCode: string, ErrorMessage: string) => ({ ErrorCode, ErrorMessage });

function entriesOf(body: AwsCall['body']): Entry[] {
  return Array.isArray(body.Entries) ? body.Entries : [];
}

/** The name, also where the caller gives the bus's ARN. */
function busNameOf({ EventBusName = 'default' }: Entry): string {
  return EventBusName.split('/').at(-1) ?? 'default';
}

function parseDetail(text: string): Json | undefined {
  try {
    const detail = JSON.parse(text);
    return typeof detail === 'object' && detail !== null && !Array.isArray(detail) ? detail : undefined;
  } catch {
    return undefined;
  }
}
