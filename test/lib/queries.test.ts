import { describe, expect, it } from 'vitest';
import { type QueryName, savedQueries } from '../../lib/queries.ts';
import { logEvents } from '../../src/platform/log-events.ts';
import { everyResource, placeholderApp, templatesOf } from '../support/synthesized.ts';
import { filesOf, logCalls } from './logged-fields.ts';

const language =
  /^(fields|filter|stats|sort|limit|by|as|in|like|or|and|asc|desc|count|count_distinct|pct|max|ispresent)$/;

const queries = (Object.keys(savedQueries) as QueryName[]).map((name) => {
  const { text, logsOf }: { text: string; logsOf: readonly string[] } = savedQueries[name];
  return { name, text, logsOf, events: eventsIn(text), fields: fieldsIn(text) };
});
const calls = logCalls();

/** Functions of the two flows log some events of the same name: a query is about one of the flows. */
const leadFlow = ['poller', 'neon-retry-processor', 'lead-processor'];
const callFlow = ['webhook-receiver', 'transcribe-processor', 'call-sweep'];
/** A query that names no event follows one mail or call: through all the events that carry its key. */
const keyIn = (fields: string[]) => (fields.includes('mail_key') ? 'mail_key' : 'telephony_session_id');

/** What every line has (Powertools), and what Logs Insights adds. */
const everyLine = ['@timestamp', 'message', 'service'];

/** Texts in quotes that are an event, or the beginning of one. */
function eventsIn(text: string): string[] {
  const quoted = [...text.matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? '');
  return Object.values(logEvents).filter((event) =>
    quoted.some((words) => words === event || event.startsWith(`${words} `)),
  );
}

/** Every name in a query but its language, its own aliases and the number of a list`s element. */
function fieldsIn(text: string): string[] {
  const words = text.replaceAll(/"[^"]*"/g, '');
  const aliases = [...words.matchAll(/ as (\w+)/g)].map((match) => match[1] ?? '');
  const names = [...words.matchAll(/@?[a-zA-Z_][\w.]*/g)].map(([name]) => name.replace(/\.\d+$/, ''));
  return [...new Set(names.filter((name) => !language.test(name) && !aliases.includes(name)))];
}

function loggedBy(event: string): string[] {
  return calls.filter((call) => call.event === event).flatMap(({ fields }) => fields);
}

describe('what the code logs', () => {
  it('is read from the code as it is', () => {
    expect(loggedBy(logEvents.leadQueued)).toEqual(['mail_key', 'stage', 'error_code']);
    expect(loggedBy(logEvents.retryStageFailed).toSorted()).toEqual(
      ['message_id', 'receive_count', 'mail_key', 'stage', 'error_code'].toSorted(),
    );
    expect(loggedBy(logEvents.ringcentralRateLimited)).toEqual(
      expect.arrayContaining(['api_surface', 'account_id', 'telephony_session_id', 'retry_after_seconds']),
    );
  });
});

describe.each(queries)('query $name', ({ text, logsOf, events, fields }) => {
  it('asks for fields that its events have', () => {
    const key = keyIn(fields);
    const asked = events.length > 0 ? events : calls.filter((call) => call.fields.includes(key));
    const known = asked.flatMap((one) => (typeof one === 'string' ? loggedBy(one) : one.fields));
    expect(fields.length).toBeGreaterThan(0);
    expect(fields.filter((field) => !everyLine.includes(field) && !known.includes(field))).toEqual([]);
  });

  it('names every event as the registry does', () => {
    const quoted = [...text.matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? '');
    const unknown = quoted.filter((words) => !/^[A-Z_]+$/.test(words) && eventsIn(`"${words}"`).length === 0);
    expect(unknown).toEqual([]);
  });

  it('reads the log groups of all functions that log its events, and of no others', () => {
    const flow = logsOf.some((name) => callFlow.includes(name)) ? callFlow : leadFlow;
    const key = keyIn(fields);
    const logging = flow.filter((name) => {
      const files = filesOf(name);
      return calls.some(
        (call) =>
          files.has(call.file) &&
          (events.length > 0 ? events.includes(call.event) : call.fields.includes(key)),
      );
    });
    expect(logsOf.toSorted()).toEqual(logging.toSorted());
  });
});

describe('deployed', () => {
  const found = everyResource(templatesOf(placeholderApp()), 'AWS::Logs::QueryDefinition');
  const groups: Record<string, string> = {
    poller: 'ImapPollerLogs',
    'neon-retry-processor': 'NeonRetryWorkerLogs',
    'lead-processor': 'LeadsLeadProcessorWorkerLogs',
    'webhook-receiver': 'CallsWebhookReceiverLogs',
    'transcribe-processor': 'CallsTranscribeWorkerLogs',
    'call-sweep': 'CallsCallSweepLogs',
  };

  it.each(['prod', 'test'])('in %s: each query for the log groups that its region has', (stage) => {
    for (const [stack, own] of [
      ['LeadTracking', ['poller', 'neon-retry-processor']],
      ['Callytics', ['call-sweep', 'transcribe-processor', 'webhook-receiver', 'lead-processor']],
    ] as const) {
      const expected = queries
        .map(({ name, text, logsOf }) => ({
          Name: `callytics/${stage}/${name}`,
          QueryString: text,
          LogGroupNames: own
            .filter((name) => logsOf.includes(name))
            .map((name) => expect.stringContaining(groups[name] ?? name)),
        }))
        .filter(({ LogGroupNames }) => LogGroupNames.length > 0);
      const definitions = found
        .filter((resource) => resource.stack === `${stage}-${stack}`)
        .map(({ Properties }) => ({
          ...Properties,
          LogGroupNames: (Properties.LogGroupNames as string[]).toSorted(),
        }));
      expect(definitions).toEqual(expected);
    }
  });

  it('are all of them', () => {
    const names = new Set(found.map(({ Properties }) => String(Properties.Name).split('/').at(-1)));
    expect([...names].toSorted()).toEqual(queries.map(({ name }) => name).toSorted());
  });
});
