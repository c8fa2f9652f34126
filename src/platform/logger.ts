import { Logger } from '@aws-lambda-powertools/logger';
import type { LogEvent } from './log-events.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';

/** Field values are ids, codes, counts and flags. Errors go through `errorCode` first. */
export type LogFields = Record<
  string,
  string | number | boolean | null | undefined | readonly (string | number)[]
>;

/** The log as a port: one event name of the registry and its flat snake_case fields. */
export type Log = Record<Level, (event: LogEvent, fields?: LogFields) => void>;

/**
 * The shared JSON logger (Powertools). Level and service name come from LOG_LEVEL and
 * POWERTOOLS_SERVICE_NAME; STAGE is on each line as `deployment`, since a line's own `stage` is a step of its work.
 */
export function createLog(): Log {
  const logger = new Logger({ persistentKeys: { deployment: process.env.STAGE } });
  const at =
    (level: Level) =>
    (event: LogEvent, fields: LogFields = {}) =>
      logger[level](event, fields);
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
