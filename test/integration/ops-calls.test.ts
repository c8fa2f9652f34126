import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stages } from '../../lib/config.ts';
import { type Simulator, startSimulator } from '../../local/ringcentral/simulator.ts';
import { recordCallEvent } from '../../src/calls/call-store.ts';
import { readParties } from '../../src/calls/lifecycle.ts';
import { parkedItemKey } from '../../src/calls/parking.ts';
import { callRecordings, transcripts } from '../../src/db/schema/index.ts';
import { createGate } from '../../src/ringcentral/gate.ts';
import { anEvent, type EventOptions, instantOf } from '../calls/events.ts';
import { type OperatorStage, operate, operateJson, startOperatorStage } from '../ops/operator-stage.ts';
import { riversideStore } from '../support/leads.ts';

const settings = stages.find(({ name }) => name === 'test');
const accountId = settings?.ringCentral.accountIds[0] ?? '';
const toTest = ['--stage', 'test'];

let stage: OperatorStage;
let simulator: Simulator | undefined;
beforeEach(async () => {
  stage = await startOperatorStage();
});
afterEach(async () => {
  await simulator?.stop();
  simulator = undefined;
  await stage.close();
});

const store = { storeId: riversideStore.storeId, franchiseId: 'orangeTheory' };

/** An event as the processor stores it. */
async function told(options: EventOptions) {
  const event = anEvent(options);
  const parties = readParties(event).map((party) => ({ ...party, store }));
  await recordCallEvent(stage.database.db, { accountId, event, parties }, instantOf(0));
}

async function aTranscribedCall() {
  await told({ sequence: 1, code: 'Setup' });
  await told({ sequence: 4, code: 'Disconnected', at: 190 });
  const { db } = stage.database;
  await db.insert(callRecordings).values({
    recordingId: '5512',
    accountId,
    telephonySessionId: 's-77aa',
    contentUri: 'https://media.ringcentral.com/x',
    s3Key: `recordings/${accountId}/2026/03/5512.mp3`,
    bytes: 4000,
    storedAt: instantOf(300),
    transcriptionStatus: 'completed',
  });
  await db.insert(transcripts).values({
    source: 'recording',
    sourceId: '5512',
    text: 'Can I come in on Friday?',
    segments: [],
    language: 'en-US',
    speakerBasis: 'channel',
  });
}

const callRow = async () =>
  (await stage.database.query('select next_step, next_attempt_at, call_log_status from calls'))[0];

describe('call show', () => {
  it.each([
    ['telephony session', 's-77aa'],
    ['phone', '(415) 555-0111'],
  ])(
    'by %s: row, recording, transcript, timeline, messages of the dead-letter queue',
    async (kind, which) => {
      await aTranscribedCall();
      await stage.send('transcribe-dlq', { kind: 'session', accountId, telephonySessionId: 's-77aa' });
      await stage.send('transcribe-dlq', { kind: 'session', accountId, telephonySessionId: 's-other' });
      const { code, printed } = await operateJson('call', 'show', which, ...toTest);
      expect([code, printed.query.kind]).toEqual([0, kind]);
      expect(printed.calls).toMatchObject([
        {
          call: { telephonySessionId: 's-77aa', accountId, status: 'disconnected' },
          recordings: [{ recordingId: '5512', transcriptionStatus: 'completed' }],
          transcripts: [{ text: 'Can I come in on Friday?' }],
          timeline: [{ eventType: 'call.setup' }, { eventType: 'call.disconnected' }],
        },
      ]);
      expect(printed.calls[0].call).not.toHaveProperty('snapshot');
      expect(printed.queues[1]).toMatchObject({ looked: 2, messages: [{ telephonySessionId: 's-77aa' }] });
      expect(await stage.inFlight('transcribe-dlq')).toBe(2);
    },
  );

  it('as text: where it stands, without what was said', async () => {
    await aTranscribedCall();
    const { code, out } = await operate(['call', 'show', 's-77aa', ...toTest]);
    expect(code).toBe(0);
    expect(out).toContain('recording  pending');
    expect(out).toContain('5512: recordings/');
    expect(out).toContain('not parked');
    expect(out).not.toContain('Friday');
  });

  it('says when there is nothing, and refuses what is no session or number', async () => {
    expect(await operate(['call', 'show', 's-none', ...toTest])).toMatchObject({ code: 1 });
    expect(await operate(['call', 'show', 'Ana', ...toTest])).toMatchObject({ code: 2 });
    expect(await operate(['call', 'show', 's-1'])).toMatchObject({ code: 2 });
  });
});

describe('call refetch', () => {
  it('without --yes says what it would do, and changes nothing', async () => {
    await aTranscribedCall();
    const { code, printed } = await operateJson('call', 'refetch', 's-77aa', ...toTest);
    expect([code, printed.dryRun]).toEqual([0, true]);
    expect(await callRow()).toMatchObject({ next_step: null, next_attempt_at: null });
    expect(await stage.callState.get(parkedItemKey(accountId))).toBeUndefined();
  });

  it('with --yes parks the call for the sweep; twice is as once', async () => {
    await aTranscribedCall();
    for (const _ of [1, 2]) {
      const { code } = await operate(['call', 'refetch', 's-77aa', ...toTest, '--yes']);
      expect(code).toBe(0);
    }
    expect(await callRow()).toMatchObject({ next_step: 'call_log', call_log_status: 'pending' });
    expect((await callRow())?.next_attempt_at).not.toBeNull();
    expect(await stage.callState.get(parkedItemKey(accountId))).toBeDefined();
  });

  it('refuses the whole list for one unknown session', async () => {
    await aTranscribedCall();
    const { code, err } = await operate(['call', 'refetch', 's-77aa', 's-typo', ...toTest, '--yes']);
    expect(code).toBe(2);
    expect(err).toContain('s-typo');
    expect(await callRow()).toMatchObject({ next_attempt_at: null });
  });
});

describe('gate status', () => {
  it('shows slots, penalty and parked calls of each account', async () => {
    const gate = createGate(stage.callState, { now: () => new Date() });
    await gate.close({ owner: accountId, group: 'heavy' }, 600);
    await aTranscribedCall();
    const before = await operate(['gate', 'status', accountId, ...toTest]);
    expect([before.code, before.out.includes('0 calls wait')]).toEqual([0, true]);
    await operate(['call', 'refetch', 's-77aa', ...toTest, '--yes']);
    const { code, printed } = await operateJson('gate', 'status', ...toTest);
    expect(code).toBe(0);
    const own = printed.accounts.find((one: { accountId: string }) => one.accountId === accountId);
    expect(own.parked).toBe(1);
    const heavy = own.gates.find(({ group }: { group: string }) => group === 'heavy');
    expect(heavy).toMatchObject({ slotsNow: 0, limit: 10, windowSeconds: 60 });
    expect(new Date(heavy.closedUntil).getTime()).toBeGreaterThan(Date.now() + 500_000);
    const { out } = await operate(['gate', 'status', accountId, ...toTest]);
    expect(out).toContain('CLOSED until');
    expect(out).toContain('1 calls wait');
  });

  it('refuses an account that is not the stage’s', async () => {
    expect(await operate(['gate', 'status', '1', ...toTest])).toMatchObject({ code: 2 });
  });
});

describe('subscription check', () => {
  it('asks RingCentral once an account: no subscription, then an active one', async () => {
    const client = { clientId: 'client-a', clientSecret: 'secret-a', jwt: 'jwt-a' };
    const account = { accountId, ...client, ownerExtensionId: '1' };
    simulator = await startSimulator({ accounts: [account] });
    const parameter = { server: simulator.url, ...client, webhookVerificationTokens: ['v'] };
    const name = `${settings?.ringCentral.parameterPrefix}/${accountId}`;
    stage.callParameters.set(name, JSON.stringify(parameter));
    const { code, printed } = await operateJson('subscription', 'check', accountId, ...toTest);
    expect(code).toBe(1);
    expect(printed.accounts).toEqual([{ accountId, active: false, subscriptions: [] }]);
    expect(simulator.journal.map(({ surface }) => surface)).toEqual(['oauth_token', 'subscription']);
  });

  it('says why it could not ask', async () => {
    const { code, out } = await operate(['subscription', 'check', accountId, ...toTest]);
    expect(code).toBe(1);
    expect(out).toContain('unknown_account');
  });
});
