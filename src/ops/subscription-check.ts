import type { Subscription } from '../ringcentral/schemas.ts';
import type { Command, CommandContext, ExitCode } from './command.ts';
import type { CommandLine, CommandShape } from './command-line.ts';
import { findStage } from './deployment.ts';
import { chosenAccounts } from './gate-status.ts';
import { openStage } from './stage-access.ts';
import { field, list, terminalLog } from './terminal.ts';

export const subscriptionCheck: Command = {
  name: 'subscription check',
  usage: 'subscription check [ACCOUNT] --stage NAME [--json]',
  summary: "Asks RingCentral whether each account's webhook subscription is active.",
  options: ['stage', 'json', 'help'],
  help: `ACCOUNT is a RingCentral account id (default: all of the stage's). Changes nothing.
One Light request an account, paced by the same gate and with the same token as the functions. The sweep asks the
same each hour, and makes a subscription anew that is not active. Ends with 1 when one of them isn't.`,
  run,
};

interface Checked {
  accountId: string;
  /** One is active that posts to this account's path. */
  active: boolean;
  subscriptions: Subscription[];
  /** Why RingCentral could not be asked. */
  failure?: string;
}

async function run({ args, options }: CommandLine<CommandShape>, context: CommandContext): Promise<ExitCode> {
  const { deployment, terminal } = context;
  const stage = openStage(deployment, findStage(deployment, options.stage), terminalLog(terminal));
  const { subscriptions } = stage.ringCentral();
  const checked: Checked[] = [];
  for (const accountId of chosenAccounts(stage, args)) {
    const outcome = await subscriptions.list(accountId);
    if (outcome.kind !== 'ok') {
      const { kind } = outcome;
      const failure = 'reason' in outcome ? `${kind}: ${outcome.reason}` : kind;
      checked.push({ accountId, active: false, subscriptions: [], failure });
      continue;
    }
    const own = outcome.value.filter(({ deliveryMode }) =>
      deliveryMode?.address?.endsWith(`/ringcentral/${accountId}`),
    );
    const active = own.some(({ status }) => status === 'Active');
    checked.push({ accountId, active, subscriptions: own });
  }
  if (options.json) terminal.out(JSON.stringify({ accounts: checked }));
  else for (const one of checked) terminal.out(checkedText(one));
  return checked.every(({ active }) => active) ? 0 : 1;
}

function checkedText({ accountId, active, subscriptions, failure }: Checked): string {
  return [
    `Account ${accountId}: ${active ? 'active' : 'NOT ACTIVE'}`,
    ...(failure ? [field('failure', failure)] : []),
    ...(!failure && subscriptions.length === 0 ? [field('found', 'no subscription that posts to it')] : []),
    ...subscriptions.map(({ id, status, expirationTime, deliveryMode, disabledFilters, blacklistedData }) =>
      field(
        status ?? 'unknown',
        list(
          id,
          deliveryMode?.address,
          expirationTime && `until ${expirationTime}`,
          disabledFilters && disabledFilters.length > 0 && `${disabledFilters.length} filters disabled`,
          blacklistedData?.reason,
        ),
      ),
    ),
  ].join('\n');
}
