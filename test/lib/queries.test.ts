import { describe, expect, it } from 'vitest';
import { type QueryName, savedQueries } from '../../lib/queries.ts';
import { environmentContract } from '../../src/platform/environment.ts';
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
const deployed = Object.keys(environmentContract);

/** The specification's fields of events that belong to the call flow. */
const callEvents: Record<string, string[]> = {
  [logEvents.recordingAvailabilityObserved]: [
    'telephony_session_id',
    'api_has_recording',
    'api_recording_id',
  ],
  [logEvents.recordingProcessingStarted]: ['telephony_session_id', 'call_log_input'],
  [logEvents.redriveScheduled]: ['account_id', 'telephony_session_id', 'redrive_count', 'delay_seconds'],
  [logEvents.redriveAcknowledged]: ['account_id', 'telephony_session_id', 'retry_outcome'],
  [logEvents.redriveExhausted]: ['account_id', 'telephony_session_id', 'redrive_count', 'retry_outcome'],
  [logEvents.callWithoutRecording]: ['account_id', 'recording_status', 'reason'],
};

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
  const own = calls.filter((call) => call.event === event).flatMap(({ fields }) => fields);
  return own.length > 0 ? own : (callEvents[event] ?? []);
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
    // A query that names no event follows one mail: through all the events that carry its key.
    const asked = events.length > 0 ? events : calls.filter((call) => call.fields.includes('mail_key'));
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
    const logging = deployed.filter((name) => {
      const files = filesOf(name);
      return calls.some(
        ({ event, fields, file }) =>
          files.has(file) && (events.length > 0 ? events.includes(event) : fields.includes('mail_key')),
      );
    });
    expect(logsOf.filter((name) => deployed.includes(name)).toSorted()).toEqual(logging.toSorted());
  });
});

describe('deployed', () => {
  const found = everyResource(templatesOf(placeholderApp()), 'AWS::Logs::QueryDefinition');
  const groups: Record<string, string> = {
    poller: 'ImapPollerLogs',
    'neon-retry-processor': 'NeonRetryWorkerLogs',
    'lead-processor': 'LeadsLeadProcessorWorkerLogs',
  };

  it.each(['prod', 'test'])('in %s: each query for the log groups that its region has', (stage) => {
    for (const [stack, own] of [
      ['LeadTracking', ['poller', 'neon-retry-processor']],
      ['Callytics', ['lead-processor']],
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

  it('not yet: those of the call flow, whose functions are not there', () => {
    const names = new Set(found.map(({ Properties }) => String(Properties.Name).split('/').at(-1)));
    const waiting = queries.filter(({ logsOf }) => !logsOf.some((name) => deployed.includes(name)));
    for (const { name } of waiting) expect(names.has(name)).toBe(false);
    expect(names.size).toBe(queries.length - waiting.length);
  });
});
