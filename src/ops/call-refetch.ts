import { and, eq, inArray, sql } from 'drizzle-orm';
import { announceParked, parkCall } from '../calls/parking.ts';
import { calls } from '../db/schema/index.ts';
import { systemClock } from '../platform/clock.ts';
import type { Command, CommandContext, ExitCode } from './command.ts';
import { type CommandLine, type CommandShape, UsageError } from './command-line.ts';
import { findStage } from './deployment.ts';
import { openStage } from './stage-access.ts';
import { terminalLog } from './terminal.ts';

/** RingCentral's pages hold a thousand records; what is asked for by hand is less. */
const maximumSessions = 100;

export const callRefetch: Command = {
  name: 'call refetch',
  usage: 'call refetch SESSION... --stage NAME [--yes] [--json]',
  summary: 'Has the sweep look into the call log again for these telephony sessions.',
  options: ['stage', 'yes', 'json', 'help'],
  help: `SESSION is a telephony session id (s-…) that the database knows; up to ${maximumSessions} of them.

Without --yes: says which calls would be looked up, and changes nothing.
With --yes: the calls are parked, and the sweep takes them within its next minutes: one call-log list for all of
them, then their recordings as RingCentral's limit allows. A recording that is stored already is not fetched again.

Safe to run twice: a call that is parked already stays parked once.`,
  run,
};

async function run({ args, options }: CommandLine<CommandShape>, context: CommandContext): Promise<ExitCode> {
  const { deployment, terminal } = context;
  const sessions = [...new Set(args.map((arg) => arg.trim()))];
  if (sessions.length === 0) throw new UsageError("'call refetch' needs telephony session ids.");
  if (sessions.length > maximumSessions) throw new UsageError(`At most ${maximumSessions} sessions at once.`);
  const wrong = sessions.find((session) => !/^s-[\w-]+$/i.test(session));
  if (wrong !== undefined) throw new UsageError(`'${wrong}' is no telephony session id (s-…).`);
  const stage = openStage(deployment, findStage(deployment, options.stage), terminalLog(terminal));

  const found = await stage.neon((db) =>
    db
      .select({
        accountId: calls.accountId,
        telephonySessionId: calls.telephonySessionId,
        callLogStatus: calls.callLogStatus,
        recordingStatus: calls.recordingStatus,
      })
      .from(calls)
      .where(inArray(calls.telephonySessionId, sessions)),
  );
  const unknown = sessions.filter(
    (session) => !found.some(({ telephonySessionId }) => telephonySessionId === session),
  );
  // All or nothing: a typing error must not send half of a list on its way.
  if (unknown.length > 0) {
    throw new UsageError(`Stage ${stage.settings.name} knows no call ${unknown.join(', ')}.`);
  }

  if (options.yes) {
    const now = systemClock.now();
    for (const key of found) {
      await stage.neon(async (db) => {
        await db
          .update(calls)
          .set({ callLogStatus: 'pending', updatedAt: sql`now()` })
          .where(
            and(eq(calls.accountId, key.accountId), eq(calls.telephonySessionId, key.telephonySessionId)),
          );
        await parkCall(db, key, { step: 'call_log', at: now });
      });
    }
    const accounts = new Set(found.map(({ accountId }) => accountId));
    for (const accountId of accounts) await announceParked(stage.callState, accountId, now);
  }
  if (options.json) terminal.out(JSON.stringify({ dryRun: !options.yes, calls: found }));
  else {
    for (const { accountId, telephonySessionId, callLogStatus, recordingStatus } of found) {
      terminal.out(
        `  ${telephonySessionId} of account ${accountId}: call log ${callLogStatus}, recording ${recordingStatus}`,
      );
    }
    terminal.out(
      options.yes
        ? `${found.length} parked: the sweep looks within its next minutes.`
        : 'Dry run: nothing was changed. --yes has the sweep look.',
    );
  }
  return 0;
}
