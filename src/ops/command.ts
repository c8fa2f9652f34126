import type { CommandLine, CommandShape } from './command-line.ts';
import type { Deployment } from './deployment.ts';
import type { Terminal } from './terminal.ts';

/** 0: done. 1: not found, or something failed. 2: the command was refused as it was typed. */
export type ExitCode = 0 | 1 | 2;

export interface Command extends CommandShape {
  /** One line for the list of commands. */
  summary: string;
  /** What it does, in which order, and what it leaves alone. */
  help: string;
  /** @throws UsageError before anything is touched; whatever else it throws is told and ends with 1 */
  run(line: CommandLine<CommandShape>, context: CommandContext): Promise<ExitCode>;
}

export interface CommandContext {
  deployment: Deployment;
  terminal: Terminal;
}
