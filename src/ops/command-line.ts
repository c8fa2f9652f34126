import { parseArgs } from 'node:util';

/** The command can't be run as it was typed: nothing was read, sent or changed. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Every option of every command. */
const optionTypes = {
  stage: { type: 'string' },
  yes: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  max: { type: 'string' },
  since: { type: 'string' },
  quarantined: { type: 'boolean' },
  unmapped: { type: 'boolean' },
  stored: { type: 'boolean' },
  uid: { type: 'string' },
  mailbox: { type: 'string' },
  stores: { type: 'string' },
  to: { type: 'string' },
  wait: { type: 'string' },
} as const;

export type OptionName = keyof typeof optionTypes;
export type Options = ReturnType<typeof parseAll>['values'];

/** What a command takes. `usage` is its line in the help. */
export interface CommandShape {
  /** Its words, such as `leads show`; empty for a script that is one command. */
  name: string;
  usage: string;
  options: readonly OptionName[];
}

export interface CommandLine<Command> {
  command: Command;
  /** What follows the command's name. */
  args: string[];
  options: Options;
}

/**
 * Reads the words and options of one of `commands`; options may stand anywhere.
 *
 * @returns `help` with the command that it was asked for, if any
 * @throws UsageError
 */
export function parseCommandLine<Command extends CommandShape>(
  argv: readonly string[],
  commands: readonly Command[],
): CommandLine<Command> | { help: Command | undefined } {
  const { values: options, positionals } = parseAll(argv);
  const command = commands.find(({ name }) => {
    const words = name === '' ? [] : name.split(' ');
    return words.every((word, index) => positionals[index] === word);
  });
  if (options.help || (argv.length === 0 && !command)) return { help: command };
  if (!command) throw new UsageError(`There is no command '${positionals.slice(0, 2).join(' ')}'.`);
  const stray = Object.keys(options).find((option) => !command.options.includes(option as OptionName));
  if (stray) throw new UsageError(`--${stray} is no option of this command.`);
  return { command, args: positionals.slice(command.name.split(' ').filter(Boolean).length), options };
}

function parseAll(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options: optionTypes });
  } catch (error) {
    // Node's advice on arguments that begin with a dash would not help here.
    const [message = ''] = (error instanceof Error ? error.message : String(error)).split('. ');
    throw new UsageError(`${message.replace(/\.$/, '')}.`);
  }
}

/**
 * A whole number of at least 1, or `undefined` when the option was not given.
 *
 * @throws UsageError
 */
export function readCount(options: Options, name: 'max' | 'uid' | 'wait'): number | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,9}$/.test(text))
    throw new UsageError(`--${name} ${text}: a whole number from 1 on is expected.`);
  return Number(text);
}
