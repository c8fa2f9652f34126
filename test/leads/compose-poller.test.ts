import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPoller } from '../../src/leads/compose-poller.ts';
import { retryMessageSchema } from '../../src/leads/retry-message.ts';
import { storeAndPublish } from '../../src/leads/store-and-publish.ts';
import { createStoreDirectory } from '../../src/leads/store-directory.ts';
import { createStoring } from '../../src/leads/storing.ts';
import type { BusEvent } from '../../src/platform/events.ts';
import { createStateTable } from '../../src/platform/state-table.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { startDynamoDb } from '../support/dynamodb.ts';
import { FakeClock, recordingLog, recordingMeter } from '../support/fakes.ts';
import { riversideStore } from '../support/leads.ts';
import { baseText, mailSource } from '../support/mails.ts';
import { MemoryMailbox } from '../support/memory-mailbox.ts';
import { recordingQueue } from '../support/sqs.ts';

let dynamo: Awaited<ReturnType<typeof startDynamoDb>>;
let database: TestDatabase;
beforeAll(async () => {
  dynamo = await startDynamoDb();
});
afterAll(() => dynamo.stop());
beforeEach(async () => {
  database = await freshDatabase();
});

let tables = 0;

/** The poller as the handler puts it together, on a folder in memory; `neonWorks` decides about the database. */
async function aPoller() {
  const TableName = `composed-${++tables}`;
  await dynamo.createTable({ TableName });
  const mailbox = new MemoryMailbox();
  const events: BusEvent[] = [];
  const clock = new FakeClock();
  const log = recordingLog();
  const meter = recordingMeter();
  const queue = recordingQueue();
  const world = { neonWorks: true };
  const parts = {
    stage: 'prod',
    neon: {
      run: async <T>(work: (db: TestDatabase['db']) => Promise<T>) => {
        if (!world.neonWorks) throw new Error('Neon is down');
        return work(database.db);
      },
    },
    state: createStateTable(TableName, dynamo.client),
    bus: { publish: async (event: BusEvent) => void events.push(event) },
    directory: createStoreDirectory(async () => [riversideStore], clock, log),
    retryQueue: queue,
    openMailbox: async () => mailbox,
    isOpen: () => false,
    clock,
    log,
    meter,
  };
  const runTick = createPoller(parts);
  const tick = async () => {
    await runTick({ id: `invocation-${clock.now().getTime()}`, remainingMs: () => 240_000 }, ['INBOX']);
    clock.advance(5 * 60_000);
  };
  /** What the retry processor does with each message. */
  const retry = async () => {
    for (const message of queue.sent.splice(0)) {
      const { mail, lead } = retryMessageSchema.parse(JSON.parse(JSON.stringify(message)));
      await storeAndPublish(createStoring(parts, 1_000), { mail, lead });
    }
  };
  return { mailbox, events, world, tick, retry, messages: queue.sent };
}

const booking = mailSource({ text: `${baseText}\nClass Date: 11-07-2026` }).toString();
const cancellation = mailSource({
  headers: { Subject: 'Canceled: Ana Lopez - Sat, Nov 7, 2026', 'Message-ID': '<a2@forms.example>' },
}).toString();

describe('the poller put together', () => {
  it('M58 a cancellation that overtakes its lead in the retry queue finds it at a later tick', async () => {
    const { mailbox, events, world, tick, retry, messages } = await aPoller();
    world.neonWorks = false;
    mailbox.add(booking, { receivedAt: new Date('2026-11-03T13:50:00Z') });
    await tick();
    expect(messages).toHaveLength(1);
    world.neonWorks = true;
    mailbox.add(cancellation, { receivedAt: new Date('2026-11-03T14:02:00Z') });
    await tick();
    const lines = () =>
      database.query('select outcome, lead_id, repeat from lead_mails order by received_at');
    expect(await lines()).toEqual([{ outcome: 'cancellation', lead_id: null, repeat: false }]);
    await retry();
    await tick();
    const lead_id = 'ana@x.example#+12125550147#2026-11-03';
    expect(await lines()).toEqual([
      { outcome: 'lead', lead_id, repeat: false },
      { outcome: 'cancellation', lead_id, repeat: false },
    ]);
    expect(await database.query('select event_type, entity_id from contact_timeline')).toEqual([
      { event_type: 'lead.booking_cancelled', entity_id: lead_id },
    ]);
    expect(events.map(({ detailType }) => detailType)).toEqual(['LeadCreated']);
    expect(mailbox.mails.every(({ seen }) => seen)).toBe(true);
  });
});
