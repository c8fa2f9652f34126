import { localCommand } from '../local/command.ts';

process.exit(await localCommand(process.argv.slice(2)));
