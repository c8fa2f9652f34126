import { describe, expect, it } from 'vitest';
import { ops } from '../../src/ops/commands.ts';
import { smoke } from '../../src/ops/smoke.ts';
import { operate } from './operator-stage.ts';

// No endpoint, no credentials: whatever asked AWS would fail with exit code 1.
describe('the command line', () => {
  it.each([
    [['leads'], "There is no command 'leads'."],
    [['leads', 'dance', '--stage', 'test'], "There is no command 'leads dance'."],
    [['--stage', 'test'], "There is no command ''."],
    [['leads', 'show', 'a@x.example'], '--stage is needed: test or prod.'],
    [['leads', 'show', 'a@x.example', '--stage', 'staging'], '--stage staging: there is test or prod only.'],
    [['leads', 'show', '--stage', 'test'], "'leads show' needs one lead id"],
    [['leads', 'show', 'a@x.example', 'b@x.example', '--stage', 'test'], "'leads show' needs one lead id"],
    [['leads', 'show', 'a@x.example', '--stage', 'test', '--yes'], '--yes is no option of this command.'],
    [['leads', 'show', 'a@x.example', '--stage'], "Option '--stage <value>' argument missing."],
    [['leads', 'show', 'a@x.example', '--stgae', 'test'], "Unknown option '--stgae'."],
    [['leads', 'replay', '--stage', 'test'], "'leads replay' needs mail keys or lead ids"],
    [
      ['leads', 'replay', 'a@x.example', '--stage', 'test'],
      "'a@x.example' is neither a mail key nor a lead id.",
    ],
    [
      ['leads', 'replay', 'a#b', '--quarantined', '--stage', 'test'],
      "'leads replay' needs mail keys or lead ids",
    ],
    [['leads', 'replay', '--quarantined', '--unmapped', '--stage', 'test'], "'leads replay' needs mail keys"],
    [['leads', 'replay', 'a#b', '--max', '3', '--stage', 'test'], '--since and --max go with'],
    [['leads', 'replay', 'a#b', '--mailbox', 'INBOX', '--stage', 'test'], '--mailbox goes with --uid.'],
    [
      ['leads', 'replay', '--quarantined', '--since', '3.11.', '--stage', 'test'],
      '--since 3.11.: a date such as',
    ],
    [
      ['leads', 'replay', '--quarantined', '--since', '2026-13-01', '--stage', 'test'],
      '--since 2026-13-01: a date',
    ],
    [['leads', 'replay', '--quarantined', '--max', '-1', '--stage', 'test'], "Option '--max'"],
    [['leads', 'replay', '--uid', '1.5', '--stage', 'test'], '--uid 1.5: a whole number from 1 on'],
    [['leads', 'replay', '--uid', '1', '--stored', '--stage', 'test'], '--stored leaves it alone'],
    [['mail', 'test'], "'mail test' needs a file"],
    [['mail', 'test', 'nowhere.eml'], "nowhere.eml can't be read: ENOENT."],
  ])('refuses %j with exit code 2', async (argv, message) => {
    const { code, out, err } = await operate(argv);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(message);
    expect(err).toContain('npm run ops -- --help shows what there is.');
  });

  it.each([
    [[], '--stage is needed: test or prod.'],
    [['--stage', 'test', 'now'], "'now' is one argument too many."],
    [['--stage', 'prod'], '--to is needed for prod'],
    [['--stage', 'test', '--wait', '0'], '--wait 0: a whole number from 1 on'],
    [['--stage', 'test', '--max', '3'], '--max is no option of this command.'],
  ])('smoke refuses %j with exit code 2', async (argv, message) => {
    const { code, out, err } = await operate(argv, smoke);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(message);
  });

  it('without arguments, and with --help, lists every command', async () => {
    for (const argv of [[], ['--help']]) {
      const { code, out } = await operate(argv);
      expect(code).toBe(0);
      for (const { usage, summary } of ops.commands) expect(out).toContain(`${usage}\n      ${summary}`);
    }
  });

  it('--help with a command tells all about it, and runs nothing', async () => {
    for (const command of ops.commands) {
      const { code, out } = await operate([...command.name.split(' '), '--help']);
      expect([code, out]).toEqual([0, expect.stringContaining(command.help)]);
      for (const option of command.options.filter((name) => !['json', 'help'].includes(name))) {
        expect(out).toContain(`--${option}`);
      }
    }
    expect((await operate(['-h'], smoke)).out).toContain('npm run smoke -- --stage NAME');
  });
});
