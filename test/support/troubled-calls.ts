import type { Notification } from '../../local/calls/call-files.ts';
import { notificationsOf } from '../../local/calls/telephony.ts';
import { audioStream } from '../../local/ringcentral/audio.ts';
import { answeredCall, missedCall, voicemailCall } from '../../local/ringcentral/sample-calls.ts';
import type { SimulatedCall } from '../../local/ringcentral/world.ts';
import type { LocalStage } from '../../local/stage.ts';
import { logEvents } from '../../src/platform/log-events.ts';
import type { LogRecord } from './logs-insights.ts';
import type { Surroundings } from './troubled-run.ts';

/** Of both stages, of prod alone, and one that only a parameter tells of. */
const bothAccount = '400131426008';
const prodAccount = '400255317009';
export const unwatchedAccount = '900000000001';

interface Troubles {
  stage: LocalStage;
  prod: Surroundings;
  test: Surroundings;
  records(services?: readonly string[], stageName?: string): LogRecord[];
  until(what: string, condition: () => boolean | Promise<boolean>): Promise<void>;
  /** The database of prod refuses so many statements. */
  refuse(statement: RegExp, times: number): void;
}

const ended = (number: number, accountId = bothAccount) => ({
  accountId,
  number,
  // Over by now, with whatever RingCentral still had to do afterwards.
  startedAt: new Date(Date.now() - 20 * 60_000),
  businessNumber: '+12125550100',
});

const wordless = (call: SimulatedCall): SimulatedCall => ({
  ...call,
  voicemails: call.voicemails.map((voicemail) => ({ ...voicemail, transcription: 'NotAvailable' })),
});

const long = (call: SimulatedCall): SimulatedCall => ({
  ...call,
  voicemails: call.voicemails.map((voicemail) => ({
    ...voicemail,
    transcription: 'NotAvailable',
    audio: { format: 'wav', seconds: 1150 },
  })),
});

/** One call for each end that a call's way can take. */
function makeCalls() {
  return {
    normal: answeredCall(ended(301)),
    missed: missedCall(ended(302)),
    voicemail: wordless(voicemailCall(ended(303))),
    forbidden: answeredCall(ended(304)),
    // Long enough for several parts of an upload before it breaks off.
    cutShort: answeredCall({
      ...ended(305),
      startedAt: new Date(Date.now() - 60 * 60_000),
      talkSeconds: 1150,
      format: 'wav',
    }),
    longVoicemail: long(voicemailCall(ended(311))),
    refused: answeredCall(ended(306, prodAccount)),
    exhausted: answeredCall(ended(307, unwatchedAccount)),
    inTest: answeredCall(ended(308)),
    notWritten: answeredCall(ended(309)),
    withoutWebhook: answeredCall(ended(310)),
  };
}

export type CallName = keyof ReturnType<typeof makeCalls>;

/** A recording and a voicemail of yesterday whose jobs nobody knows any more. */
export const lost = { recording: '5500399', voicemail: '6600399' };
/** The job of `normal`, whose end EventBridge doesn't tell. */
export const untoldJob = 'prod-rec-55003010';

/** Plays the calls one after the other; the answer says what ids they have. */
export async function callsInTrouble({ stage, prod, test, records, until, refuse }: Troubles) {
  const calls = makeCalls();
  const idOf = (name: CallName) => calls[name].telephonySessionId;
  const { simulator } = prod.telephony;
  const originOf = (stageName: string) => {
    const [, origin = ''] =
      [...stage.webOrigins].find(([name]) => name.includes('-test-') === (stageName === 'test')) ?? [];
    return origin;
  };
  const play = ({ telephony }: Surroundings, stageName: string, ...names: CallName[]) => {
    const some = names.map((name) => calls[name]);
    return telephony.play(originOf(stageName), some, notificationsOf(some));
  };
  const logged = (event: string, name: CallName) =>
    until(`${event} of ${name}`, () =>
      records().some(
        ({ message, telephony_session_id }) => message === event && telephony_session_id === idOf(name),
      ),
    );

  const forbidden = { kind: 'status', status: 403, errorCode: 'CMN-408' } as const;
  simulator.faults.add({
    surface: 'account_call_log',
    fault: forbidden,
    pathIncludes: encodeURIComponent(idOf('forbidden')),
  });
  const [recording] = calls.cutShort.recordings;
  const [message] = calls.longVoicemail.voicemails;
  const truncate = { kind: 'truncate' } as const;
  simulator.faults.add({
    surface: 'recording_content',
    fault: truncate,
    pathIncludes: `/recording/${recording?.id}/`,
  });
  simulator.faults.add({
    surface: 'voicemail_transcript_content',
    fault: truncate,
    pathIncludes: `/message-store/${message?.id}/content/${message?.id}`,
  });

  await postWith(originOf('prod'), 'a wrong secret', notificationsOf([calls.normal]));
  // Alone, so that they find slots, and come to their ends before the sweep's first tick.
  await play(prod, 'prod', 'normal');
  await logged(logEvents.transcriptionStarted, 'normal');
  await startEarlier(prod, 'normal');
  await play(prod, 'prod', 'forbidden');
  await logged(logEvents.recordingAvailabilityObserved, 'forbidden');
  await play(prod, 'prod', 'missed', 'voicemail');
  await play(test, 'test', 'inTest');
  await rememberLostJobs(stage, prod);
  simulator.calls.push(calls.withoutWebhook);
  const has = (event: string, name: CallName) =>
    records().some(
      ({ message, telephony_session_id }) => message === event && telephony_session_id === idOf(name),
    );
  await sweepUntil('recordings and voicemail are stored', () =>
    [
      has(logEvents.recordingStored, 'normal'),
      has(logEvents.recordingStored, 'forbidden'),
      has(logEvents.voicemailStored, 'voicemail'),
      has(logEvents.callWithoutRecording, 'missed'),
      has(logEvents.recordingStored, 'withoutWebhook'),
    ].every(Boolean),
  );

  await play(prod, 'prod', 'cutShort', 'longVoicemail');
  await sweepUntil('half of the sound is refused', () =>
    [has(logEvents.recordingNotStored, 'cutShort'), has(logEvents.voicemailNotStored, 'longVoicemail')].every(
      Boolean,
    ),
  );

  refuse(/insert into "calls"/, 1);
  await prod.telephony.play(originOf('prod'), [], notificationsOf([calls.notWritten]).slice(0, 1));
  await logged(logEvents.callProcessingFailed, 'notWritten');

  // A penalty that our own pacing couldn't foresee, as RingCentral's protection policies give them.
  simulator.limiter.penalise(prodAccount, 'heavy', Date.now());
  await play(prod, 'prod', 'refused');
  await logged(logEvents.redriveAcknowledged, 'refused');
  // Its clone finds the gate closed.
  await logged(logEvents.ringcentralParked, 'refused');
  simulator.limiter.penalise(unwatchedAccount, 'heavy', Date.now());
  await stage.queues.send(queueArnOf(stage), lastTry(calls.exhausted));
  await logged(logEvents.redriveExhausted, 'exhausted');

  await until('transcripts are there', async () => {
    const [row] = await prod.database.query('select count(*)::int as count from transcripts');
    return Number(row?.count) >= 6;
  });
  await until('the call of test has its transcript', async () => {
    return (await test.database.query('select * from transcripts')).length === 1;
  });
  return { idOf };

  /** So that the sweep looks up its job. */
  async function startEarlier({ database }: Surroundings, name: CallName): Promise<void> {
    await database.query(
      `update call_recordings set transcription_started_at = now() - interval '3 hours' where telephony_session_id = $1`,
      [idOf(name)],
    );
  }

  /** Ticks until then, in the rhythm of a minute that is shortened too. */
  async function sweepUntil(what: string, condition: () => boolean): Promise<void> {
    let tickedAt = 0;
    const sweeps = [...stage.functions.values()].filter(({ plan }) => plan.name.startsWith('CallSweep'));
    await until(what, () => {
      if (Date.now() - tickedAt > 1_000 && sweeps.every(({ running }) => running === 0)) {
        tickedAt = Date.now();
        stage.schedules.tick(({ name }) => !name.startsWith('CallSweepSchedule'));
      }
      return condition();
    });
  }
}

const transcribeQueue = 'transcribe-queue-us-west-2';
const queueArnOf = ({ queues }: LocalStage) =>
  queues.plans.find(({ name }) => name === transcribeQueue)?.arn ?? '';

/** The message of a call's last event after five refusals. */
function lastTry({ accountId, telephonySessionId, events }: SimulatedCall): string {
  return JSON.stringify({
    version: 1,
    kind: 'telephony',
    accountId,
    telephonySessionId,
    event: events.at(-1),
    redriveCount: 5,
    sentAt: new Date().toISOString(),
  });
}

async function rememberLostJobs({ buckets }: LocalStage, { database }: Surroundings): Promise<void> {
  const bucket = buckets.plans.find(({ name }) => name.startsWith('prod-'))?.name ?? '';
  const sound = Buffer.concat(await audioStream({ format: 'mp3', seconds: 1 }).toArray());
  const keyOf = (folder: string, id: string) => `${folder}/${bothAccount}/2026/11/${id}.mp3`;
  const keys = [keyOf('recordings', lost.recording), keyOf('voicemails', lost.voicemail)] as const;
  const missing = keyOf('recordings', '5500398');
  for (const key of keys) await buckets.put(bucket, key, sound, 'audio/mpeg');
  await database.query(
    `insert into calls (account_id, telephony_session_id, started_at, status, last_event_at, recording_status, voicemail_status, call_log_status)
     values ($1, 's-lost', now() - interval '1 day', 'disconnected', now() - interval '1 day', 'stored', 'stored', 'found')`,
    [bothAccount],
  );
  const started = `now(), 'started', now() - interval '3 hours'`;
  const columns =
    'account_id, telephony_session_id, s3_key, transcription_job, stored_at, transcription_status, transcription_started_at';
  for (const [key, id] of [
    [keys[0], lost.recording],
    // Its sound is gone too.
    [missing, '5500398'],
  ]) {
    await database.query(
      `insert into call_recordings (${columns}, recording_id, content_uri) values ($1, 's-lost', $2, $3, ${started}, $4, '')`,
      [bothAccount, key, `prod-rec-${id}`, id],
    );
  }
  await database.query(
    `insert into voicemails (${columns}, message_id, message_uri) values ($1, 's-lost', $2, $3, ${started}, $4, '')`,
    [bothAccount, keys[1], `prod-vm-${lost.voicemail}`, lost.voicemail],
  );
}

/** As RingCentral would, but for the secret. */
async function postWith(
  origin: string,
  secret: string,
  notifications: readonly Notification[],
): Promise<void> {
  const [first] = notifications;
  await fetch(`${origin}/ringcentral/${first?.accountId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'verification-token': secret },
    body: JSON.stringify(first?.body),
  });
}
