import { toDatabaseError } from '../db/errors.ts';
import { errorCode } from '../platform/errors.ts';
import type { Command, CommandContext, ExitCode } from './command.ts';
import { parseCommandLine, UsageError } from './command-line.ts';

/** A script with its commands, as `npm run ops` and `npm run smoke`. */
export interface Script {
  /** How it is called, up to the two dashes. */
  call: string;
  about: string;
  commands: readonly Command[];
}

const optionHelp = `  --json         one JSON object on standard output
  --help, -h     with a command: all about it

Credentials and endpoints are the AWS SDK's own (AWS_PROFILE, AWS_ENDPOINT_URL, …).
Exit code 0: done; 1: not found, or something failed; 2: refused as typed, nothing changed.`;

/** Runs the command and answers the exit code. Never rejects. */
export async function runScript(
  script: Script,
  argv: readonly string[],
  context: CommandContext,
): Promise<ExitCode> {
  const { terminal } = context;
  try {
    const line = parseCommandLine(argv, script.commands);
    if ('help' in line) {
      terminal.out(line.help ? commandHelp(script, line.help) : scriptHelp(script));
      return 0;
    }
    return await line.command.run(line, context);
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.err(`${error.message}\n${script.call} --help shows what there is.`);
      return 2;
    }
    terminal.err(describe(error));
    return 1;
  }
}

/** Whole commands only: a one-command script's help is that command's. */
function scriptHelp(script: Script): string {
  const [only, ...others] = script.commands;
  if (only && others.length === 0) return commandHelp(script, only);
  const lines = script.commands.map(({ usage, summary }) => `  ${usage}\n      ${summary}`);
  return `${script.about}\n\n${lines.join('\n')}\n\n${optionHelp}`;
}

function commandHelp({ call }: Script, { usage, help }: Command): string {
  return `${call} ${usage}\n\n${help}\n\n${optionHelp}`;
}

/** A database error's own message holds the statement and its values. */
function describe(error: unknown): string {
  const database = toDatabaseError(error);
  if (database) return `Neon: ${database.message}`;
  const message = error instanceof Error ? error.message : '';
  const code = errorCode(error);
  return message === '' ? code : code === 'Error' ? message : `${code}: ${message}`;
}
