import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { recordCallEvent } from '../../src/calls/call-store.ts';
import { readParties } from '../../src/calls/lifecycle.ts';
import { announceParked, moveOn, park, parkCall, parkedItemKey } from '../../src/calls/parking.ts';
import { callStateTable } from '../simulation/call-state-table.ts';
import { freshDatabase, type TestDatabase } from '../support/database.ts';
import { brokenStateTable, FakeClock, recordingLog, recordingMeter } from '../support/fakes.ts';
import { accountId, anEvent, instantOf } from './events.ts';

const key = { accountId, telephonySessionId: 's-77aa' };
const now = new Date('2026-03-04T15:25:00.000Z');
const later = (seconds: number) => new Date(now.getTime() + seconds * 1000);

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
beforeEach(async () => {
  await database.query('truncate calls');
  const event = anEvent({ code: 'Disconnected' });
  const parties = readParties(event).map((party) => ({ ...party, store: undefined }));
  await recordCallEvent(database.db, { accountId, event, parties }, instantOf(0));
});

const parked = () => database.query('select next_step, next_attempt_at from calls');

function dependencies(state = callStateTable() as typeof brokenStateTable) {
  const log = recordingLog();
  const meter = recordingMeter();
  const run = <T>(work: (db: TestDatabase['db']) => Promise<T>) => work(database.db);
  return { neon: { run }, state, clock: new FakeClock(now.toISOString()), log, meter };
}

describe('park', () => {
  it('writes the next step and its time on the row, and the sign for the sweep', async () => {
    const state = callStateTable();
    const deps = dependencies(state);
    await park(deps, key, { kind: 'park', step: 'recording', waitSeconds: 8, group: 'heavy' }, later(60));
    expect(await parked()).toEqual([{ next_step: 'recording', next_attempt_at: later(8) }]);
    expect(state.items.get(parkedItemKey(accountId))).toMatchObject({
      parked_at: now.getTime(),
      announcements: 1,
    });
    expect(deps.log.lines).toEqual([
      {
        level: 'info',
        event: 'ringcentral.parked',
        fields: {
          account_id: accountId,
          telephony_session_id: 's-77aa',
          next_step: 'recording',
          wait_seconds: 8,
          rate_limit_group: 'heavy',
        },
      },
    ]);
    expect(deps.meter.totals).toEqual({ CallParked: 1 });
  });

  it('that can`t give the sign rejects, so that the message stays: the row alone would not be found', async () => {
    const result = { kind: 'park', step: 'call_log', waitSeconds: 0 } as const;
    const deps = dependencies(brokenStateTable);
    await expect(park(deps, key, result, later(60))).rejects.toThrow('state table down');
    expect(await parked()).toEqual([{ next_step: 'call_log', next_attempt_at: now }]);
    expect(deps.log.lines).toEqual([]);
  });

  it('gives no sign of a row that could not be written', async () => {
    const state = callStateTable();
    const run = () => Promise.reject(new Error('database down'));
    const result = { kind: 'park', step: 'call_log', waitSeconds: 0 } as const;
    const deps = { ...dependencies(state), neon: { run } };
    await expect(park(deps, key, result, later(60))).rejects.toThrow('database down');
    expect(state.items.size).toBe(0);
  });

  it('announces each time anew, so that the sweep takes no sign off that it has not seen', async () => {
    const state = callStateTable();
    await announceParked(state, accountId, now);
    await announceParked(state, accountId, later(1));
    expect(state.items.get(parkedItemKey(accountId))).toMatchObject({ announcements: 2 });
  });
});

describe('parkCall', () => {
  it.each([
    ['call_log', 'recording', 'call_log'],
    ['call_log', 'extension_call_log', 'call_log'],
    ['extension_call_log', 'voicemail', 'extension_call_log'],
    ['recording', 'transcription', 'recording'],
    ['recording', 'call_log', 'call_log'],
    ['voicemail', 'recording', 'recording'],
  ] as const)('a session parked for %s, then for %s, waits for %s', async (first, second, expected) => {
    await parkCall(database.db, key, { step: first, at: later(0) });
    await parkCall(database.db, key, { step: second, at: later(9) });
    expect(await parked()).toEqual([{ next_step: expected, next_attempt_at: later(9) }]);
  });

  it('an earlier step that a message carries already does not hold the later one back', async () => {
    await parkCall(database.db, key, { step: 'call_log', at: later(0) });
    await moveOn(database.db, key, { nextStep: 'call_log', nextAttemptAt: later(0) }, 'sent');
    await parkCall(database.db, key, { step: 'recording', at: later(9) });
    expect(await parked()).toEqual([{ next_step: 'recording', next_attempt_at: later(9) }]);
  });
});

describe('moveOn', () => {
  const seen = { nextStep: 'call_log', nextAttemptAt: later(0) } as const;
  beforeEach(() => parkCall(database.db, key, { step: seen.nextStep, at: seen.nextAttemptAt }));

  it('takes a session out of the parked ones and keeps its step for the message', async () => {
    await moveOn(database.db, key, seen, 'sent');
    expect(await parked()).toEqual([{ next_step: 'call_log', next_attempt_at: null }]);
  });

  it('leaves nothing to do where nothing is', async () => {
    await moveOn(database.db, key, seen, 'done');
    expect(await parked()).toEqual([{ next_step: null, next_attempt_at: null }]);
  });

  it('parks it for another step', async () => {
    await moveOn(database.db, key, seen, { step: 'recording', at: later(30) });
    expect(await parked()).toEqual([{ next_step: 'recording', next_attempt_at: later(30) }]);
  });

  it('leaves alone what was parked anew since it was seen', async () => {
    await parkCall(database.db, key, { step: 'call_log', at: later(5) });
    await moveOn(database.db, key, seen, 'sent');
    expect(await parked()).toEqual([{ next_step: 'call_log', next_attempt_at: later(5) }]);
  });
});
