import type { Clock } from '../../src/platform/clock.ts';
import type { LogEvent } from '../../src/platform/log-events.ts';
import type { Log, LogFields } from '../../src/platform/logger.ts';
import type { MetricName } from '../../src/platform/metric-names.ts';
import type { Meter } from '../../src/platform/metrics.ts';
import type { StateTable } from '../../src/platform/state-table.ts';

/** A clock that stands still until it is moved. */
export class FakeClock implements Clock {
  #now: number;
  constructor(start = '2026-11-03T14:00:00.000Z') {
    this.#now = Date.parse(start);
  }
  now(): Date {
    return new Date(this.#now);
  }
  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }
}

/** Keeps what would be logged. */
export function recordingLog(): Log & { lines: { level: string; event: LogEvent; fields: LogFields }[] } {
  const lines: { level: string; event: LogEvent; fields: LogFields }[] = [];
  const at =
    (level: string) =>
    (event: LogEvent, fields: LogFields = {}) => {
      lines.push({ level, event, fields });
    };
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** Adds up what would be emitted. */
export function recordingMeter(): Meter & { totals: Partial<Record<MetricName, number>> } {
  const totals: Partial<Record<MetricName, number>> = {};
  return {
    totals,
    count: (name, value = 1) => {
      totals[name] = (totals[name] ?? 0) + value;
    },
    flush: () => {},
  };
}

/** State items that last as long as the test: enough for pure logic; conditions are tested on dynalite. */
export function memoryStateTable(): StateTable {
  const items = new Map<string, Record<string, unknown>>();
  return {
    get: async (pk) => items.get(pk),
    put: async (pk, attributes) => {
      items.set(pk, { ...attributes, pk });
    },
    update: async (pk, { update, values = {} }) => {
      const item = { ...items.get(pk), pk } as Record<string, unknown>;
      for (const [, name = '', value = ''] of update.matchAll(/(\w+) = (:\w+)/g)) item[name] = values[value];
      for (const [, name = '', value = ''] of update.matchAll(/ADD (\w+) (:\w+)/g)) {
        item[name] = Number(item[name] ?? 0) + Number(values[value]);
      }
      items.set(pk, item);
      return item;
    },
    delete: async (pk) => {
      items.delete(pk);
    },
  };
}

/** A state table that can't be reached. */
export const brokenStateTable: StateTable = {
  get: () => Promise.reject(new Error('state table down')),
  put: () => Promise.reject(new Error('state table down')),
  update: () => Promise.reject(new Error('state table down')),
  delete: () => Promise.reject(new Error('state table down')),
};
