import { describe, expect, it } from 'vitest';
import type { LeadMailRow, LeadRow } from '../../src/db/schema/index.ts';
import { type Breaker, createBreaker } from '../../src/leads/breaker.ts';
import { createMirror } from '../../src/leads/mirror.ts';
import type { MailRecord, PersistedMail } from '../../src/leads/persist.ts';
import { publishLeadCreated } from '../../src/leads/publish.ts';
import { createStoreDirectory } from '../../src/leads/store-directory.ts';
import { type TakeMailDependencies, takeMail } from '../../src/leads/take-mail.ts';
import type { ParsedMail } from '../../src/mail/parsed-mail.ts';
import type { BusEvent } from '../../src/platform/events.ts';
import { FakeClock, memoryStateTable, recordingLog, recordingMeter } from '../support/fakes.ts';
import { aParsedMail, riversideStore } from '../support/leads.ts';

const position = { mailbox: 'INBOX', uidValidity: 1, uid: 7, receivedAt: new Date('2026-11-03T14:15:00Z') };

/** The row that a database without conflicts would answer. */
function stored({ mail, lead }: MailRecord, over: Partial<LeadMailRow> = {}): PersistedMail {
  const row: LeadRow | null = lead && {
    ...lead,
    bookedMailAt: null,
    lastMailAt: lead.receivedAt,
    syncedAt: lead.receivedAt,
  };
  return {
    mail: {
      ...mail,
      leadId: lead?.id ?? null,
      repeat: false,
      recordedAt: mail.receivedAt,
      publishedAt: null,
      mirrored: false,
      ...over,
    },
    lead: row,
  };
}

/** A mail's way with everything up, every effect written down in order. */
function aWay(over: Partial<TakeMailDependencies> = {}) {
  const effects: string[] = [];
  const sent: { body: unknown; delaySeconds: number | undefined }[] = [];
  const events: BusEvent[] = [];
  const clock = new FakeClock();
  const log = recordingLog();
  const meter = recordingMeter();
  const breaker: Breaker = createBreaker(memoryStateTable(), clock, log);
  const deps: TakeMailDependencies = {
    directory: createStoreDirectory(async () => [riversideStore], clock, log),
    putLegacyLead: async () => {
      effects.push('legacy');
      return 'stored';
    },
    persist: async (record) => {
      effects.push('persist');
      return stored(record);
    },
    publish: (persisted) =>
      publishLeadCreated(
        {
          bus: {
            publish: async (event) => {
              effects.push('publish');
              events.push(event);
            },
          },
          stage: 'prod',
          log,
          meter,
        },
        persisted,
      ),
    markPublished: async () => {
      effects.push('mark');
    },
    breaker,
    databaseState: () => 'down',
    retryQueue: {
      send: async (body, { delaySeconds } = {}) => {
        effects.push('queue');
        sent.push({ body, delaySeconds });
      },
      changeVisibility: async () => {},
    },
    clock,
    log,
    meter,
    ...over,
  };
  const take = (parsed: ParsedMail = aParsedMail()) => takeMail(deps, parsed, position);
  return { take, effects, sent, events, clock, log, meter };
}

const fails = (name: string) => () =>
  Promise.reject(Object.assign(new Error('secret message'), { code: name }));

describe("a mail's way", () => {
  it('commits, publishes, marks: in this order', async () => {
    const { take, effects, events } = aWay();
    expect(await take()).toEqual({ kind: 'settled' });
    expect(effects).toEqual(['legacy', 'persist', 'publish', 'mark']);
    expect(events).toEqual([
      {
        source: 'lead-tracking',
        detailType: 'LeadCreated',
        detail: expect.objectContaining({
          id: 'ana@x.example#+12125550147#2026-11-03',
          phone: '+12125550147',
          franchiseId: 'orangeTheory',
          accountId: '900412',
          storeId: riversideStore.storeId,
          receivedAt: '2026-11-03T14:15:00.000Z',
          stage: 'prod',
          mailKey: 'a'.repeat(64),
          repeat: false,
          mailReceivedAt: '2026-11-03T14:15:00.000Z',
        }),
      },
    ]);
    expect(events[0]?.detail).not.toHaveProperty('rawBody');
  });

  it('goes to the retry queue when Neon fails, and is settled', async () => {
    const { take, sent, events } = aWay({ persist: fails('ECONNRESET') });
    expect(await take()).toEqual({ kind: 'settled' });
    expect(events).toEqual([]);
    expect(sent).toEqual([
      {
        delaySeconds: undefined,
        body: expect.objectContaining({ version: 1, stage: 'neon', error: 'ECONNRESET' }),
      },
    ]);
    expect(sent[0]?.body).toMatchObject({ lead: { firstName: 'Ana' }, mail: { mailKey: 'a'.repeat(64) } });
  });

  it('goes to the retry queue when publishing fails, and is settled', async () => {
    const { take, sent, effects } = aWay({ publish: fails('ThrottlingException') });
    expect(await take()).toEqual({ kind: 'settled' });
    expect(sent[0]?.body).toMatchObject({ stage: 'eventbridge', error: 'ThrottlingException' });
    expect(effects).not.toContain('mark');
  });

  it('keeps the mail when the retry queue refuses it too', async () => {
    const down = { send: fails('QueueDown'), changeVisibility: fails('QueueDown') };
    for (const broken of [{ persist: fails('X') }, { publish: fails('Y') }]) {
      const { take, meter } = aWay({ ...broken, retryQueue: down });
      expect(await take()).toEqual({ kind: 'kept', reason: 'retry_queue_unavailable' });
      expect(meter.totals.MailLead).toBeUndefined();
    }
  });

  it('keeps the mail when the legacy table throws, before anything else is written', async () => {
    const { take, effects } = aWay({ putLegacyLead: fails('ProvisionedThroughputExceededException') });
    expect(await take()).toEqual({ kind: 'kept', reason: 'legacy_put_failed' });
    expect(effects).toEqual([]);
  });

  it('goes on to Neon when the legacy table will never take the item', async () => {
    const { take, effects, meter } = aWay({ putLegacyLead: async () => 'refused' });
    expect(await take()).toEqual({ kind: 'settled' });
    expect(effects).toEqual(['persist', 'publish', 'mark']);
    expect(meter.totals.LegacyPutRefused).toBe(1);
  });

  it('keeps the mail while StoresV2 cannot be read', async () => {
    const clock = new FakeClock();
    const directory = createStoreDirectory(fails('ResourceNotFoundException'), clock, recordingLog());
    const { take, effects } = aWay({ directory });
    expect(await take()).toEqual({ kind: 'kept', reason: 'stores_unavailable' });
    expect(effects).toEqual([]);
  });

  it('does not publish what is published already', async () => {
    const { take, events } = aWay({ persist: async (record) => stored(record, { publishedAt: new Date() }) });
    expect(await take()).toEqual({ kind: 'settled' });
    expect(events).toEqual([]);
  });

  it('is settled although published_at could not be written: the outbox repeats the event', async () => {
    const { take, log } = aWay({ markPublished: fails('ETIMEDOUT') });
    expect(await take()).toEqual({ kind: 'settled' });
    expect(log.lines.map(({ event }) => event)).toContain('lead.publish_mark_failed');
  });

  it('stores a lead of an unknown store, publishes nothing and says so', async () => {
    const { take, events, effects, meter, log } = aWay();
    await take(
      aParsedMail({
        recipients: [{ source: 'to', address: 'lead-tracking+nope@leads.example', trackingId: 'nope' }],
      }),
    );
    expect(effects).toContain('persist');
    expect(events).toEqual([]);
    expect(meter.totals).toMatchObject({ MailLead: 1, MailUnmapped: 1, PublishSkipped: 1 });
    expect(log.lines).toContainEqual({
      level: 'info',
      event: '[EVENTBRIDGE] Skipping — missing required fields',
      fields: { mail_key: 'a'.repeat(64), missing_fields: ['franchiseId', 'accountId', 'storeId'] },
    });
  });

  it.each(['skipped', 'quarantined'] as const)('stores the ledger line alone of %s mail', async (outcome) => {
    const records: MailRecord[] = [];
    const { take, effects, events } = aWay({
      persist: async (record) => {
        records.push(record);
        return stored(record);
      },
    });
    expect(await take(aParsedMail({ outcome, reason: 'unparsed', fields: {} }))).toEqual({ kind: 'settled' });
    expect(records).toEqual([{ mail: expect.objectContaining({ outcome, reason: 'unparsed' }), lead: null }]);
    expect(effects).not.toContain('legacy');
    expect(events).toEqual([]);
  });

  it('counts quarantined mail for one of our stores apart from the rest', async () => {
    const { take, meter } = aWay();
    await take(aParsedMail({ outcome: 'quarantined', reason: 'unparsed' }));
    await take(aParsedMail({ outcome: 'quarantined', reason: 'unparsed', recipients: [] }));
    expect(meter.totals).toMatchObject({ MailQuarantined: 2, MailQuarantinedKnownRecipient: 1 });
  });

  it('sends straight to the queue while the breaker is open, delayed by the rest of the pause', async () => {
    let asked = 0;
    const { take, sent, clock } = aWay({
      persist: () => {
        asked += 1;
        return fails('ETIMEDOUT')();
      },
    });
    for (let mail = 0; mail < 5; mail += 1) await take();
    clock.advance(60_000);
    expect(await take()).toEqual({ kind: 'settled' });
    expect(asked).toBe(5);
    expect(sent.at(-1)).toMatchObject({ delaySeconds: 840, body: { error: 'breaker_open' } });
  });

  it('does not open the breaker for an error that the database itself answered', async () => {
    const { take, log } = aWay({ persist: fails('22021'), databaseState: () => 'up' });
    for (let mail = 0; mail < 8; mail += 1) await take();
    expect(log.lines.map(({ event }) => event)).not.toContain('breaker.opened');
  });

  it('waits for the mirror, whose failure is a warning and ends after three', async () => {
    let writes = 0;
    const log = recordingLog();
    const mirror = createMirror(
      () => {
        writes += 1;
        return fails('ETIMEDOUT')();
      },
      log,
      recordingMeter(),
    );
    const { take, events, sent } = aWay({ mirror });
    for (let mail = 0; mail < 5; mail += 1) expect(await take()).toEqual({ kind: 'settled' });
    expect([writes, events.length, sent.length]).toEqual([3, 5, 0]);
    expect(
      log.lines.filter(({ level, event }) => level === 'warn' && event === 'mirror.failed'),
    ).toHaveLength(3);
  });

  it('logs neither names, addresses, numbers nor error messages', async () => {
    const ways = [
      aWay(),
      aWay({ persist: fails('X') }),
      aWay({ publish: fails('Y') }),
      aWay({ putLegacyLead: fails('Z') }),
      aWay({ markPublished: fails('M') }),
    ];
    for (const { take, log } of ways) {
      await take();
      expect(JSON.stringify(log.lines)).not.toMatch(/ana|lopez|x\.example|2125550147|secret/i);
    }
  });
});
