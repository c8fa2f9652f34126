import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { MailPosition, TakeMailResult } from '../../src/leads/take-mail.ts';
import { runTick, type TickDependencies } from '../../src/leads/tick.ts';
import type { ImapOptions } from '../../src/mail/imap-connection.ts';
import { openImapMailbox } from '../../src/mail/imap-mailbox.ts';
import type { ImapSettings } from '../../src/mail/mailbox.ts';
import { parseMail } from '../../src/mail/parse.ts';
import type { ParsedMail } from '../../src/mail/parsed-mail.ts';
import { quarantineByEnvelope } from '../../src/mail/quarantine.ts';
import { createStateTable } from '../../src/platform/state-table.ts';
import { FakeClock, recordingLog, recordingMeter } from './fakes.ts';

/** Half a second instead of half a minute, so that a silent server costs a test little. */
const shortTimes: ImapOptions = {
  connectionTimeout: 500,
  greetingTimeout: 500,
  socketTimeout: 500,
  commandTimeout: 3_000,
};

interface TakenMail {
  parsed: ParsedMail;
  position: MailPosition;
}

/**
 * The poller over real IMAP: tick, lease, progress, adapter and parser are the real ones, only the lead's
 * further way (`take`) is the test's: by default every mail is stored.
 */
export async function imapPoller(
  dynamoDb: { client: DynamoDBClient; createTable(input: { TableName: string }): Promise<void> },
  openSettings: ImapSettings | ((folder: string) => ImapSettings),
  over: Partial<TickDependencies> = {},
) {
  const TableName = `state-${Math.random().toString(36).slice(2)}`;
  await dynamoDb.createTable({ TableName });
  const state = createStateTable(TableName, dynamoDb.client);
  const taken: TakenMail[] = [];
  const log = recordingLog();
  const meter = recordingMeter();
  const clock = new FakeClock();
  const settingsOf = typeof openSettings === 'function' ? openSettings : () => openSettings;
  let invocations = 0;

  async function tick(folders = ['INBOX'], once: Partial<TickDependencies> = {}) {
    invocations += 1;
    const deps: TickDependencies = {
      state,
      openMailbox: (folder) => openImapMailbox(settingsOf(folder), folder, shortTimes),
      invocationId: `invocation-${invocations}`,
      housekeeping: async () => {},
      parse: (source) => parseMail(source),
      quarantine: quarantineByEnvelope,
      take: async (parsed, position): Promise<TakeMailResult> => {
        taken.push({ parsed, position });
        return { kind: 'settled' };
      },
      remainingMs: () => 240_000,
      clock,
      log,
      meter,
      ...over,
      ...once,
    };
    try {
      return await runTick(deps, folders);
    } finally {
      clock.advance(5 * 60_000);
    }
  }
  return { tick, taken, state, log, meter, clock };
}
