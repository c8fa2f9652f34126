import { and, eq, isNotNull } from 'drizzle-orm';
import { calls } from '../db/schema/index.ts';
import { systemClock } from '../platform/clock.ts';
import { createGate, type GateStatus } from '../ringcentral/gate.ts';
import type { Command, CommandContext, ExitCode } from './command.ts';
import { type CommandLine, type CommandShape, UsageError } from './command-line.ts';
import { findStage } from './deployment.ts';
import { openStage, type StageAccess } from './stage-access.ts';
import { field, list, terminalLog } from './terminal.ts';

const groups = ['heavy', 'medium', 'light'] as const;

export const gateStatus: Command = {
  name: 'gate status',
  usage: 'gate status [ACCOUNT] --stage NAME [--json]',
  summary: 'Shows the pacing of each RingCentral account: slots left, penalty, parked calls.',
  options: ['stage', 'json', 'help'],
  help: `ACCOUNT is a RingCentral account id (default: all of the stage's). Changes nothing, and asks RingCentral nothing.
A slot is the right to one request. Closed: RingCentral answered 429, and nobody asks before the time shown.`,
  run,
};

interface AccountGate {
  accountId: string;
  gates: ({ group: string } & GateStatus)[];
  /** Calls that wait for a slot, for the call log, or for a login. */
  parked: number;
}

async function run({ args, options }: CommandLine<CommandShape>, context: CommandContext): Promise<ExitCode> {
  const { deployment, terminal } = context;
  const stage = openStage(deployment, findStage(deployment, options.stage), terminalLog(terminal));
  const accounts = chosenAccounts(stage, args);
  const gates = await Promise.all(accounts.map((accountId) => lookAt(stage, accountId)));
  if (options.json) terminal.out(JSON.stringify({ accounts: gates }));
  else for (const gate of gates) terminal.out(gateText(gate));
  return 0;
}

/** @throws UsageError for an account that isn't the stage's */
export function chosenAccounts(
  { settings }: StageAccess,
  [accountId, ...others]: readonly string[],
): string[] {
  const { accountIds } = settings.ringCentral;
  if (others.length > 0) throw new UsageError('One account id is enough.');
  if (accountId === undefined) return [...accountIds];
  if (!accountIds.includes(accountId)) {
    throw new UsageError(`Stage ${settings.name} has no account ${accountId}: ${accountIds.join(', ')}.`);
  }
  return [accountId];
}

async function lookAt({ callState, neon }: StageAccess, accountId: string): Promise<AccountGate> {
  const gate = createGate(callState, systemClock);
  const gates = await Promise.all(
    groups.map(async (group) => ({ group, ...(await gate.status({ owner: accountId, group })) })),
  );
  const parked = await neon((db) =>
    db.$count(calls, and(eq(calls.accountId, accountId), isNotNull(calls.nextAttemptAt))),
  );
  return { accountId, gates, parked };
}

function gateText({ accountId, gates, parked }: AccountGate): string {
  return [
    `Account ${accountId}`,
    ...gates.map(({ group, limit, windowSeconds, slotsNow, slotsThisMinute, closedUntil }) =>
      field(
        group,
        list(
          closedUntil ? `CLOSED until ${closedUntil.toISOString()}` : 'open',
          `${slotsNow} slots now, ${slotsThisMinute} within a minute`,
          `limit ${limit} in ${windowSeconds} s`,
        ),
      ),
    ),
    field('parked', `${parked} calls wait`),
  ].join('\n');
}
