import { describe, expect, it } from 'vitest';
import type { CallLogRecord, CallLogSnapshot } from '../../src/ringcentral/schemas.ts';
import { recordingsOf, sessionSnapshot } from '../../src/ringcentral/snapshot.ts';

const record = (id: string, more: Partial<CallLogRecord> = {}): CallLogRecord => ({
  id,
  uri: `https://platform.ringcentral.com/${id}`,
  sessionId: '318',
  ...more,
});
const listOf = (...records: CallLogRecord[]): CallLogSnapshot => ({
  fetchedAt: '2026-03-04T15:00:00.000Z',
  coverage: 'account',
  records,
});

describe("a session's part of a list", () => {
  const list = listOf(
    record('Q1', { telephonySessionId: 's-1' }),
    record('Q2', { telephonySessionId: 's-2', legs: [{ telephonySessionId: 's-1' }] }),
    record('Q3', { telephonySessionId: 's-3' }),
    record('Q4', { sessionId: '777' }),
  );
  const idsOf = (telephonySessionId: string, sessionId?: string) =>
    sessionSnapshot(list, { telephonySessionId, sessionId })?.records.map(({ id }) => id);

  it('has its records, also those that name it on a leg only, with time and coverage of the list', () => {
    expect(idsOf('s-1')).toEqual(['Q1', 'Q2']);
    expect(sessionSnapshot(list, { telephonySessionId: 's-3' })).toMatchObject({
      fetchedAt: list.fetchedAt,
      coverage: 'account',
    });
  });

  it('has a record without any telephony session by its session id', () => {
    expect(idsOf('s-9', '777')).toEqual(['Q4']);
    expect(idsOf('s-9', '318')).toBeUndefined();
  });

  it('is nothing when the list does not know the session', () => {
    expect(idsOf('s-9')).toBeUndefined();
  });
});

describe('recordings of a snapshot', () => {
  it('are taken once each, with the address from wherever it stands, by the start of their first leg', () => {
    const snapshot = listOf(
      record('Q1', {
        startTime: '2026-03-04T15:00:00.000Z',
        recording: { id: '2' },
        legs: [
          { startTime: '2026-03-04T15:05:00.000Z', recording: { id: '2', contentUri: 'https://m/2' } },
          { startTime: '2026-03-04T14:59:00.000Z', recording: { id: '1', contentUri: 'https://m/1' } },
        ],
      }),
      record('Q2', { startTime: '2026-03-04T15:01:00.000Z', recording: { id: '3' } }),
    );
    expect(recordingsOf(snapshot)).toEqual([
      { id: '1', contentUri: 'https://m/1', startTime: '2026-03-04T14:59:00.000Z' },
      { id: '2', contentUri: 'https://m/2', startTime: '2026-03-04T15:00:00.000Z' },
      { id: '3', startTime: '2026-03-04T15:01:00.000Z' },
    ]);
  });

  it('are none when no leg has one', () => {
    expect(recordingsOf(listOf(record('Q1', { legs: [{}] })))).toEqual([]);
  });
});
