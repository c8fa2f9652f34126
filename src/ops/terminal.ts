import { cleanLine } from '../mail/clean-text.ts';
import type { Log } from '../platform/logger.ts';
import type { Meter } from '../platform/metrics.ts';

/** Where a command writes: results to standard output, refusals and warnings to standard error. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
}

export const processTerminal: Terminal = {
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
};

/** Warnings of the code that the functions share (ids and codes only); what goes well is the command's to tell. */
export function terminalLog(terminal: Terminal): Log {
  const tell = (event: string, fields: object = {}) =>
    terminal.err([event, ...Object.entries(fields).map(([name, value]) => `${name}=${value}`)].join(' '));
  return { debug: () => undefined, info: () => undefined, warn: tell, error: tell };
}

/** Metrics are the deployed functions' business. */
export const noMeter: Meter = { count: () => undefined, flush: () => undefined };

/** A labelled line of a report. What mails bring must not move the cursor or colour the terminal. */
export function field(label: string, value: string): string {
  return `  ${label.padEnd(10)} ${cleanLine(value)}`;
}

/** The parts that are there, with a comma between them. */
export function list(...parts: readonly (string | null | undefined | false)[]): string {
  return parts.filter(Boolean).join(', ');
}
