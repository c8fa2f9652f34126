import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallWork } from '../../src/calls/message.ts';
import { redrive, redriveDelay } from '../../src/calls/redrive.ts';
import { FakeClock, recordingLog, recordingMeter } from '../support/fakes.ts';
import { anEvent } from './events.ts';

const limited = { kind: 'redrive', step: 'call_log', retryAfterSeconds: 60, group: 'heavy' } as const;
const session: CallWork = {
  kind: 'session',
  accountId: '900412',
  telephonySessionId: 's-77aa',
  redriveCount: 0,
};
const ids = { account_id: '900412', telephony_session_id: 's-77aa', rate_limit_group: 'heavy' };

function aWorld(send?: () => Promise<void>) {
  const sent: { body: unknown; delaySeconds: number | undefined }[] = [];
  const log = recordingLog();
  const meter = recordingMeter();
  const deps = {
    queue: {
      send: async (body: unknown, options?: { delaySeconds?: number }) => {
        await send?.();
        sent.push({ body, delaySeconds: options?.delaySeconds });
      },
    },
    clock: new FakeClock('2026-03-04T15:25:00.000Z'),
    log,
    meter,
    random: () => 0,
  };
  return { deps, sent, log, meter };
}

describe('redriveDelay', () => {
  it('is Retry-After and a spread of 2 to 10 minutes, in whole seconds, at most 900', () => {
    fc.assert(
      fc.property(
        fc.nat(2000),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (retryAfter, random) => {
          const delay = redriveDelay(retryAfter, () => random);
          expect(Number.isInteger(delay)).toBe(true);
          expect(delay).toBeGreaterThanOrEqual(Math.min(900, retryAfter + 120));
          expect(delay).toBeLessThanOrEqual(Math.min(900, retryAfter + 600));
        },
      ),
    );
  });

  it('spreads over the whole range', () => {
    expect([0, 0.5, 0.999].map((random) => redriveDelay(60, () => random))).toEqual([180, 420, 660]);
  });
});

describe('redrive', () => {
  it('sends a clone with one redrive more, and then lets the original go', async () => {
    const { deps, sent, log, meter } = aWorld();
    expect(await redrive(deps, session, limited)).toBe(true);
    expect(sent).toEqual([
      {
        body: { version: 1, ...session, redriveCount: 1, sentAt: '2026-03-04T15:25:00.000Z' },
        delaySeconds: 180,
      },
    ]);
    expect(log.lines).toEqual([
      {
        level: 'warn',
        event: 'ringcentral.redrive_scheduled',
        fields: { ...ids, redrive_count: 1, delay_seconds: 180 },
      },
      {
        level: 'info',
        event: 'ringcentral.redrive_acknowledged',
        fields: { ...ids, previous_redrive_count: 0, retry_outcome: 'clone_sent' },
      },
    ]);
    expect(meter.totals).toEqual({ CallRedriven: 1 });
  });

  it('keeps the event of a webhook in its clone', async () => {
    const { deps, sent } = aWorld();
    const event = anEvent({ code: 'Disconnected', sequence: 9 });
    await redrive(deps, { ...session, kind: 'telephony', event, redriveCount: 4 }, limited);
    expect(sent[0]?.body).toMatchObject({ kind: 'telephony', event, redriveCount: 5 });
  });

  it.each([5, 6, 40])('after %i redrives sends nothing and keeps the message', async (redriveCount) => {
    const { deps, sent, log, meter } = aWorld();
    expect(await redrive(deps, { ...session, redriveCount }, limited)).toBe(false);
    expect(sent).toEqual([]);
    expect(log.lines).toEqual([
      {
        level: 'error',
        event: 'ringcentral.redrive_exhausted',
        fields: { ...ids, redrive_count: redriveCount, retry_outcome: 'batch_item_failure' },
      },
    ]);
    expect(meter.totals).toEqual({});
  });

  it('keeps the original when the clone can`t be sent, and tells of no redrive', async () => {
    const { deps, log } = aWorld(async () => {
      throw new Error('queue down');
    });
    await expect(redrive(deps, session, limited)).rejects.toThrow('queue down');
    expect(log.lines).toEqual([]);
  });
});
