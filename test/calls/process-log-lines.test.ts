import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answeredCall, voicemailCall } from '../../local/ringcentral/sample-calls.ts';
import { createLog } from '../../src/platform/logger.ts';
import { createCapacityMetrics } from '../../src/ringcentral/capacity-metrics.ts';
import { riverside } from '../simulation/call-accounts.ts';
import { withShortAudio } from '../simulation/call-samples.ts';
import { FakeClock } from '../support/fakes.ts';
import { type CallWorld, startCallWorld, stopCallWorlds, type WorldOptions } from './call-world.ts';

type Line = Record<string, unknown>;

const options = {
  accountId: riverside.accountId,
  startedAt: new Date('2026-03-04T15:00:10.000Z'),
  number: 7,
  recordingDelaySeconds: 0,
};
const call = () => withShortAudio(answeredCall(options));
const session = { account_id: '900412', telephony_session_id: 's-900412z00007' };
/** What Powertools and the stage put on every line. */
const onEveryLine = [
  'level',
  'message',
  'timestamp',
  'service',
  'deployment',
  'sampling_rate',
  'xray_trace_id',
];

const output: string[] = [];
let metrics: Line[];
beforeEach(() => {
  output.length = 0;
  metrics = [];
  vi.stubEnv('STAGE', 'test');
  vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'transcribe-processor');
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'DEBUG');
  const keep = (text: unknown) => output.push(...String(text).split('\n').filter(Boolean)) > 0;
  vi.spyOn(process.stdout, 'write').mockImplementation(keep);
  vi.spyOn(process.stderr, 'write').mockImplementation(keep);
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await stopCallWorlds();
});

async function run(arrange: (world: CallWorld) => void, more: WorldOptions = {}): Promise<CallWorld> {
  const write = (line: string) => void metrics.push(JSON.parse(line));
  const reportCapacity = createCapacityMetrics('callytics', new FakeClock(), write);
  const world = await startCallWorld({ log: createLog(), reportCapacity, ...more });
  arrange(world);
  await world.run(60);
  return world;
}

/** The lines of an event without what is on every line, as JSON has them. */
function lines(event: string, surface?: string): Line[] {
  return output
    .map((line): Line => JSON.parse(line))
    .filter(({ message, api_surface }) => message === event && (!surface || api_surface === surface))
    .map((line) => Object.fromEntries(Object.entries(line).filter(([name]) => !onEveryLine.includes(name))));
}

const limited =
  (surface: 'account_call_log' | 'recording_content', times = 1) =>
  (world: CallWorld) => {
    const headers = { 'retry-after': '45', 'x-rate-limit-group': 'heavy' };
    const fault = { kind: 'status', status: 429, errorCode: 'CMN-301', headers } as const;
    world.simulator.faults.add({ surface, fault, times });
    world.ring(call());
  };

describe('requests', () => {
  it('ringcentral.request_started', async () => {
    await run((world) => world.ring(call()));
    expect(lines('ringcentral.request_started')).toEqual([
      { api_surface: 'oauth_token', account_id: '900412' },
      { api_surface: 'account_call_log', ...session },
      { api_surface: 'recording_content', ...session },
    ]);
  });

  it('ringcentral.request_completed, answered', async () => {
    await run((world) => world.ring(call()));
    const heavy = { rate_limit_group: 'heavy', rate_limit_limit: 10, rate_limit_window: 60 };
    const answered = { ...session, http_status: 200, duration_ms: 0, ...heavy };
    expect(lines('ringcentral.request_completed').slice(1)).toEqual([
      { api_surface: 'account_call_log', ...answered, rate_limit_remaining: 9 },
      { api_surface: 'recording_content', ...answered, rate_limit_remaining: 8 },
    ]);
  });

  it('ringcentral.request_completed with headers missing: they stay unknown', async () => {
    await run((world) => world.ring(call()), { rateLimitHeaders: false });
    expect(lines('ringcentral.request_completed', 'account_call_log')).toEqual([
      { api_surface: 'account_call_log', ...session, http_status: 200, duration_ms: 0 },
    ]);
    expect(metrics).toEqual([]);
  });

  it.each([
    ['account_call_log', 500, 'throw'],
    ['account_call_log', 404, 'throw'],
    ['recording_content', 503, 'throw'],
    ['voicemail_message_detail', 500, 'return_undefined'],
    ['voicemail_message_detail', 429, 'throw'],
    ['voicemail_transcript_content', 404, 'return_undefined'],
  ] as const)('ringcentral.request_completed, %s %i: %s', async (surface, status, action) => {
    await run((world) => {
      world.simulator.faults.add({ surface, fault: { kind: 'status', status } });
      world.ring(surface.startsWith('voicemail') ? voicemailCall(options) : call());
    });
    expect(lines('ringcentral.request_completed', surface)[0]).toMatchObject({
      ...session,
      http_status: status,
      client_error_action: action,
    });
    const succeeded = lines('ringcentral.request_completed').filter(({ http_status }) => http_status === 200);
    expect(succeeded.length).toBeGreaterThan(0);
    expect(succeeded.some((line) => 'client_error_action' in line)).toBe(false);
  });

  it('ringcentral.rate_limited', async () => {
    await run(limited('account_call_log'));
    expect(lines('ringcentral.rate_limited')).toEqual([
      {
        api_surface: 'account_call_log',
        ...session,
        retry_after_seconds: 45,
        rate_limit_group: 'heavy',
        client_error_action: 'throw',
      },
    ]);
  });
});

describe('recordings', () => {
  it('ringcentral.recording_availability_observed, with a recording', async () => {
    await run((world) => world.ring(call()));
    expect(lines('ringcentral.recording_availability_observed')).toEqual([
      {
        ...session,
        api_has_recording: true,
        api_recording_id: '55000070',
        recordings: 1,
        coverage: 'account',
      },
    ]);
  });

  it('ringcentral.recording_availability_observed, without', async () => {
    await run((world) => {
      const late = call();
      for (const record of late.records) record.recordingVisibleAt = Number.POSITIVE_INFINITY;
      world.ring(late);
    });
    expect(lines('ringcentral.recording_availability_observed')).toEqual([
      { ...session, api_has_recording: false, recordings: 0, coverage: 'account' },
    ]);
  });

  it('ringcentral.recording_processing_started', async () => {
    await run((world) => world.ring(call()));
    expect(lines('ringcentral.recording_processing_started')).toEqual([
      { ...session, api_recording_id: '55000070', call_log_input: 'prefetched' },
    ]);
  });
});

describe('redrives and parking', () => {
  it('ringcentral.redrive_scheduled and redrive_acknowledged', async () => {
    await run(limited('recording_content'));
    expect(lines('ringcentral.redrive_scheduled')).toEqual([
      { ...session, redrive_count: 1, delay_seconds: 405, rate_limit_group: 'heavy' },
    ]);
    expect(lines('ringcentral.redrive_acknowledged')).toEqual([
      { ...session, previous_redrive_count: 0, retry_outcome: 'clone_sent', rate_limit_group: 'heavy' },
    ]);
  });

  it('ringcentral.redrive_exhausted', async () => {
    const world = await run(limited('account_call_log', 99));
    await world.run(60);
    expect(lines('ringcentral.redrive_exhausted')[0]).toEqual({
      ...session,
      redrive_count: 5,
      retry_outcome: 'batch_item_failure',
      rate_limit_group: 'heavy',
    });
  });

  it('ringcentral.parked', async () => {
    await run((world) => {
      world.ring(call());
      world.simulator.faults.add({
        surface: 'account_call_log',
        fault: { kind: 'status', status: 403, errorCode: 'CMN-408' },
      });
    });
    expect(lines('ringcentral.parked')).toEqual([
      { ...session, next_step: 'recording', wait_seconds: 8, rate_limit_group: 'heavy' },
    ]);
  });
});

it('capacity metrics have the dimensions Source, and AccountId and Source, and no other', async () => {
  await run(limited('recording_content'));
  expect(
    metrics.map(({ AccountId, Source, RateLimitLimit, RateLimitRemaining }) => [
      AccountId,
      Source,
      RateLimitLimit,
      RateLimitRemaining,
    ]),
  ).toEqual([
    ['900412', 'oauth_token', 5, 4],
    ['900412', 'account_call_log', 10, 9],
    // Nothing of the 429: what is left then can't be believed.
    ['900412', 'recording_content', 10, 9],
  ]);
  for (const metric of metrics) {
    expect(metric._aws).toMatchObject({
      CloudWatchMetrics: [{ Dimensions: [['Source'], ['AccountId', 'Source']] }],
    });
    expect(Object.keys(metric).toSorted()).toEqual([
      'AccountId',
      'RateLimitLimit',
      'RateLimitRemaining',
      'Source',
      '_aws',
    ]);
  }
  expect(JSON.stringify([metrics, output])).not.toMatch(/ClientId|client-a/);
});

it('no line tells a number, a name, a token or what was said', async () => {
  await run((world) => {
    world.ring(call());
    world.ring(voicemailCall({ ...options, number: 8, transcript: 'Please call Ana.' }));
  });
  const text = output.join('\n');
  expect(text).not.toMatch(
    /\+1\d{10}|555[- ]?\d{4}|OAKLAND|Agent \d|Bearer|at-[0-9a-f]{8}|secret|jwt|Ana|Hello there/,
  );
  expect(text).not.toMatch(/https?:/);
});
